// Rows that a regular expression finds.
import { Order } from "./order.js";

/** The rows of a view whose function's name matches, those with the largest value of a column first. */
export class Search {
  #rows = [];
  #order = null;

  /** `error` says what is wrong with a pattern, else it is null. */
  constructor(view, tree, pattern, column) {
    this.pattern = pattern;
    this.at = -1;
    this.error = null;
    if (pattern === "") return;
    let expression;
    try {
      expression = new RegExp(pattern, "iu");
    } catch (error) {
      this.error = error.message.replace(/^Invalid regular expression: /, "");
      return;
    }
    const known = new Map();
    const matches = (scope) => {
      const name = tree.names[scope];
      let found = known.get(name);
      if (found === undefined) known.set(name, (found = expression.test(tree.text(name) ?? "")));
      return found;
    };
    this.#rows = view.search(matches);
    this.#order = new Order(this.#rows.map((row) => Math.abs(column.value(view, row) ?? 0)));
  }

  /** How many rows were found. */
  get length() {
    return this.#rows.length;
  }

  /** The next row, or with -1 the one before; null if there is none. */
  step(by) {
    const { length } = this;
    if (length === 0) return null;
    this.at = this.at < 0 && by < 0 ? length - 1 : (this.at + by + length) % length;
    return this.#rows[this.#order.at(this.at)];
  }

  /** What was found, in words. */
  get words() {
    if (this.error !== null) return `not a regular expression: ${this.error}`;
    if (this.pattern === "") return "";
    if (this.length === 0) return "nothing matches";
    return this.at < 0 ? `${this.length} match` : `${this.at + 1} of ${this.length}`;
  }
}
