// Views whose rows each gather several contexts. Rows are made when the row above is opened.
import { finish, inSteps } from "./ahead.js";
import { Groups } from "./groups.js";
import { FUNCTION, INLINED, LINE, LOOP } from "./tree.js";

/** Rows below a row that gathers so many contexts are made ahead. */
const LARGE = 2000;

/** Rows with the contexts that each gathers, in pre-order. */
export class GroupedView {
  root = 0;
  /** How many levels are made ahead. */
  levels = 1;
  /** Groups in the order of their rows, and by the row above them. */
  #levels = [];
  #below = new Map();
  #end = 1;

  constructor(tree, present) {
    this.tree = tree;
    this.present = present;
  }

  /** What is in the rows below a row: `contexts` with `keyOf` and `dense`, as [`Groups`] has them. */
  source(_row) {
    throw new Error("a view says what its rows gather");
  }

  /** What `describe` gives of a row with this key that gathers this context. */
  label(_row, _key, _context) {
    throw new Error("a view says what its rows are called");
  }

  /** Rows directly below, in the order of their numbers. */
  children(row) {
    return this.groups(row).rows;
  }

  /** The groups directly below a row. */
  groups(row) {
    finish(this.#opening(row));
    return this.#below.get(row);
  }

  /** Makes the rows below a row in steps. */
  *#opening(row) {
    let groups = this.#below.get(row);
    if (!groups) {
      groups = new Groups({ tree: this.tree, parent: row, ...this.source(row) });
      this.#below.set(row, groups);
    }
    if (groups.first !== null) return;
    yield* groups.steps;
    if (groups.first !== null) return;
    const first = this.#end;
    this.#end = groups.begin(first);
    if (this.#end > first) this.#levels.push(groups);
  }

  /** Makes the outer levels and the sums of `parts`, each a `series` and its `side`, in steps; gives the rows of which it made those below. */
  *preparing(parts) {
    const rows = [{ row: this.root, level: 1 }];
    for (const { row, level } of rows) {
      yield* this.#opening(row);
      const groups = this.#below.get(row);
      for (const { series, side } of parts) yield* groups.summing(series[side], side === "inclusive");
      if (level === this.levels) continue;
      for (const below of groups.rows) if (groups.of(below).length >= LARGE) rows.push({ row: below, level: level + 1 });
    }
    return rows.map(({ row }) => row);
  }

  /** The groups that a row is one of. */
  #groupsOf(row) {
    let [low, high] = [0, this.#levels.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#levels[middle].first <= row) low = middle;
      else high = middle - 1;
    }
    return this.#levels[low];
  }

  hasChildren(row) {
    return this.children(row).length > 0;
  }

  parent(row) {
    return row === 0 ? null : this.#groupsOf(row).parent;
  }

  describe(row) {
    if (row === 0) return this.tree.describe(this.tree.scopes[0]);
    return this.label(row, this.ownKey(row), this.head(row));
  }

  scope(row) {
    return this.tree.scopes[this.head(row)];
  }

  /** All contexts of a row. */
  gathered(row) {
    return row === 0 ? [0] : this.#groupsOf(row).of(row);
  }

  /** The first context of a row. */
  head(row) {
    return row === 0 ? 0 : this.#groupsOf(row).head(row);
  }

  /** Contexts of a row that are not below another of them: only these count towards its inclusive value. */
  contexts(row) {
    const found = [];
    let covered = 0;
    for (const context of this.gathered(row)) {
      if (context < covered) continue;
      covered = this.tree.ends[context];
      found.push(context);
    }
    return found;
  }

  inclusive(row, series) {
    return row === 0 ? series.inclusive[0] : this.#groupsOf(row).sum(row, series.inclusive, true);
  }

  own(row, series) {
    return row === 0 ? series.own[0] : this.#groupsOf(row).sum(row, series.own, false);
  }

  /** The values of all rows directly below, `side` is "inclusive" or "own". */
  below(row, series, side) {
    return this.groups(row).sums(series[side], side === "inclusive");
  }

  /** The key of a row below the row above it. */
  ownKey(row) {
    return this.#groupsOf(row).key(row);
  }

  key(row) {
    const keys = [];
    for (let at = row; at !== null && at !== 0; at = this.parent(at)) keys.push(this.ownKey(at));
    return keys.reverse().join(",");
  }

  find(key) {
    let row = 0;
    for (const step of key === "" ? [] : key.split(",")) {
      const below = this.groups(row).find(Number(step));
      if (below === undefined) return null;
      row = below;
    }
    return row;
  }
}

/** Numbers of functions: the same for scopes that differ in nothing but where they are called and whether they are inlined. */
export class Functions {
  /** For each scope one that stands for all of the same function, loop or line; known once all steps are done. */
  of;

  /** All modules, files and lines of calls are less. */
  most = { modules: 0, files: 0, callLines: 0 };

  /** They are made by `steps`, some of which may be done before they are needed. */
  constructor(tree) {
    this.count = tree.kinds.length;
    this.of = new Uint32Array(this.count);
    this.steps = this.#make(tree);
  }

  *#make({ kinds, names, modules, files, lines, callLines }) {
    const { count, most } = this;
    const kindOf = (scope) => (kinds[scope] === INLINED ? FUNCTION : kinds[scope]);
    // Of loops and lines the line tells them apart.
    const lineOf = (scope) => (kinds[scope] === LOOP || kinds[scope] === LINE ? lines[scope] : 0);
    const isSame = (a, b) =>
      names[a] === names[b] &&
      modules[a] === modules[b] &&
      files[a] === files[b] &&
      kindOf(a) === kindOf(b) &&
      lineOf(a) === lineOf(b);
    // A hash table with open addresses: the scopes that stand for their functions, plus one.
    const mask = 2 ** Math.ceil(Math.log2(2 * count + 1)) - 1;
    const known = new Uint32Array(mask + 1);
    const look = (scope) => {
      let hash = Math.imul(names[scope], 0x9e3779b1) ^ Math.imul(lineOf(scope) * 8 + kindOf(scope), 0x85ebca6b);
      hash ^= Math.imul(modules[scope], 0xc2b2ae35) ^ Math.imul(files[scope], 0x27d4eb2f);
      let at = (hash ^ (hash >>> 15)) & mask;
      while (known[at] !== 0 && !isSame(known[at] - 1, scope)) at = (at + 1) & mask;
      if (known[at] === 0) known[at] = scope + 1;
      this.of[scope] = known[at] - 1;
      most.modules = Math.max(most.modules, modules[scope] + 1);
      most.files = Math.max(most.files, files[scope] + 1);
      most.callLines = Math.max(most.callLines, callLines[scope] + 1);
    };
    yield* inSteps(count, (from, end) => {
      for (let scope = from; scope < end; scope++) look(scope);
    });
  }
}
