// The callers view: every function, and below it those who called it.
import { finish } from "./ahead.js";
import { GroupedView } from "./grouped_view.js";

/** Callers shown above a function; what is above them is in the values. */
const LEVELS = 64;

export class CallersView extends GroupedView {
  kind = "callers";
  /** For each row below the first level, the frames whose callers are the next level, in step with the gathered contexts. */
  #frames = new Map();
  #depths = new Map([[0, 0]]);

  constructor(tree, present, functions) {
    super(tree, present);
    finish(functions.steps);
    this.functions = functions;
  }

  source(row) {
    const { tree, present } = this;
    const { of } = this.functions;
    const functionOf = (context) => of[tree.scopes[context]];
    if (row === 0) {
      const keyOf = (context) => (present[context] && tree.isFrame(context) ? functionOf(context) : -1);
      return { contexts: null, keyOf, dense: this.functions.count };
    }
    const contexts = this.#depth(row) > LEVELS ? [] : this.gathered(row);
    const frames = this.#framesOf(row);
    const keyOf = (_context, place) => {
      const callee = frames[place];
      const caller = tree.caller(callee);
      return caller === 0 ? -1 : functionOf(caller) * this.functions.most.callLines + tree.callLines[tree.scopes[callee]];
    };
    return { contexts, keyOf, dense: 0 };
  }

  label(row, key) {
    const isCaller = this.parent(row) !== 0;
    const line = isCaller ? key % this.functions.most.callLines : 0;
    const label = this.tree.describe(isCaller ? Math.floor(key / this.functions.most.callLines) : key);
    return { ...label, kind: label.kind === "inlined" ? "function" : label.kind, callLine: line > 0 ? line - 1 : null };
  }

  #depth(row) {
    if (!this.#depths.has(row)) this.#depths.set(row, this.#depth(this.parent(row)) + 1);
    return this.#depths.get(row);
  }

  /** The frame of each context of the row that the row stands for. */
  #framesOf(row) {
    let up = this.#frames.get(row);
    if (!up) {
      const levels = this.#depth(row) - 1;
      up = this.gathered(row).map((context) => {
        let frame = context;
        for (let level = 0; level < levels; level++) frame = this.tree.caller(frame);
        return frame;
      });
      this.#frames.set(row, up);
    }
    return up;
  }

  search(matches) {
    return [...this.children(this.root)].filter((row) => matches(this.scope(row)));
  }
}
