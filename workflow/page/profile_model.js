// A run: its metrics over the tree, and the columns of the table.
import { Tree } from "./tree.js";
import { presence, Series } from "./series.js";
import { addColumns, formulaColumns, metricColumns } from "./column.js";
import { spreadOf } from "./spread.js";

/** What a page of a run shows. */
export class ProfileModel {
  kind = "profile";

  /**
   * `keeps` has for each context whether its cost counts, and `part` (`{spread, chosen}`) for each rank, thread or section; all do
   * if they are null. Only of the first metric is it known what each of these has.
   */
  constructor(data, tree = new Tree(data), keeps = null, part = null) {
    const { head } = data;
    Object.assign(this, { data, tree });
    const metrics = part === null ? head.metrics : head.metrics.slice(0, 1);
    this.title = head.title;
    this.notes = head.notes;
    this.metrics = metrics.map(({ name, unit, divisor, base, block }, index) => {
      const values = part === null ? data.numbers(block) : part.spread.exclusive(part.chosen);
      const all = new Series(tree, values, divisor);
      const series = keeps ? all.masked(keeps) : all;
      return { name, unit, series, whole: base, id: `m${index}` };
    });
    this.present = presence(
      tree,
      this.metrics.map((metric) => metric.series),
    );
    this.difference = head.difference;
    const signed = this.difference !== null;
    this.columns = this.metrics.flatMap((metric, index) => metricColumns(metric, { shown: index === 0, signed }));
    if (part === null) head.derived.forEach(({ name, formula }) => this.derive(name, formula));
    const [{ name, unit, series, whole }] = this.metrics;
    this.lines = { series, whole, title: `${name} %`, signed };
    this.flames = this.metrics.flatMap((metric) => this.#flames(metric));
    this.keeps = keeps;
    this.unit = unit;
  }

  /** What the widths of a flame graph may show of a metric; a difference has what costs more and what costs less apart. */
  #flames({ id, name, unit, series }) {
    if (this.difference === null) return [{ id, title: name, series, unit, tint: null }];
    const less = new Series(
      this.tree,
      series.exclusive.map((value) => -value),
    );
    return [
      { id: `${id}.more`, title: `${name}: costs more`, series, unit, tint: () => 0.7 },
      { id: `${id}.less`, title: `${name}: costs less`, series: less, unit, tint: () => -0.7 },
    ];
  }

  /** How the first metric is spread over ranks or threads; null if it is not known. */
  get spread() {
    return this.keeps ? null : spreadOf(this.data);
  }

  /** Adds the columns of a formula of metrics; times are in seconds. */
  derive(name, text) {
    const value =
      ({ series, unit }) =>
      (view, row, side) =>
        view[side](row, series) / (unit === "nanoseconds" ? 1e9 : 1);
    const names = Object.fromEntries(this.metrics.map((metric) => [metric.name, value(metric)]));
    addColumns(this.columns, formulaColumns(name, text, names));
  }

  /** The same with the cost of some contexts, and of some ranks, threads or sections only. */
  filtered(keeps, part = null) {
    return new ProfileModel(this.data, this.tree, keeps, part);
  }
}
