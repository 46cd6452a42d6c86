// The flat view: module, file, function, loop, line, whatever the caller.
import { GroupedView } from "./grouped_view.js";
import { LINE, LOOP, PSEUDO } from "./tree.js";

/** What a row stands for. */
const [WHOLE, OF_MODULE, OF_FILE, OF_FUNCTION] = [0, 1, 2, 3];

export class FlatView extends GroupedView {
  kind = "flat";
  levels = 3;
  #callers;
  #functions;
  #kinds = new Map([[0, WHOLE]]);

  /** `callers` has the same functions in its first rows. */
  constructor(tree, present, callers) {
    super(tree, present);
    [this.#callers, this.#functions] = [callers, callers.functions];
  }

  source(row) {
    const { scopes, files } = this.tree;
    const { of, count, most } = this.#functions;
    const functionOf = (context) => of[scopes[context]];
    const kind = this.#kind(row);
    if (kind === WHOLE) return { contexts: null, keyOf: this.#moduleOf(functionOf), dense: most.modules + count };
    if (kind === OF_FUNCTION) return { contexts: this.#parts(row), keyOf: functionOf, dense: count };
    const contexts = this.gathered(row);
    if (kind === OF_MODULE) return { contexts, keyOf: (context) => files[scopes[context]], dense: most.files };
    // Of a file that has many of the functions they need not be put together again.
    if (contexts.length < this.tree.size / 8) return { contexts, keyOf: functionOf, dense: count };
    return { whole: this.#callers.groups(this.#callers.root), isIn: this.#isBeside(this.head(row)) };
  }

  /** Whether a function is in the same module and file as another, given a context of each. */
  #isBeside(other) {
    const { tree } = this;
    const { scopes, modules, files } = tree;
    const [module, file] = [modules[scopes[other]], files[scopes[other]]];
    return (context) => {
      const scope = scopes[context];
      return modules[scope] === module && files[scope] === file && tree.kinds[scope] !== PSEUDO;
    };
  }

  /** Modules have files, and files functions. */
  hasChildren(row) {
    return this.#kind(row) < OF_FUNCTION || super.hasChildren(row);
  }

  /** Loops and lines directly below the contexts of a function or loop. */
  #parts(row) {
    const { tree } = this;
    const found = [];
    for (const context of this.gathered(row)) {
      for (let below = context + 1; below < tree.ends[context]; below = tree.ends[below]) {
        const of = tree.kind(below);
        if ((of === LOOP || of === LINE) && this.present[below]) found.push(below);
      }
    }
    return found;
  }

  /** Modules, and functions that are in none, whose keys come after those of all modules. */
  #moduleOf(functionOf) {
    const { tree, present } = this;
    return (context) => {
      if (!present[context] || !tree.isFrame(context)) return -1;
      if (tree.kind(context) === PSEUDO) return this.#functions.most.modules + functionOf(context);
      return tree.modules[tree.scopes[context]];
    };
  }

  label(row, key, context) {
    const kind = this.#kind(row);
    const first = this.parent(row) === 0 ? this.#functions.most.modules : 0;
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
      const isInNone = above === WHOLE && this.ownKey(row) >= this.#functions.most.modules;
      this.#kinds.set(row, isInNone ? OF_FUNCTION : Math.min(above + 1, OF_FUNCTION));
    }
    return this.#kinds.get(row);
  }

  search(matches) {
    const found = [];
    const look = (row) => {
      const isFile = this.#kind(row) === OF_FILE;
      for (const below of this.children(row)) {
        if (!isFile && this.#kind(below) !== OF_FUNCTION) look(below);
        else if (matches(this.scope(below))) found.push(below);
      }
    };
    look(this.root);
    return found;
  }
}
