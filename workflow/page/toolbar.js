// What stands above the table: search, filters, columns, and buttons for what keys do.
import { element } from "./element.js";
import { visible } from "./number.js";
import { sectionsOf } from "./spread.js";

/** The fields and buttons; `on` has a function for each action. */
export class Toolbar {
  constructor(model, on) {
    this.on = on;
    this.searching = element("input", {
      type: "search",
      placeholder: "search functions (/)",
      "aria-label": "search functions by regular expression",
      spellcheck: "false",
      on: {
        input: () => on.search(this.searching.value),
        keydown: (event) => {
          if (event.key === "Enter") on.found(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") on.leave();
        },
      },
    });
    this.words = element("span", { class: "words", role: "status" });
    this.threshold = element("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "0.1",
      value: "0",
      on: { change: () => on.threshold(Number(this.threshold.value)) },
    });
    const choice = (all, names, change) =>
      element("select", { on: { change } }, [
        element("option", { value: "", text: all }),
        ...names.map((name) => element("option", { value: name, text: visible(name).slice(0, 80) })),
      ]);
    this.module = choice("all modules", modules(model.tree), () => on.filter({ module: this.module.value }));
    this.ranks = element("input", {
      size: "8",
      placeholder: "0-3,8",
      on: { change: () => on.filter({ ranks: this.ranks.value }) },
    });
    const ranks = element("label", { title: "only the cost of these ranks or threads" }, ["ranks", this.ranks]);
    const sections = [...new Set(sectionsOf(model.data)?.labels ?? [])];
    this.section = choice("all", sections, () => on.filter({ section: this.section.value }));
    this.menu = element("div");
    this.wrong = element("span", { class: "worse", role: "status" });
    this.formula = element("input", {
      placeholder: model.kind === "sweep" ? "growth=at/base" : "ipc=instructions/cycles",
      "aria-label": "a further column: name=formula",
      spellcheck: "false",
      on: { keydown: ({ key }) => key === "Enter" && (this.wrong.textContent = on.derive(this.formula.value)) },
    });
    this.root = element("div", { class: "toolbar", role: "toolbar", "aria-label": "search, filters and columns" }, [
      this.searching,
      this.words,
      element("label", { title: "only the cost of the code of one module" }, ["module", this.module]),
      ...(model.kind === "profile" && model.spread ? [ranks] : []),
      ...(sections.length > 0
        ? [
            element("label", { title: "only the cost in a section that the program has marked" }, [
              "section",
              this.section,
            ]),
          ]
        : []),
      element("label", { title: "rows with a smaller share in every column shown are left out" }, [
        "at least %",
        this.threshold,
      ]),
      button("Hot path", "h: down to where most of the row's cost is", () => on.hotPath()),
      button("Zoom", "z: show the chosen row as the whole", () => on.zoom()),
      button("Whole", "Escape: show the whole again", () => on.unzoom()),
      button("Flatten", "f: pass over one level more; F one less", () => on.flatten()),
      element("details", { class: "columns-menu" }, [element("summary", { text: "Columns" }), this.menu]),
      button("CSV", "c: save the listed rows", () => on.csv()),
    ]);
  }

  /** Lists the columns that can be shown. */
  show(columns) {
    const box = (column) => {
      const field = element("input", { type: "checkbox", on: { change: () => this.on.column(column, field.checked) } });
      field.checked = column.shown;
      return element("label", { title: column.hint }, [field, column.title]);
    };
    this.formula.value = "";
    this.menu.replaceChildren(...columns.map(box), element("label", {}, ["new", this.formula]), this.wrong);
  }

  /** Shows what is filtered, without doing it. */
  showFilter({ module, ranks, section }, threshold) {
    [this.module.value, this.ranks.value, this.section.value] = [module ?? "", ranks ?? "", section ?? ""];
    this.threshold.value = String(threshold);
  }

  /** Says what a search found. */
  say(words) {
    this.words.textContent = words;
  }
}

/** A button with a word and what it does. */
export function button(text, title, click) {
  return element("button", { type: "button", text, title, on: { click } });
}

/** Names of the modules that code is in. */
function modules(tree) {
  return [...new Set(tree.modules)]
    .filter((number) => number > 0)
    .map(tree.text)
    .sort();
}
