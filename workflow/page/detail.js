// What is known of the chosen row.
import { decimal, place, quantity, visible } from "./number.js";
import { element, set } from "./element.js";

/** The pane beside the table. */
export class Detail {
  /** `go(row)` is called for a row of the way down to the chosen one; `parts` make further elements of a row, or null. */
  constructor(go, parts) {
    this.go = go;
    this.parts = parts;
    this.root = element("aside", { class: "detail", "aria-label": "the chosen row" });
  }

  /** Shows a row of a view once the browser has nothing else to do: the next row may be chosen before. */
  show(view, row, columns) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#show(view, row, columns), 30);
  }

  #show(view, row, columns) {
    const label = view.describe(row);
    const facts = [
      ["kind", label.kind],
      ["module", label.module],
      ["place", place(label.file, label.line)],
      ["file", label.file],
      ["called at", label.callLine === null ? null : `line ${label.callLine}`],
    ].filter(([, value]) => value);
    set(this.root, { "data-row": row });
    this.root.replaceChildren(
      element("h2", { class: "mono", text: visible(label.name) }),
      element(
        "dl",
        {},
        facts.flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: visible(value) })]),
      ),
      this.#values(view, row, columns),
      ...this.parts(view, row).filter((part) => part !== null),
      this.#way(view, row),
    );
  }

  #values(view, row, columns) {
    const lines = columns.map((column) => {
      const value = column.value(view, row);
      const percent = column.unit === "percent" ? null : column.percent(view, row);
      const width = column.width?.(view, row) ?? null;
      const number = value === null ? "–" : column.unit === "ratio" ? decimal(value, 2) : quantity(value, column.unit);
      return element("tr", {}, [
        element("td", { text: column.title, title: column.hint }),
        element("td", { text: width === null ? number : `${decimal(value)} ± ${decimal(width)} %` }),
        element("td", { text: percent === null ? "" : `${decimal(percent)} %` }),
      ]);
    });
    return element("table", { class: "numbers" }, [element("tbody", {}, lines)]);
  }

  #way(view, row) {
    const way = [];
    for (let at = row; at !== null; at = view.parent(at)) way.unshift(at);
    const steps = way.map((at) => {
      const name = visible(view.describe(at).name).slice(0, 400);
      return element("li", {}, [
        element("button", { type: "button", class: "link", text: name, on: { click: () => this.go(at) } }),
      ]);
    });
    const title = view.kind === "callers" ? "Called from, outwards" : "Way down to it";
    return element("section", {}, [element("h3", { text: title }), element("ol", { class: "way" }, steps)]);
  }
}
