// Rows below one row, with all that is open below them.

/** Rows of one depth in order; among them, where they are open, those of the levels below. */
export class Level {
  /** Rows listed, with those of the levels below. */
  size;
  /** The level that this one is in, null if none. */
  above = null;
  /** The open rows in order: `{row, rank, level}`. */
  #opened = [];

  /** They are below `row`, if that is not null. `rows` are in the order of their numbers; `order` has an index for each of their places. */
  constructor(row, { rows, order }, depth, fork) {
    Object.assign(this, { row, rows, order, depth, fork, size: rows.length });
  }

  /** Where a row stands among the rows of this depth, -1 if it is not one of them. */
  rank(row) {
    const { rows } = this;
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle] < row) low = middle + 1;
      else high = middle;
    }
    return rows[low] === row ? this.order.rank(low) : -1;
  }

  /** How many rows are listed before a row of this depth. */
  offset(row) {
    const rank = this.rank(row);
    return this.#opened.reduce((before, opened) => before + (opened.rank < rank ? opened.level.size : 0), rank);
  }

  /** The level below a row, undefined if it is not open. */
  below(row) {
    return this.#opened.find((opened) => opened.row === row)?.level;
  }

  /** Puts in the level below one of the rows. */
  open(row, level) {
    const rank = this.rank(row);
    const at = this.#opened.findIndex((opened) => opened.rank > rank);
    this.#opened.splice(at < 0 ? this.#opened.length : at, 0, { row, rank, level });
    level.above = this;
  }

  /** Takes out the level below one of the rows. */
  close(row) {
    this.#opened = this.#opened.filter((opened) => opened.row !== row);
  }

  /** Counts rows more, or less, here and in all levels above. */
  grow(by) {
    for (let level = this; level !== null; level = level.above) level.size += by;
  }

  /** What is listed at an index: the row, its depth, and how many rows above it have several below them. */
  at(index) {
    let level = this;
    for (let rest = index; ;) {
      let inside = null;
      for (const opened of level.#opened) {
        if (rest <= opened.rank) break;
        if (rest - opened.rank <= opened.level.size) {
          inside = opened;
          break;
        }
        rest -= opened.level.size;
      }
      if (inside === null) return { row: level.rows[level.order.at(rest)], depth: level.depth, fork: level.fork };
      rest -= inside.rank + 1;
      level = inside.level;
    }
  }
}
