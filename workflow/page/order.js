// The order of many numbers, worked out only as far as it is looked at.

/** So many are sorted at once. */
const FEW = 128;

/**
 * Places of the values, the largest first or, if not `descending`, the smallest; those of equal values stay in their order, and what is
 * no number counts as less than all. This is quicksort that leaves parts undone until a place in them is asked for: the first rows of a
 * million take one pass and some shorter ones.
 */
export class Order {
  #keys;
  #places;
  #whole;
  #drawn = 0;

  constructor(values, descending = true) {
    this.length = values.length;
    this.#keys = new Float64Array(this.length);
    this.#places = new Uint32Array(this.length);
    const sign = descending ? 1 : -1;
    for (let place = 0; place < this.length; place++) {
      const value = values[place];
      this.#keys[place] = value === value ? sign * value : -sign * Infinity;
      this.#places[place] = place;
    }
    this.#whole = new Part(0, this.length);
  }

  /** The place of the value that comes at an index. */
  at(index) {
    for (let part = this.#whole; !this.#isSorted(part) && index !== part.middle;) {
      part = index < part.middle ? part.before : part.after;
    }
    return this.#places[index];
  }

  /** The index at which the value of a place comes. */
  rank(place) {
    let part = this.#whole;
    while (!this.#isSorted(part)) {
      const pivot = this.#places[part.middle];
      if (place === pivot) return part.middle;
      part = this.#isBefore(place, pivot) ? part.before : part.after;
    }
    return part.start + this.#places.subarray(part.start, part.end).indexOf(place);
  }

  #isBefore(a, b) {
    const keys = this.#keys;
    return keys[a] > keys[b] || (keys[a] === keys[b] && a < b);
  }

  /** Whether a part is in order, which a short one is made; one that is not is divided. */
  #isSorted(part) {
    if (part.sorted || part.middle !== null) return part.sorted;
    if (part.end - part.start > FEW) {
      const middle = this.#divide(part.start, part.end);
      Object.assign(part, { middle, before: new Part(part.start, middle), after: new Part(middle + 1, part.end) });
      return false;
    }
    this.#places.subarray(part.start, part.end).sort((a, b) => (this.#isBefore(a, b) ? -1 : 1));
    return (part.sorted = true);
  }

  /** Puts one place where it belongs, what comes before it in front and all else behind; gives where that is. */
  #divide(start, end) {
    const [keys, places] = [this.#keys, this.#places];
    // Of three anywhere: values that stand in some order are no worse than others.
    const anywhere = () => start + ((this.#drawn = (Math.imul(this.#drawn, 1664525) + 1013904223) >>> 0) % (end - start));
    this.#swap(start, this.#middlemost(anywhere(), anywhere(), anywhere()));
    const pivot = places[start];
    const key = keys[pivot];
    let [low, high] = [start, end];
    for (;;) {
      for (low++; low < end; low++) {
        const other = keys[places[low]];
        if (!(other > key || (other === key && places[low] < pivot))) break;
      }
      for (high--; ; high--) {
        const other = keys[places[high]];
        if (!(key > other || (key === other && pivot < places[high]))) break;
      }
      if (low >= high) break;
      this.#swap(low, high);
    }
    this.#swap(start, high);
    return high;
  }

  /** The one of three indexes whose place comes between the others'. */
  #middlemost(a, b, c) {
    const places = this.#places;
    const isBefore = (i, j) => this.#isBefore(places[i], places[j]);
    if (isBefore(a, b)) return isBefore(b, c) ? b : isBefore(a, c) ? c : a;
    return isBefore(a, c) ? a : isBefore(b, c) ? c : b;
  }

  #swap(i, j) {
    const places = this.#places;
    [places[i], places[j]] = [places[j], places[i]];
  }
}

/** Indexes of an order that are together there, in their own order or divided at one that is in its place. */
class Part {
  sorted = false;
  middle = null;
  before = null;
  after = null;

  constructor(start, end) {
    this.start = start;
    this.end = end;
  }
}
