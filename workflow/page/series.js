// One measured quantity over the contexts.

/** Values of the contexts in one unit; sums are made when they are first asked for. */
export class Series {
  #inclusive = null;
  #own = null;

  /** `exclusive[context]`, divided by `divisor` to be in the unit. */
  constructor(tree, exclusive, divisor = 1) {
    this.tree = tree;
    this.exclusive = divisor === 1 ? exclusive : exclusive.map((value) => value / divisor);
  }

  /** With all that lies below. */
  get inclusive() {
    return (this.#inclusive ??= this.tree.inclusive(this.exclusive));
  }

  /** Of the context's own code: a function has that of its statements. */
  get own() {
    return (this.#own ??= this.tree.charged(this.exclusive));
  }

  /** Of the whole run. */
  get total() {
    return this.inclusive[0];
  }

  /** The same of some contexts only: those for which `keeps` has a number that is not 0. */
  masked(keeps) {
    return new Series(
      this.tree,
      this.exclusive.map((value, context) => (keeps[context] ? value : 0)),
    );
  }
}

/** For each context 1 if any of the series has a value there or below, else 0. */
export function presence(tree, series) {
  const present = new Uint8Array(tree.size);
  for (const { exclusive } of series) {
    for (let context = 0; context < tree.size; context++) if (exclusive[context] !== 0) present[context] = 1;
  }
  for (let context = tree.size - 1; context > 0; context--) if (present[context]) present[tree.parents[context]] = 1;
  present[0] = 1;
  return present;
}
