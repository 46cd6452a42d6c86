// Contexts in groups, each of which is a row of a view.

/** The rows below one row: each gathers contexts, those of a row one after the other in pre-order. */
export class Groups {
  keys = [];
  #number;
  #numbers = [];
  #contexts = [];
  #sums = new Map();

  /** `first` is the number of the first row, `parent` the row above; keys below `dense` are many and close together. */
  constructor({ tree, parent, first, dense }) {
    Object.assign(this, { tree, parent, first });
    this.#number = numbering(this.keys, dense);
  }

  /** Adds a context to the group of a key, a natural number; groups are in the order in which their keys come first. */
  add(key, context) {
    this.#numbers.push(this.#number(key));
    this.#contexts.push(context);
  }

  /** Puts the contexts in order, once all are there. */
  close() {
    const numbers = this.#numbers;
    const count = this.keys.length;
    const starts = new Uint32Array(count + 1);
    for (const number of numbers) starts[number + 1]++;
    for (let group = 0; group < count; group++) starts[group + 1] += starts[group];
    const next = starts.slice();
    const contexts = new Uint32Array(numbers.length);
    for (let at = 0; at < numbers.length; at++) contexts[next[numbers[at]]++] = this.#contexts[at];
    for (let group = 0; group < count; group++) inOrder(contexts, starts[group], starts[group + 1]);
    Object.assign(this, { starts, contexts, end: this.first + count });
    [this.#number, this.#numbers, this.#contexts] = [null, null, null];
    return this;
  }

  /** Row numbers. */
  get rows() {
    return (this.numbers ??= this.keys.map((_, group) => this.first + group));
  }

  /** All contexts of a row. */
  of(row) {
    const group = row - this.first;
    return this.contexts.subarray(this.starts[group], this.starts[group + 1]);
  }

  key(row) {
    return this.keys[row - this.first];
  }

  /** The row of a key, or undefined. */
  find(key) {
    const group = this.keys.indexOf(key);
    return group < 0 ? undefined : this.first + group;
  }

  /** The sum of values of a row's contexts; with `isOutermost` of those that are not below another of them. */
  sum(row, values, isOutermost) {
    let sums = this.#sums.get(values);
    if (!sums) this.#sums.set(values, (sums = this.#summed(values, isOutermost)));
    return sums[row - this.first];
  }

  #summed(values, isOutermost) {
    const sums = new Float64Array(this.keys.length);
    const { starts, contexts } = this;
    const { ends } = this.tree;
    for (let group = 0; group < sums.length; group++) {
      let covered = 0;
      for (let at = starts[group]; at < starts[group + 1]; at++) {
        const context = contexts[at];
        if (isOutermost && context < covered) continue;
        covered = ends[context];
        sums[group] += values[context];
      }
    }
    return sums;
  }
}

/** A function that gives the number of a key's group; a key that is new begins one. */
function numbering(keys, dense) {
  const known = dense > 0 ? new Int32Array(dense) : new Map();
  // Numbers are kept plus one: 0 is none.
  if (dense > 0) return (key) => (known[key] ||= keys.push(key)) - 1;
  return (key) => {
    let number = known.get(key);
    if (number === undefined) known.set(key, (number = keys.push(key)));
    return number - 1;
  };
}

/** Sorts a part of the numbers, which mostly are in order. */
function inOrder(numbers, from, end) {
  for (let at = from + 1; at < end; at++) {
    if (numbers[at] < numbers[at - 1]) return numbers.subarray(from, end).sort();
  }
  return numbers;
}
