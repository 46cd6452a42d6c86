// The callers view: every function, and below it those who called it.
import { GroupedView } from "./grouped_view.js";

/** Callers shown above a function; what is above them is in the values. */
const LEVELS = 64;

export class CallersView extends GroupedView {
  kind = "callers";
  #functions;
  #manyLines;
  /** For each row below the first level, the frames whose callers are the next level, in step with the gathered contexts. */
  #frames = new Map();
  #depths = new Map([[0, 0]]);

  constructor(tree, present, functions) {
    super(tree, present);
    this.#functions = functions;
    this.#manyLines = tree.callLines.reduce((most, line) => Math.max(most, line), 0) + 1;
  }

  gather(row, add) {
    const { tree, present } = this;
    if (row === 0) {
      for (let context = 1; context < tree.size; context++) {
        if (present[context] && tree.isFrame(context)) add(this.#functions.of(tree.scopes[context]), context);
      }
      return;
    }
    if (this.#depth(row) > LEVELS) return;
    const frames = this.#framesOf(row);
    this.gathered(row).forEach((context, index) => {
      const callee = frames[index];
      const caller = tree.caller(callee);
      if (caller === 0) return;
      const line = tree.callLines[tree.scopes[callee]];
      add(this.#functions.of(tree.scopes[caller]) * this.#manyLines + line, context);
    });
  }

  dense(row) {
    return row === 0 ? this.#functions.count : 0;
  }

  label(row, key) {
    const isCaller = this.parent(row) !== 0;
    const line = isCaller ? key % this.#manyLines : 0;
    const label = this.tree.describe(isCaller ? Math.floor(key / this.#manyLines) : key);
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
    return this.children(0).filter((row) => matches(this.scope(row)));
  }
}
