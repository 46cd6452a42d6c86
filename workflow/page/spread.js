// How the cost of a row is spread over ranks or threads.

/** Those that were looked at. */
const SPREADS = new WeakMap();

/** Values of the participants. */
export class Spread {
  constructor(data, { block, divisor, labels, hosts, processors }) {
    this.divisor = divisor;
    this.labels = labels;
    this.hosts = hosts;
    this.processors = processors;
    const counts = data.numbers(`${block}.counts`, Uint32Array);
    this.starts = new Uint32Array(counts.length + 1);
    for (let context = 0; context < counts.length; context++)
      this.starts[context + 1] = this.starts[context] + counts[context];
    this.participants = data.numbers(`${block}.participants`, Uint32Array);
    this.values = data.numbers(`${block}.values`);
    this.count = this.participants.reduce((most, who) => Math.max(most, who + 1), labels.length);
  }

  /** Inclusive value of a row at each participant; one without the row has 0. */
  of(view, row) {
    const sums = new Float64Array(this.count);
    const { ends } = view.tree;
    for (const context of view.contexts(row)) {
      for (let at = this.starts[context]; at < this.starts[ends[context]]; at++) {
        sums[this.participants[at]] += this.values[at];
      }
    }
    return sums.map((value) => value / this.divisor);
  }

  /** Exclusive values of the contexts at the participants that are `chosen`, not yet divided. */
  exclusive(chosen) {
    const sums = new Float64Array(this.starts.length - 1);
    for (let context = 0; context < sums.length; context++) {
      for (let at = this.starts[context]; at < this.starts[context + 1]; at++) {
        if (chosen[this.participants[at]]) sums[context] += this.values[at];
      }
    }
    return sums;
  }

  /** 100 (largest / mean − 1); null if there is nothing. */
  imbalance(view, row) {
    const values = this.of(view, row);
    const sum = values.reduce((a, b) => a + b, 0);
    return sum > 0 ? 100 * ((values.reduce((a, b) => Math.max(a, b), 0) * values.length) / sum - 1) : null;
  }

  label(who) {
    return this.labels[who] ?? String(who);
  }
}

/** Which participants a text such as `0-3,8` names, by the numbers at the ends of their labels. */
export function chosenOf(text, spread) {
  const ranges = text.split(",").map((part) => part.trim().split("-").map(Number));
  const isNamed = (number) => ranges.some(([from, to = from]) => number >= from && number <= to);
  return Array.from({ length: spread.count }, (_, who) => isNamed(Number(/\d+$/.exec(spread.label(who))?.[0] ?? who)));
}

/** The spread that the head tells of, which is read when it is first looked at. */
function known(data, info) {
  if (!SPREADS.has(info)) SPREADS.set(info, new Spread(data, info));
  return SPREADS.get(info);
}

/** The spread over the sections that the program has marked, of a run or of one of a sweep's runs; null if the page has none. */
export function sectionsOf(data, run = 0) {
  const { sections } = data.head;
  return sections.length === 0 || sections.some((info) => info.left_out) ? null : known(data, sections[run]);
}

/** What is left out of the page because there is too much of it, in words: lines for the reader. */
export function leftOut({ head: { spreads, sections } }) {
  const why = "is not in this page: there are more than four million values";
  const at = ({ processors }) => (processors === null ? "" : ` at ${processors}`);
  return [
    ...spreads.filter((info) => info.left_out).map((info) => `What each rank or thread${at(info)} has ${why}.`),
    ...(sections.some((info) => info.left_out) ? [`What each section has ${why}.`] : []),
  ];
}

/** A section and those within it, as participants that are chosen. */
export function withinSection(section, { labels }) {
  return labels.map((label) => label === section || label.startsWith(`${section} > `));
}

/** The spread of a run, or of the runs at a processor count; null if the page has none. */
export function spreadOf(data, processors = null) {
  const info = data.head.spreads.find((one) => one.processors === processors && !one.left_out);
  return info ? known(data, info) : null;
}
