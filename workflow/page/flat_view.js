// The flat view: module, file, function, loop, line, whatever the caller.
import { GroupedView } from "./grouped_view.js";
import { LINE, LOOP, PSEUDO } from "./tree.js";

/** What a row stands for. */
const [WHOLE, OF_MODULE, OF_FILE, OF_FUNCTION] = [0, 1, 2, 3];

export class FlatView extends GroupedView {
  kind = "flat";
  #functions;
  #levels = [WHOLE];

  constructor(tree, present, functions) {
    super(tree, present);
    this.#functions = functions;
  }

  gather(row, add) {
    const { tree } = this;
    const level = this.#level(row);
    if (level === WHOLE) return this.#modules(add);
    if (level === OF_MODULE) {
      for (const context of this.gathered(row)) {
        add(`f${tree.files[tree.scopes[context]]}`, context);
      }
      return undefined;
    }
    if (level === OF_FILE) {
      for (const context of this.gathered(row)) this.#scope(context, add);
      return undefined;
    }
    for (const context of this.gathered(row)) {
      for (const below of tree.children(context)) {
        const kind = tree.kind(below);
        if ((kind === LOOP || kind === LINE) && this.present[below]) this.#scope(below, add);
      }
    }
    return undefined;
  }

  #modules(add) {
    const { tree } = this;
    for (let context = 1; context < tree.size; context++) {
      if (!this.present[context] || !tree.isFrame(context)) continue;
      if (tree.kind(context) === PSEUDO) {
        this.#scope(context, add);
        continue;
      }
      add(`m${tree.modules[tree.scopes[context]]}`, context);
    }
  }

  #scope(context, add) {
    add(`s${this.#functions.of(this.tree.scopes[context])}`, context);
  }

  label(key, context) {
    const of = this.tree.describe(key[0] === "s" ? Number(key.slice(1)) : this.tree.scopes[context]);
    const known = { ...of, callLine: null };
    if (key[0] === "m")
      return { ...known, kind: "module", name: of.module ?? "<unknown module>", file: null, line: null };
    if (key[0] === "f") return { ...known, kind: "file", name: of.file ?? "<unknown file>", line: null };
    return { ...known, kind: of.kind === "inlined" ? "function" : of.kind };
  }

  #level(row) {
    if (this.#levels[row] === undefined) {
      const own = this.ownKey(row)[0];
      this.#levels[row] = own === "m" ? OF_MODULE : own === "f" ? OF_FILE : OF_FUNCTION;
    }
    return this.#levels[row];
  }

  search(matches) {
    const isFunction = (row) => this.#level(row) === OF_FUNCTION;
    const within = (row) => (isFunction(row) ? [row] : this.children(row));
    return this.children(0)
      .flatMap(within)
      .flatMap(within)
      .filter((row) => matches(this.scope(row)));
  }
}
