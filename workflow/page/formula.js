// Formulas of columns, with the grammar of docs/view.md.

/** What is wrong with a formula, in words. */
export class FormulaError extends Error {}

const SUFFIXES = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const WORD =
  /\s*(?:([+\-*/^(),])|(\d[\d.]*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)([numkMGT]?)(?![\p{L}\p{N}])|([\p{L}_](?:[\p{L}\p{N}_.]|-(?=[\p{L}\p{N}_.]))*))/uy;
const FUNCTIONS = { min: [Math.min, Infinity], max: [Math.max, Infinity], log2: [Math.log2, 1], sqrt: [Math.sqrt, 1] };

/** Words of a text: `{sign}`, `{number}` or `{name}`, with the character `at` which each begins. */
function words(text) {
  const found = [];
  WORD.lastIndex = 0;
  while (text.slice(WORD.lastIndex).trim() !== "") {
    const at = WORD.lastIndex;
    const match = WORD.exec(text);
    if (!match) throw new FormulaError(`"${text.slice(at).trim()[0]}" means nothing here (character ${at + 1})`);
    const [, sign, digits, suffix, name] = match;
    if (digits !== undefined && Number.isNaN(Number(digits)))
      throw new FormulaError(`"${digits}" is no number (character ${at + 1})`);
    if (sign) found.push({ at, sign });
    else if (name) found.push({ at, name });
    else found.push({ at, number: Number(digits) * (SUFFIXES[suffix] ?? 1) });
  }
  return found;
}

/** A formula over named values. */
export class Formula {
  #words;
  #next = 0;
  #evaluate;

  /** Reads a text; all names must be among `known`. */
  constructor(text, known) {
    this.known = known;
    this.#words = words(text);
    this.#evaluate = this.#sum();
    const rest = this.#words[this.#next];
    if (rest) throw new FormulaError(`one of + - * / is missing (character ${rest.at + 1})`);
  }

  /** The value, where `values(name)` gives those of the names; null where there is none, as where it divides by 0. */
  of(values) {
    const value = this.#evaluate(values);
    return Number.isFinite(value) ? value : null;
  }

  #take(...signs) {
    const word = this.#words[this.#next];
    if (!word || !signs.includes(word.sign)) return null;
    this.#next++;
    return word.sign;
  }

  #sum() {
    let left = this.#product();
    for (let sign; (sign = this.#take("+", "-"));) {
      const [a, b] = [left, this.#product()];
      left = sign === "+" ? (v) => a(v) + b(v) : (v) => a(v) - b(v);
    }
    return left;
  }

  #product() {
    let left = this.#factor();
    for (let sign; (sign = this.#take("*", "/"));) {
      const [a, b] = [left, this.#factor()];
      left = sign === "*" ? (v) => a(v) * b(v) : (v) => a(v) / b(v);
    }
    return left;
  }

  #factor() {
    let negative = false;
    for (let sign; (sign = this.#take("+", "-"));) negative = negative !== (sign === "-");
    let base = this.#base();
    if (this.#take("^")) {
      const [a, b] = [base, this.#factor()];
      base = (v) => a(v) ** b(v);
    }
    return negative ? (v) => -base(v) : base;
  }

  #base() {
    const word = this.#words[this.#next++];
    const missing = "a metric, a number or ( is missing";
    if (!word) throw new FormulaError(`${missing} at the end`);
    if (word.number !== undefined) return () => word.number;
    if (word.sign === "(") {
      const inner = this.#sum();
      this.#close();
      return inner;
    }
    if (word.sign) throw new FormulaError(`${missing} (character ${word.at + 1})`);
    if (this.#take("(")) return this.#function(word);
    if (!this.known.includes(word.name))
      throw new FormulaError(`there is no "${word.name}"; there are ${this.known.join(", ")}`);
    return (v) => v(word.name);
  }

  #function({ name, at }) {
    const [apply, most] = FUNCTIONS[name] ?? [];
    if (!apply)
      throw new FormulaError(`there is no function ${name}; there are min, max, log2 and sqrt (character ${at + 1})`);
    const parts = [this.#sum()];
    while (parts.length < most && this.#take(",")) parts.push(this.#sum());
    this.#close();
    return (v) => apply(...parts.map((part) => part(v)));
  }

  #close() {
    if (!this.#take(")")) throw new FormulaError("a ) is missing");
  }
}
