// Views whose rows each gather several contexts. Rows are made when the row above is opened.
import { Groups } from "./groups.js";
import { FUNCTION, INLINED, LINE, LOOP } from "./tree.js";

/** Rows with the contexts that each gathers, in pre-order. */
export class GroupedView {
  root = 0;
  /** Groups in the order of their rows, and by the row above them. */
  #levels = [];
  #below = new Map();
  #end = 1;

  constructor(tree, present) {
    this.tree = tree;
    this.present = present;
  }

  /** What the rows below a row are: calls `add(key, context)` for every context of each. Keys, natural numbers, tell rows below the same
   * row apart. */
  gather(_row, _add) {
    throw new Error("a view says what its rows gather");
  }

  /** All keys below a row are less, if there may be many of them and they are close together; else 0. */
  dense(_row) {
    return 0;
  }

  /** What `describe` gives of a row with this key that gathers this context. */
  label(_row, _key, _context) {
    throw new Error("a view says what its rows are called");
  }

  /** Rows directly below. */
  children(row) {
    return this.#groupsBelow(row).rows;
  }

  #groupsBelow(row) {
    let groups = this.#below.get(row);
    if (!groups) {
      groups = new Groups({ tree: this.tree, parent: row, first: this.#end, dense: this.dense(row) });
      this.gather(row, (key, context) => groups.add(key, context));
      this.#end = groups.close().end;
      this.#below.set(row, groups);
      if (groups.end > groups.first) this.#levels.push(groups);
    }
    return groups;
  }

  /** The groups that a row is one of. */
  #groups(row) {
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
    return row === 0 ? null : this.#groups(row).parent;
  }

  describe(row) {
    if (row === 0) return this.tree.describe(this.tree.scopes[0]);
    return this.label(row, this.ownKey(row), this.gathered(row)[0]);
  }

  scope(row) {
    return this.tree.scopes[this.gathered(row)[0]];
  }

  /** All contexts of a row. */
  gathered(row) {
    return row === 0 ? [0] : this.#groups(row).of(row);
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
    return row === 0 ? series.inclusive[0] : this.#groups(row).sum(row, series.inclusive, true);
  }

  own(row, series) {
    return row === 0 ? series.own[0] : this.#groups(row).sum(row, series.own, false);
  }

  /** The key of a row below the row above it. */
  ownKey(row) {
    return this.#groups(row).key(row);
  }

  key(row) {
    const keys = [];
    for (let at = row; at !== null && at !== 0; at = this.parent(at)) keys.push(this.ownKey(at));
    return keys.reverse().join(",");
  }

  find(key) {
    let row = 0;
    for (const step of key === "" ? [] : key.split(",")) {
      const below = this.#groupsBelow(row).find(Number(step));
      if (below === undefined) return null;
      row = below;
    }
    return row;
  }
}

/** Numbers of functions: the same for scopes that differ in nothing but where they are called and whether they are inlined. */
export class Functions {
  #of;

  constructor(tree) {
    const { kinds, names, modules, files, lines } = tree;
    const count = kinds.length;
    this.count = count;
    this.#of = new Uint32Array(count);
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
    for (let scope = 0; scope < count; scope++) {
      let hash = Math.imul(names[scope], 0x9e3779b1) ^ Math.imul(lineOf(scope) * 8 + kindOf(scope), 0x85ebca6b);
      hash ^= Math.imul(modules[scope], 0xc2b2ae35) ^ Math.imul(files[scope], 0x27d4eb2f);
      let at = (hash ^ (hash >>> 15)) & mask;
      while (known[at] !== 0 && !isSame(known[at] - 1, scope)) at = (at + 1) & mask;
      if (known[at] === 0) known[at] = scope + 1;
      this.#of[scope] = known[at] - 1;
    }
  }

  /** A scope that stands for all of the same function, loop or line; less than `count`. */
  of(scope) {
    return this.#of[scope];
  }
}
