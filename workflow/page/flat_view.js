// The flat view: module, file, function, loop, line, whatever the caller.
import { GroupedView } from "./grouped_view.js";
import { LINE, LOOP, PSEUDO } from "./tree.js";

/** What a row stands for. */
const [WHOLE, OF_MODULE, OF_FILE, OF_FUNCTION] = [0, 1, 2, 3];

export class FlatView extends GroupedView {
  kind = "flat";
  #functions;
  #manyModules;
  #kinds = new Map([[0, WHOLE]]);

  constructor(tree, present, functions) {
    super(tree, present);
    this.#functions = functions;
    this.#manyModules = tree.modules.reduce((most, module) => Math.max(most, module), 0) + 1;
  }

  gather(row, add) {
    const { tree } = this;
    const kind = this.#kind(row);
    if (kind === WHOLE) this.#modules(add);
    else if (kind === OF_MODULE) {
      for (const context of this.gathered(row)) add(tree.files[tree.scopes[context]], context);
    } else if (kind === OF_FILE) {
      for (const context of this.gathered(row)) add(this.#functionOf(context), context);
    } else {
      for (const context of this.gathered(row)) {
        for (const below of tree.children(context)) {
          const of = tree.kind(below);
          if ((of === LOOP || of === LINE) && this.present[below]) add(this.#functionOf(below), below);
        }
      }
    }
  }

  /** Modules, and functions that are in none, whose keys come after those of all modules. */
  #modules(add) {
    const { tree } = this;
    for (let context = 1; context < tree.size; context++) {
      if (!this.present[context] || !tree.isFrame(context)) continue;
      if (tree.kind(context) === PSEUDO) add(this.#manyModules + this.#functionOf(context), context);
      else add(tree.modules[tree.scopes[context]], context);
    }
  }

  #functionOf(context) {
    return this.#functions.of(this.tree.scopes[context]);
  }

  dense(row) {
    return this.#kind(row) === OF_FILE ? this.#functions.count : 0;
  }

  label(row, key, context) {
    const kind = this.#kind(row);
    const first = this.parent(row) === 0 ? this.#manyModules : 0;
    const of = this.tree.describe(kind === OF_FUNCTION ? key - first : this.tree.scopes[context]);
    const known = { ...of, callLine: null };
    if (kind === OF_MODULE)
      return { ...known, kind: "module", name: of.module ?? "<unknown module>", file: null, line: null };
    if (kind === OF_FILE) return { ...known, kind: "file", name: of.file ?? "<unknown file>", line: null };
    return { ...known, kind: of.kind === "inlined" ? "function" : of.kind };
  }

  #kind(row) {
    if (!this.#kinds.has(row)) {
      const above = this.#kind(this.parent(row));
      const isInNone = above === WHOLE && this.ownKey(row) >= this.#manyModules;
      this.#kinds.set(row, isInNone ? OF_FUNCTION : Math.min(above + 1, OF_FUNCTION));
    }
    return this.#kinds.get(row);
  }

  search(matches) {
    const isFunction = (row) => this.#kind(row) === OF_FUNCTION;
    const within = (row) => (isFunction(row) ? [row] : this.children(row));
    return this.children(0)
      .flatMap(within)
      .flatMap(within)
      .filter((row) => matches(this.scope(row)));
  }
}
