// Which rows of a view are listed, and in which order.
import { ordered, reordered } from "./order.js";

/** The listed rows of a view, with what is open, the order, and the top. */
export class Listing {
  /** Open rows. */
  open = new Set();
  /** The row that is listed as the top. */
  top;
  /** Rows with a smaller share than this are left out, percent of the first column. */
  threshold = 0;
  /** How many levels below the top are passed over. */
  flattened = 0;
  descending = true;
  #sorted = new Map();

  constructor(view, columns, order = columns[0], threshold = 0) {
    this.view = view;
    this.columns = columns;
    this.order = order;
    this.threshold = threshold;
    this.top = view.root;
    this.natural = this.orderKey;
    this.open.add(view.root);
    this.rebuild();
  }

  /** The order as it is written in a link: a column or `name`, with a minus in front if the smallest is first. */
  get orderKey() {
    return `${this.descending ? "" : "-"}${this.order?.id ?? "name"}`;
  }

  set orderKey(key) {
    const id = key.replace(/^-/, "");
    const column = this.columns.find((one) => one.id === id) ?? null;
    if (column === null && id !== "name") return;
    [this.order, this.descending] = [column, !key.startsWith("-")];
    this.refresh();
  }

  /** Works out the listed rows anew: each with its depth, and with how many rows above it have several below them. */
  rebuild() {
    Object.assign(this, this.#walked({ of: this.#start(), depth: 0, fork: 0 }));
  }

  /** Rows of one depth with all that is open below them. */
  #walked(start) {
    const [rows, depths, forks] = [[], [], []];
    const stack = [{ ...start, at: 0 }];
    while (stack.length > 0) {
      const level = stack.at(-1);
      if (level.at === level.of.length) {
        stack.pop();
        continue;
      }
      const row = level.of[level.at++];
      rows.push(row);
      depths.push(level.depth);
      forks.push(level.fork);
      if (this.open.has(row)) stack.push({ ...this.#below(row, level.depth, level.fork), at: 0 });
    }
    return { rows, depths, forks };
  }

  #below(row, depth, fork) {
    const of = this.children(row);
    return { of, depth: depth + 1, fork: fork + (of.length > 1 ? 1 : 0) };
  }

  #start() {
    let start = [this.top];
    for (let level = 0; level < this.flattened; level++) {
      start = start.flatMap((row) => (this.view.hasChildren(row) ? this.children(row) : [row]));
    }
    return this.flattened > 0 ? this.#ordered(start) : start;
  }

  /** Rows directly below that are large enough, in order. */
  children(row) {
    let known = this.#sorted.get(row);
    if (!known) {
      const all = this.view.children(row);
      known = this.#ordered(this.threshold === 0 ? all : all.filter((child) => this.#isLarge(child)));
      this.#sorted.set(row, known);
    }
    return known;
  }

  #isLarge(row) {
    return this.columns.some((column) => {
      const percent = column.shown ? column.percent(this.view, row) : null;
      return percent !== null && Math.abs(percent) >= this.threshold;
    });
  }

  #ordered(rows) {
    const { view, order, descending } = this;
    if (order === null) {
      const names = new Map(rows.map((row) => [row, view.describe(row).name]));
      return [...rows].sort((a, b) => (names.get(a) < names.get(b) ? -1 : names.get(a) > names.get(b) ? 1 : a - b));
    }
    const values = rows.map((row) => order.value(view, row) ?? -Infinity);
    return reordered(rows, ordered(values, descending));
  }

  /** Sorts by a column, or by name if it is null; by the same column again the other way round. */
  sortBy(column) {
    this.descending = this.order === column ? !this.descending : true;
    this.order = column;
    this.refresh();
  }

  /** After another threshold, columns or values. */
  refresh() {
    this.#sorted.clear();
    this.rebuild();
  }

  /** Opens or closes the listed row at a place. */
  toggle(index) {
    const row = this.rows[index];
    if (this.open.has(row)) this.close(index);
    else this.expand(index);
  }

  /** Opens the listed row at a place. */
  expand(index) {
    const row = this.rows[index];
    if (this.open.has(row)) return;
    this.open.add(row);
    this.#replace(index + 1, index + 1, this.#walked(this.#below(row, this.depths[index], this.forks[index])));
  }

  /** Closes the listed row at a place. */
  close(index) {
    if (!this.open.delete(this.rows[index])) return;
    let end = index + 1;
    while (end < this.rows.length && this.depths[end] > this.depths[index]) end++;
    this.#replace(index + 1, end, { rows: [], depths: [], forks: [] });
  }

  #replace(from, to, by) {
    for (const name of ["rows", "depths", "forks"]) {
      // Few rows are put in where they belong; a call cannot take very many.
      if (by[name].length < 10000) this[name].splice(from, to - from, ...by[name]);
      else this[name] = this[name].slice(0, from).concat(by[name], this[name].slice(to));
    }
  }

  /** The way from a row down, each time to the child with the largest value while that is at least half of the row above. */
  hotPath(row, column = this.order ?? this.columns[0], share = 0.5) {
    const path = [];
    const size = (at) => Math.abs(column.value(this.view, at) ?? 0);
    for (let here = row; ;) {
      const below = this.view.children(here);
      if (below.length === 0) return path;
      const next = below.reduce((best, child) => (size(child) > size(best) ? child : best));
      if (size(next) === 0 || size(next) < share * size(here)) return path;
      path.push(next);
      here = next;
    }
  }

  /** Opens all rows above a row, and lists the whole if it is outside of the top; gives its place. */
  reveal(row) {
    const above = [];
    for (let at = this.view.parent(row); at !== null; at = this.view.parent(at)) above.push(at);
    if (row !== this.top && !above.includes(this.top)) this.top = this.view.root;
    above.forEach((at) => this.open.add(at));
    this.rebuild();
    let index = this.rows.indexOf(row);
    if (index < 0 && (this.threshold > 0 || this.flattened > 0)) {
      [this.threshold, this.flattened] = [0, 0];
      this.refresh();
      index = this.rows.indexOf(row);
    }
    return index;
  }

  /** Lists a row as the top. */
  zoom(row) {
    this.top = row;
    this.flattened = 0;
    this.open.add(row);
    this.rebuild();
  }

  /** Passes over one level more, or (-1) one less. */
  flatten(levels) {
    this.flattened = Math.max(0, this.flattened + levels);
    this.rebuild();
  }
}
