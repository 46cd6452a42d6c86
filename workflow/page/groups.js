// Contexts in groups, each of which is a row of a view.
import { finish, inSteps } from "./ahead.js";

/** The rows below one row: each gathers contexts, those of a row one after the other in pre-order. */
export class Groups {
  /** Number of the first row, null until it is given one. */
  first = null;
  /** The key of each row. */
  keys;
  /** Other groups, and which of them these are; null if they are none of others. */
  #whole = null;
  #sums = new Map();
  #single = new Map();

  /**
   * `parent` is the row above. `keyOf(context, place)` gives the key, a natural number, of each of the `contexts` (of all but the root if
   * they are null), or -1 if it is in no row; keys are less than `dense` if that is not 0. Rows are in the order in which their keys
   * come first. Or the rows are those of other groups, `whole`, whose first contexts `isIn` takes. They are made by `steps`, some of
   * which may be done before the rows are needed.
   */
  constructor({ tree, parent, contexts, keyOf, dense, whole, isIn }) {
    Object.assign(this, { tree, parent });
    this.steps = whole ? this.#take(whole, isIn) : this.#make(contexts, contexts?.length ?? tree.size - 1, keyOf, dense);
  }

  *#make(all, many, keyOf, dense) {
    const keys = new Keys(many, dense);
    // The number of each one's row, plus one: 0 is none.
    const numbers = new Uint32Array(many);
    const context = (place) => (all === null ? place + 1 : all[place]);
    yield* inSteps(many, (from, end) => {
      for (let place = from; place < end; place++) {
        const key = keyOf(context(place), place);
        if (key >= 0) numbers[place] = keys.number(key);
      }
    });
    this.keys = keys.all();
    const count = this.keys.length;
    // What is in no row stands in front.
    const starts = new Uint32Array(count + 2);
    yield* inSteps(many, (from, end) => {
      for (let place = from; place < end; place++) starts[numbers[place] + 1]++;
    });
    for (let group = 1; group < starts.length; group++) starts[group] += starts[group - 1];
    const next = starts.slice();
    const contexts = new Uint32Array(many);
    yield* inSteps(many, (from, end) => {
      for (let place = from; place < end; place++) contexts[next[numbers[place]]++] = context(place);
    });
    Object.assign(this, { contexts, starts: starts.subarray(1), ends: starts.subarray(2) });
    yield* inSteps(count, (from, end) => {
      for (let group = from; group < end; group++) inOrder(contexts, this.starts[group], this.ends[group]);
    });
  }

  *#take(whole, isIn) {
    const all = whole.keys.length;
    const taken = new Uint32Array(all);
    let count = 0;
    yield* inSteps(all, (from, end) => {
      for (let group = from; group < end; group++) {
        if (isIn(whole.contexts[whole.starts[group]])) taken[count++] = group;
      }
    });
    this.#whole = { groups: whole, taken: taken.subarray(0, count) };
    this.contexts = whole.contexts;
    for (const [name, Numbers] of [["keys", Float64Array], ["starts", Uint32Array], ["ends", Uint32Array]]) {
      this[name] = yield* this.#taken(whole[name], new Numbers(count));
    }
  }

  /** What other groups have of those that are here too. */
  *#taken(values, numbers) {
    const { taken } = this.#whole;
    yield* inSteps(numbers.length, (from, end) => {
      for (let group = from; group < end; group++) numbers[group] = values[taken[group]];
    });
    return numbers;
  }

  /** Gives the rows their numbers, from this one on, and the first number after them. */
  begin(first) {
    this.first = first;
    this.rows = new Uint32Array(this.keys.length);
    for (let group = 0; group < this.rows.length; group++) this.rows[group] = first + group;
    return first + this.rows.length;
  }

  /** All contexts of a row. */
  of(row) {
    const group = row - this.first;
    return this.contexts.subarray(this.starts[group], this.ends[group]);
  }

  /** The first context of a row. */
  head(row) {
    return this.contexts[this.starts[row - this.first]];
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
    const group = row - this.first;
    const sums = this.#sums.get(values);
    if (sums) return sums[group];
    let single = this.#single.get(values);
    if (!single) this.#single.set(values, (single = new Map()));
    let sum = single.get(group);
    if (sum === undefined) single.set(group, (sum = this.#summed(group, values, isOutermost)));
    return sum;
  }

  #summed(group, values, isOutermost) {
    const { starts, ends, contexts, tree } = this;
    let [sum, covered] = [0, 0];
    for (let at = starts[group]; at < ends[group]; at++) {
      const context = contexts[at];
      if (isOutermost && context < covered) continue;
      covered = tree.ends[context];
      sum += values[context];
    }
    return sum;
  }

  /** The sums of all rows. */
  sums(values, isOutermost) {
    finish(this.summing(values, isOutermost));
    return this.#sums.get(values);
  }

  /** Works them out in steps. */
  *summing(values, isOutermost) {
    if (this.#sums.has(values)) return;
    const sums = new Float64Array(this.keys.length);
    if (this.#whole) {
      yield* this.#whole.groups.summing(values, isOutermost);
      this.#sums.set(values, yield* this.#taken(this.#whole.groups.sums(values, isOutermost), sums));
      return;
    }
    yield* inSteps(sums.length, (from, end) => {
      for (let group = from; group < end; group++) sums[group] = this.#summed(group, values, isOutermost);
    });
    this.#sums.set(values, sums);
    this.#single.delete(values);
  }
}

/** Keys in the order in which they come first. */
class Keys {
  #count = 0;

  /** `many` keys come at most; they are less than `dense` if that is not 0. */
  constructor(many, dense) {
    this.keys = new Float64Array(dense > 0 ? Math.min(many, dense) : many);
    this.table = dense > 0 && dense < 16 * many ? new Uint32Array(dense) : null;
    this.known = new Map();
    [this.last, this.lastNumber] = [-1, 0];
  }

  /** The number of a key, from 1 on; one that is new has the next. */
  number(key) {
    // Often it is that of the last key again.
    if (key !== this.last) [this.last, this.lastNumber] = [key, this.#numberOf(key)];
    return this.lastNumber;
  }

  #numberOf(key) {
    const { table, known } = this;
    const number = table === null ? known.get(key) : table[key];
    if (number > 0) return number;
    this.keys[this.#count++] = key;
    if (table === null) known.set(key, this.#count);
    else table[key] = this.#count;
    return this.#count;
  }

  all() {
    return this.keys.slice(0, this.#count);
  }
}

/** Sorts a part of the numbers, which mostly are in order. */
function inOrder(numbers, from, end) {
  for (let at = from + 1; at < end; at++) {
    if (numbers[at] < numbers[at - 1]) {
      numbers.subarray(from, end).sort();
      return;
    }
  }
}
