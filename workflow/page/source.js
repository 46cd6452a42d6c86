// Source text with the cost of its lines.
import { element } from "./element.js";
import { decimal, visible } from "./number.js";
import { FUNCTION, INLINED, LINE } from "./tree.js";

/** Lines that are shown before and after the one looked at. */
const AROUND = 400;
const LANGUAGES = /\.(c|cc|cpp|cxx|cu|h|hh|hpp|hxx|rs|f|f90|f95|f03|f08|for|py|go|java|js|jl|d|ml|swift|zig)$/i;

/**
 * Cost of the lines of a source file (by its number in the tree's texts), `{own, calls}` by line: of a line's own code, and of
 * all that is called from it, recursion counted once.
 */
export function lineCosts(tree, file, series) {
  const lines = new Map();
  const of = (line) => {
    let found = lines.get(line);
    if (!found) lines.set(line, (found = { own: 0, calls: 0, covered: 0 }));
    return found;
  };
  for (let context = 1; context < tree.size; context++) {
    const scope = tree.scopes[context];
    const kind = tree.kinds[scope];
    if (kind === LINE && tree.files[scope] === file && tree.lines[scope] > 0) {
      of(tree.lines[scope] - 1).own += series.exclusive[context];
    } else if ((kind === FUNCTION || kind === INLINED) && tree.callLines[scope] > 0) {
      if (tree.files[tree.scopes[tree.caller(context)]] !== file) continue;
      const line = of(tree.callLines[scope] - 1);
      if (context < line.covered) continue;
      line.covered = tree.ends[context];
      line.calls += series.inclusive[context];
    }
  }
  return lines;
}

/** Parts of a line of code, `[class, text]`: comments, texts, numbers and words that languages keep for themselves. */
export function coloured(line, file) {
  if (!LANGUAGES.test(file)) return [["", line]];
  const fortran = /\.f(90|95|03|08|or)?$/i.test(file);
  const comment = fortran ? "!.*" : /\.(py|jl)$/i.test(file) ? "#.*" : "//.*|/\\*.*?(?:\\*/|$)";
  const words =
    "if|else|elif|for|while|do|switch|case|break|continue|return|struct|enum|union|class|static|const|void|int|long|double|float|char|unsigned|auto|template|typename|namespace|using|fn|let|mut|pub|impl|match|loop|use|mod|unsafe|def|import|from|in|subroutine|function|program|module|end|call|integer|real|then|enddo|endif";
  const parts = new RegExp(
    `(${comment})|("(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')|\\b(${words})\\b|\\b(\\d[\\w.]*)`,
    fortran ? "gi" : "g",
  );
  const found = [];
  let at = 0;
  for (const match of line.matchAll(parts)) {
    if (match.index > at) found.push(["", line.slice(at, match.index)]);
    const kind =
      match[1] !== undefined
        ? "comment"
        : match[2] !== undefined
          ? "string"
          : match[3] !== undefined
            ? "keyword"
            : "digit";
    found.push([kind, match[0]]);
    at = match.index + match[0].length;
  }
  if (at < line.length) found.push(["", line.slice(at)]);
  return found;
}

/** The source of the chosen row: where it is defined or, if there is one, where it is called from. */
export class Source {
  #texts;
  #costs = new Map();
  #side = "definition";

  constructor(data) {
    this.data = data;
    this.#texts = new Map(data.head.sources.map(({ file, block }) => [file, block]));
  }

  /** The part of the pane for a row; `shown` is `{series, whole, title}`, what lines cost. */
  of(model, view, row) {
    const label = view.describe(row);
    const sites = { definition: label.file && label.line !== null ? [label.file, label.line] : null };
    const parent = view.parent(row);
    const caller = view.kind === "context" && parent !== null ? view.describe(this.#frame(view, parent)) : null;
    sites["call site"] = caller?.file && label.callLine !== null ? [caller.file, label.callLine] : null;
    const names = Object.keys(sites).filter((name) => sites[name]);
    if (names.length === 0) return null;
    const room = element("div");
    const buttons = names.map((name) =>
      element("button", {
        type: "button",
        text: name === "definition" && label.kind === "line" ? "line" : name,
        on: { click: () => show(name) },
      }),
    );
    const show = (name) => {
      this.#side = name;
      buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(names[i] === name)));
      room.replaceChildren(this.#text(model, ...sites[name]));
      const [lines, here] = [room.querySelector(".lines"), room.querySelector(".here")];
      if (here) lines.scrollTop = here.offsetTop - lines.clientHeight / 2;
    };
    queueMicrotask(() => show(names.includes(this.#side) ? this.#side : names[0]));
    return element("section", { class: "source" }, [
      element("h3", { text: "Source" }),
      element("div", { class: "modes" }, buttons),
      room,
    ]);
  }

  #frame(view, row) {
    let at = row;
    while (view.parent(at) !== null && view.describe(at).kind === "loop") at = view.parent(at);
    return at;
  }

  #text(model, file, line) {
    const block = this.#texts.get(file);
    if (block === undefined) {
      const why =
        this.#texts.size > 0
          ? "Its text could not be read when the page was written."
          : "The page was written without source texts; --embed-sources puts them in.";
      return element("p", { class: "dim", text: `${visible(file)}:${line}. ${why}` });
    }
    const lines = this.data.text(block).split(/\r?\n/);
    const costs = this.#costsOf(model, file);
    const { whole, title, signed } = model.lines;
    const percent = (value) =>
      value === 0 ? "" : `${signed && value > 0 ? "+" : ""}${decimal((100 * value) / whole)}`;
    const from = Math.max(0, line - 1 - AROUND);
    const rows = lines.slice(from, line + AROUND).map((text, index) => {
      const number = from + index + 1;
      const cost = costs.get(number) ?? { own: 0, calls: 0 };
      const code = coloured(text.slice(0, 1000), file).map(([kind, part]) =>
        kind ? element("span", { class: kind, text: visible(part) }) : visible(part.replaceAll("\t", "    ")),
      );
      return element("tr", { class: number === line ? "here" : null }, [
        element("td", { class: "dim", text: String(number) }),
        element("td", { text: percent(cost.own) }),
        element("td", { text: percent(cost.calls) }),
        element("td", { class: "code" }, code),
      ]);
    });
    const heads = ["line", `${title} own`, "calls", visible(file)].map((text) => element("th", { scope: "col", text }));
    return element("div", { class: "lines", tabindex: "0" }, [
      element("table", { class: "mono" }, [
        element("thead", {}, [element("tr", {}, heads)]),
        element("tbody", {}, rows),
      ]),
    ]);
  }

  #costsOf(model, file) {
    const { series } = model.lines;
    if (!this.#costs.has(series)) this.#costs.set(series, new Map());
    const known = this.#costs.get(series);
    if (!known.has(file)) {
      const number = model.tree.number(file);
      known.set(file, lineCosts(model.tree, number, series));
    }
    return known.get(file);
  }
}
