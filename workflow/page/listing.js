// Which rows of a view are listed, and in which order.
import { Level } from "./level.js";
import { Order } from "./order.js";

/** The listed rows of a view, with what is open, the order, and the top. Only what is looked at is put in order. */
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
  /** The outermost rows. */
  #first;
  /** The rows below rows, and their order. */
  #below = new Map();

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

  /** Works out the listed rows anew. */
  rebuild() {
    this.#first = this.#filled(this.#start());
  }

  #start() {
    if (this.flattened === 0) return new Level(null, this.#inOrder([this.top], [0]), 0, 0);
    let start = [this.top];
    for (let level = 0; level < this.flattened; level++) {
      start = start.flatMap((row) => (this.view.hasChildren(row) ? Array.from(this.#children(row).rows) : [row]));
    }
    start.sort((a, b) => a - b);
    const values = this.order === null ? [] : start.map((row) => this.order.value(this.view, row) ?? -Infinity);
    return new Level(null, this.#inOrder(start, values), 0, 0);
  }

  /** A level with all that is open below it. */
  #filled(first) {
    const levels = [first];
    const below = this.#openBelow();
    for (const level of levels) {
      const open = level.row === null ? this.open : (below.get(level.row) ?? []);
      for (const row of open) if (level.rank(row) >= 0) levels.push(this.#levelBelow(row, level));
    }
    for (const level of levels.reverse()) if (level !== first) level.above.size += level.size;
    return first;
  }

  /** The open rows by the row above them. */
  #openBelow() {
    const found = new Map();
    for (const row of this.open) {
      const above = this.view.parent(row);
      if (!found.has(above)) found.set(above, []);
      found.get(above).push(row);
    }
    return found;
  }

  /** Opens the level below a row of a level. */
  #levelBelow(row, above) {
    const below = this.#children(row);
    const level = new Level(row, below, above.depth + 1, above.fork + (below.rows.length > 1 ? 1 : 0));
    above.open(row, level);
    return level;
  }

  /** Puts the first rows below a row in order. */
  prepare(row) {
    this.#children(row).order.at(0);
  }

  /** Rows directly below that are large enough, and their order. */
  #children(row) {
    let known = this.#below.get(row);
    if (!known) {
      const { view, order } = this;
      const all = view.children(row);
      const values = order === null ? [] : order.values(view, row);
      if (this.threshold === 0) known = this.#inOrder(all, values);
      else {
        const places = this.#largeBelow(row, all.length);
        known = this.#inOrder(
          places.map((place) => all[place]),
          places.map((place) => values[place]),
        );
      }
      this.#below.set(row, known);
    }
    return known;
  }

  /** Places of the rows directly below that are large enough in any column. */
  #largeBelow(row, count) {
    const { view, threshold } = this;
    const isLarge = new Uint8Array(count);
    for (const column of this.columns) {
      if (!column.shown) continue;
      column.values(view, row).forEach((value, place) => {
        const percent = Number.isFinite(value) ? column.percentOf(value) : null;
        if (percent !== null && Math.abs(percent) >= threshold) isLarge[place] = 1;
      });
    }
    return Array.from(isLarge.keys()).filter((place) => isLarge[place]);
  }

  /** Rows with their order by these values of the column, or by name. */
  #inOrder(rows, values) {
    if (this.order !== null) return { rows, order: new Order(values, this.descending) };
    const names = Array.from(rows, (row) => this.view.describe(row).name);
    const places = names.map((_, place) => place);
    places.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    const ranks = new Float64Array(rows.length);
    places.forEach((place, rank) => (ranks[place] = -rank));
    return { rows, order: new Order(ranks, this.descending) };
  }

  /** How many rows are listed. */
  get length() {
    return this.#first.size;
  }

  /** What is listed at a place: `row`, its `depth`, and as `fork` how many rows above it have several below them. */
  at(index) {
    return this.#first.at(index);
  }

  /** The first listed rows, each as `at` has it. */
  slice(count) {
    return Array.from({ length: Math.min(count, this.length) }, (_, index) => this.at(index));
  }

  /** All listed rows. */
  get rows() {
    return this.slice(this.length).map(({ row }) => row);
  }

  /** The place of a row, -1 if it is not listed. */
  indexOf(row) {
    return this.#find(row)?.index ?? -1;
  }

  /** The level and the place of a listed row, or null. */
  #find(row) {
    const way = [];
    let at = row;
    for (; at !== null && this.#first.rank(at) < 0; at = this.view.parent(at)) way.push(at);
    if (at === null) return null;
    let [level, index] = [this.#first, this.#first.offset(at)];
    while (way.length > 0) {
      level = level.below(at);
      at = way.pop();
      if (!level || level.rank(at) < 0) return null;
      index += 1 + level.offset(at);
    }
    return { level, index };
  }

  /** Sorts by a column, or by name if it is null; by the same column again the other way round. */
  sortBy(column) {
    this.descending = this.order === column ? !this.descending : true;
    this.order = column;
    this.refresh();
  }

  /** After another threshold, columns or values. */
  refresh() {
    this.#below.clear();
    this.rebuild();
  }

  /** Opens or closes a listed row. */
  toggle(row) {
    if (this.open.has(row)) this.close(row);
    else this.expand(row);
  }

  /** Opens a listed row. */
  expand(row) {
    const found = this.#find(row);
    if (found === null || this.open.has(row)) return;
    this.open.add(row);
    const below = this.#filled(this.#levelBelow(row, found.level));
    found.level.grow(below.size);
  }

  /** Closes a listed row. */
  close(row) {
    const found = this.#find(row);
    if (found === null || !this.open.delete(row)) return;
    found.level.grow(-found.level.below(row).size);
    found.level.close(row);
  }

  /** The way from a row down, each time to the child with the largest value while that is at least half of the row above. */
  hotPath(row, column = this.order ?? this.columns[0], share = 0.5) {
    const path = [];
    let size = Math.abs(column.value(this.view, row) ?? 0);
    for (let here = row; ;) {
      const rows = this.view.children(here);
      if (rows.length === 0) return path;
      const sizes = column.values(this.view, here).map((value) => (Number.isFinite(value) ? Math.abs(value) : 0));
      const most = sizes.reduce((best, value, place) => (value > sizes[best] ? place : best), 0);
      if (sizes[most] === 0 || sizes[most] < share * size) return path;
      [here, size] = [rows[most], sizes[most]];
      path.push(here);
    }
  }

  /** Opens all rows above a row, and lists the whole if it is outside of the top; gives its place. */
  reveal(row) {
    const above = [];
    for (let at = this.view.parent(row); at !== null; at = this.view.parent(at)) above.push(at);
    if (row !== this.top && !above.includes(this.top)) this.top = this.view.root;
    above.forEach((at) => this.open.add(at));
    this.rebuild();
    let index = this.indexOf(row);
    if (index < 0 && (this.threshold > 0 || this.flattened > 0)) {
      [this.threshold, this.flattened] = [0, 0];
      this.refresh();
      index = this.indexOf(row);
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
