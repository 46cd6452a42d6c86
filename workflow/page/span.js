// A part of the time that a picture shows.

/** Times that are not less than `from` and less than `until`, nanoseconds. */
export class Span {
  constructor(from, until) {
    Object.assign(this, { from, until });
  }

  get length() {
    return this.until - this.from;
  }

  /** Where in a picture of this width a time is, px. */
  place(time, width) {
    return ((time - this.from) / this.length) * width;
  }

  /** The time at a place. */
  time(place, width) {
    return this.from + (place / width) * this.length;
  }

  /** So many times as long, with the time `at` where it was; no shorter than `least`, and not beyond the whole. */
  stretched(factor, at, whole, least) {
    const length = Math.min(Math.max(this.length * factor, Math.min(least, whole.length)), whole.length);
    const share = (at - this.from) / this.length;
    return new Span(at - share * length, at + (1 - share) * length).within(whole);
  }

  /** Moved by a part of its length, but not beyond the whole. */
  moved(share, whole) {
    const by = share * this.length;
    return new Span(this.from + by, this.until + by).within(whole);
  }

  /** Moved into the whole, which is at least as long. */
  within(whole) {
    const from = Math.max(whole.from, Math.min(this.from, whole.until - this.length));
    return new Span(from, from + this.length);
  }

  /** Moved as far as is needed to see what is from `from` to `until`, or nothing but that, with some room around it. */
  showing(from, until, whole) {
    if ((from >= this.from && until <= this.until) || (from <= this.from && until >= this.until)) return this;
    const room = Math.max(0, this.length - (until - from)) / 4;
    const start = from < this.from ? from - room : Math.min(from, until + room - this.length);
    return new Span(start, start + this.length).within(whole);
  }

  /** At most `most` round times in it: multiples of 1, 2 or 5 times a power of ten. */
  ticks(most) {
    const least = this.length / most;
    const ten = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least);
    const first = Math.ceil(this.from / step);
    const found = [];
    for (let n = first; n * step < this.until; n++) found.push(n * step);
    return found;
  }
}

/** A time in seconds, with as many decimals as tell times of a span apart. */
export function moment(time, span) {
  const digits = Math.max(0, Math.min(9, Math.ceil(11 - Math.log10(span.length))));
  return (time / 1e9).toFixed(digits);
}
