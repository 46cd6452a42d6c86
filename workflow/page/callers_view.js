// The callers view: every function, and below it those who called it.
import { GroupedView } from "./grouped_view.js";

/** Callers shown above a function; what is above them is in the values. */
const LEVELS = 64;

export class CallersView extends GroupedView {
  kind = "callers";
  #functions;
  /** For each row below the first level, the frames whose callers are the next level, in step with the gathered contexts. */
  #frames = new Map();
  #depths = [0];

  constructor(tree, present, functions) {
    super(tree, present);
    this.#functions = functions;
  }

  gather(row, add) {
    const { tree, present } = this;
    if (row === 0) {
      for (let context = 1; context < tree.size; context++) {
        if (present[context] && tree.isFrame(context)) {
          add(this.#functions.of(tree.scopes[context]), context);
        }
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
      const same = this.#functions.of(tree.scopes[caller]);
      add(`${same}.${line}`, context);
    });
  }

  label(key) {
    const [scope, line] = String(key).split(".").map(Number);
    const label = this.tree.describe(scope);
    return { ...label, kind: label.kind === "inlined" ? "function" : label.kind, callLine: line > 0 ? line - 1 : null };
  }

  #depth(row) {
    return (this.#depths[row] ??= this.#depth(this.parent(row)) + 1);
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
