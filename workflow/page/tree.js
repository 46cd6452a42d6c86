// The tree of calling contexts: numbers of contexts are in pre-order, 0 is the whole run.
import { DamagedData } from "./unpack.js";

/** Kinds of scopes, in the order of their numbers. */
export const KINDS = ["root", "pseudo", "module", "file", "function", "inlined", "loop", "line"];
export const [ROOT, PSEUDO, MODULE, FILE, FUNCTION, INLINED, LOOP, LINE] = KINDS.keys();

/** Contexts with their scopes: what each stands for in the program. */
export class Tree {
  constructor(data) {
    this.kinds = data.numbers("scope.kind", Uint8Array);
    this.names = data.numbers("scope.name", Uint32Array);
    this.modules = data.numbers("scope.module", Uint32Array);
    this.files = data.numbers("scope.file", Uint32Array);
    this.lines = data.numbers("scope.line", Uint32Array);
    this.callLines = data.numbers("scope.call_line", Uint32Array);
    this.text = data.texts("names");
    this.scopes = data.numbers("scope", Uint32Array);
    this.size = this.scopes.length;
    this.#place(data.numbers("depth", Uint32Array));
  }

  /** Parents and ends of subtrees, from how many levels each context is less deep than just below the one before. */
  #place(steps) {
    if (steps.length !== this.size - 1) throw new DamagedData("the tree has not as many places as contexts");
    this.parents = new Uint32Array(this.size);
    this.ends = new Uint32Array(this.size).fill(this.size);
    const { parents, ends } = this;
    for (let context = 1; context < this.size; context++) {
      let above = context - 1;
      for (let up = steps[context - 1]; up > 0; up--) {
        ends[above] = context;
        above = parents[above];
      }
      parents[context] = above;
    }
  }

  /** Contexts directly below. */
  children(context) {
    const found = [];
    for (let child = context + 1; child < this.ends[context]; child = this.ends[child]) found.push(child);
    return found;
  }

  /** Kind of a context. */
  kind(context) {
    return this.kinds[this.scopes[context]];
  }

  /** Whether a call path goes through it: functions, inlined functions and pseudo frames. */
  isFrame(context) {
    const kind = this.kind(context);
    return kind === FUNCTION || kind === INLINED || kind === PSEUDO;
  }

  /** The nearest context above that is no loop. */
  caller(context) {
    let above = this.parents[context];
    while (above !== 0 && this.kind(above) === LOOP) above = this.parents[above];
    return above;
  }

  /** Sums over the subtrees. */
  inclusive(exclusive) {
    const sums = Float64Array.from(exclusive);
    for (let context = this.size - 1; context > 0; context--) sums[this.parents[context]] += sums[context];
    return sums;
  }

  /** Exclusive values with those of statements charged to their functions and loops too. */
  charged(exclusive) {
    const own = Float64Array.from(exclusive);
    for (let context = 1; context < this.size; context++) {
      const value = exclusive[context];
      if (value === 0) continue;
      const kind = this.kind(context);
      const parent = this.parents[context];
      if (kind === LINE) own[parent] += value;
      if (kind === LOOP || (kind === LINE && this.kind(parent) === LOOP)) own[this.caller(context)] += value;
    }
    return own;
  }

  /** Number of a text that files are called by. */
  number(text) {
    return this.files.find((file) => this.text(file) === text) ?? 0;
  }

  /** What a scope is called and where it is; lines are null where they are not known. */
  describe(scope) {
    const line = (number) => (number > 0 ? number - 1 : null);
    return {
      kind: KINDS[this.kinds[scope]],
      name: this.text(this.names[scope]) ?? "",
      module: this.text(this.modules[scope]),
      file: this.text(this.files[scope]),
      line: line(this.lines[scope]),
      callLine: line(this.callLines[scope]),
    };
  }
}
