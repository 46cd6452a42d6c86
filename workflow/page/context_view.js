// The calling context view: call paths from the outermost function down. Rows are contexts.

/** Rows of the tree itself. */
export class ContextView {
  kind = "context";
  root = 0;

  constructor(tree, present) {
    this.tree = tree;
    this.present = present;
  }

  /** Rows directly below that have any cost. */
  children(row) {
    return this.tree.children(row).filter((child) => this.present[child]);
  }

  hasChildren(row) {
    for (let child = row + 1; child < this.tree.ends[row]; child = this.tree.ends[child]) {
      if (this.present[child]) return true;
    }
    return false;
  }

  parent(row) {
    return row === 0 ? null : this.tree.parents[row];
  }

  describe(row) {
    return this.tree.describe(this.tree.scopes[row]);
  }

  /** A number that rows of the same scope have in common. */
  scope(row) {
    return this.tree.scopes[row];
  }

  inclusive(row, series) {
    return series.inclusive[row];
  }

  own(row, series) {
    return series.own[row];
  }

  /** The values of all rows directly below, `side` is "inclusive" or "own". */
  below(row, series, side) {
    const values = series[side];
    return this.children(row).map((child) => values[child]);
  }

  /** Contexts whose subtrees make up the row, none within another. */
  contexts(row) {
    return [row];
  }

  /** The row as it is written in a link. */
  key(row) {
    return String(row);
  }

  /** The row of a key, or null. */
  find(key) {
    const row = Number(key);
    return Number.isInteger(row) && row >= 0 && row < this.tree.size ? row : null;
  }

  /** Rows of functions that `matches` takes, which gets a scope. */
  search(matches) {
    const found = [];
    for (let row = 1; row < this.tree.size; row++) {
      if (this.present[row] && this.tree.isFrame(row) && matches(this.tree.scopes[row])) found.push(row);
    }
    return found;
  }
}
