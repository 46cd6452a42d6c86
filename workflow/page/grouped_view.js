// Views whose rows each gather several contexts. Rows are made when the row above is opened.

/** Rows with the contexts that each gathers, in pre-order. */
export class GroupedView {
  root = 0;
  #parents = [null];
  #keys = [""];
  #gathered = [[0]];
  #children = [null];
  #outermost = [[0]];
  #values = new Map();

  constructor(tree, present) {
    this.tree = tree;
    this.present = present;
  }

  /** What the rows below a row are: calls `add(key, context)` for every context of each. Keys tell rows below the same row apart. */
  gather(_row, _add) {
    throw new Error("a view says what its rows gather");
  }

  /** What `describe` gives of a row with this key that gathers this context. */
  label(_key, _context) {
    throw new Error("a view says what its rows are called");
  }

  /** Rows directly below. */
  children(row) {
    if (this.#children[row]) return this.#children[row];
    const rows = new Map();
    this.gather(row, (key, context) => {
      let below = rows.get(key);
      if (below === undefined) {
        below = this.#parents.push(row) - 1;
        rows.set(key, below);
        this.#keys.push(key);
        this.#gathered.push([]);
        this.#children.push(null);
        this.#outermost.push(null);
      }
      this.#gathered[below].push(context);
    });
    this.#children[row] = [...rows.values()];
    return this.#children[row];
  }

  hasChildren(row) {
    return this.children(row).length > 0;
  }

  parent(row) {
    return this.#parents[row];
  }

  describe(row) {
    return row === 0 ? this.tree.describe(this.tree.scopes[0]) : this.label(this.#keys[row], this.#gathered[row][0]);
  }

  scope(row) {
    return this.tree.scopes[this.gathered(row)[0]];
  }

  /** All contexts of a row. */
  gathered(row) {
    return this.#gathered[row];
  }

  /** Contexts of a row that are not below another of them: only these count towards its inclusive value. */
  contexts(row) {
    if (this.#outermost[row]) return this.#outermost[row];
    if (this.#gathered[row].length === 1) return this.#gathered[row];
    const sorted = Uint32Array.from(this.#gathered[row]).sort();
    const found = [];
    let covered = 0;
    for (const context of sorted) {
      if (context < covered) continue;
      covered = this.tree.ends[context];
      found.push(context);
    }
    this.#outermost[row] = found;
    return found;
  }

  inclusive(row, series) {
    return this.#sum(row, series.inclusive, () => this.contexts(row));
  }

  own(row, series) {
    return this.#sum(row, series.own, () => this.gathered(row));
  }

  /** The sum of some values of contexts, once. */
  #sum(row, values, contexts) {
    let known = this.#values.get(values);
    if (!known) this.#values.set(values, (known = []));
    if (known[row] === undefined) {
      let sum = 0;
      for (const context of contexts()) sum += values[context];
      known[row] = sum;
    }
    return known[row];
  }

  /** The key of a row below the row above it. */
  ownKey(row) {
    return this.#keys[row];
  }

  key(row) {
    const keys = [];
    for (let at = row; at !== null && at !== 0; at = this.#parents[at]) keys.push(this.#keys[at]);
    return keys.reverse().join(",");
  }

  find(key) {
    let row = 0;
    for (const step of key === "" ? [] : key.split(",")) {
      const below = this.children(row).find((child) => String(this.#keys[child]) === step);
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
    this.#of = new Uint32Array(tree.kinds.length);
    const known = new Map();
    const { kinds, names, modules, files, lines } = tree;
    const [manyFiles, manyModules] = [files, modules].map((all) => all.reduce((a, b) => Math.max(a, b), 0) + 1);
    for (let scope = 0; scope < kinds.length; scope++) {
      // 5 is inlined and 4 a function, 6 a loop and 7 a line: of these the line tells them apart.
      const kind = kinds[scope] === 5 ? 4 : kinds[scope];
      const place = kind > 5 ? lines[scope] + 1 : 0;
      const name = (names[scope] * manyModules + modules[scope]) * manyFiles + files[scope];
      const key = Number.isSafeInteger(name * 8 + kind) && place === 0 ? name * 8 + kind : `${name}:${kind}:${place}`;
      let number = known.get(key);
      if (number === undefined) known.set(key, (number = scope));
      this.#of[scope] = number;
    }
  }

  /** A scope that stands for all of the same function, loop or line. */
  of(scope) {
    return this.#of[scope];
  }
}
