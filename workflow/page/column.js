// Columns of the table: what each shows of a row.
import { Formula } from "./formula.js";
import { unitFor } from "./number.js";

/** Decimals that leave the largest values of a column about four digits. */
function digitsFor(unit, { factor }, whole) {
  if (unit === "percent" || unit === "ratio") return 1;
  if (unit === "count" && factor === 1) return 0;
  const before = Math.floor(Math.log10(Math.max(1, Math.abs(whole) / factor)));
  return Math.max(1, 3 - before);
}

/** A column of one quantity, inclusive or of a row's own code. */
export class Column {
  /**
   * `value(view, row)` is in `unit` ("nanoseconds", "count", "percent" or "ratio") or null. What `of` has can be said in percent
   * of `whole`. `width(view, row)` is the half width of an interval, `sure(view, row)` whether the value is told from zero. If the
   * value is a sum over contexts, `sum` has the `series`, its `side` and what it is multiplied by, `times`, instead.
   */
  constructor({
    id,
    title,
    hint = "",
    unit,
    digits,
    sum = null,
    value = (view, row) => sum.times * view[sum.side](row, sum.series),
    whole = null,
    width = null,
    sure = null,
    signed = false,
    shown = true,
    hasBar = true,
  }) {
    Object.assign(this, { id, title, hint, unit, sum, value, whole, width, sure, signed, shown, hasBar });
    this.scale = unitFor(unit, whole ?? 1);
    this.digits = digits ?? digitsFor(unit, this.scale, whole ?? 0);
  }

  /** Heading, with the unit. */
  get heading() {
    return this.scale.name ? `${this.title} ${this.scale.name}` : this.title;
  }

  /** The values of all rows directly below a row; for null less than all. */
  values(view, row) {
    const { sum } = this;
    if (sum === null) return Array.from(view.children(row), (child) => this.value(view, child) ?? -Infinity);
    const values = view.below(row, sum.series, sum.side);
    return sum.times === 1 ? values : values.map((value) => sum.times * value);
  }

  /** The value in percent of the whole, or null. */
  percent(view, row) {
    const value = this.value(view, row);
    return value === null ? null : this.percentOf(value);
  }

  /** A value of the column in percent of the whole, or null. */
  percentOf(value) {
    if (this.unit === "percent") return value;
    return this.whole ? (100 * value) / this.whole : null;
  }
}

/**
 * The two columns of a formula, worked out for each row from its inclusive and from its own values. `names` has of every name that
 * may stand in it `(view, row, side) → value`.
 */
export function formulaColumns(name, text, names) {
  const formula = new Formula(text, Object.keys(names));
  const column = (id, title, side) =>
    new Column({
      id: `f:${name}.${id}`,
      title: `${name} ${title}`,
      hint: `${name} = ${text}`,
      unit: name.endsWith("%") ? "percent" : "ratio",
      digits: name.endsWith("%") ? 1 : 3,
      hasBar: false,
      value: (view, row) => formula.of((of) => names[of](view, row, side)),
    });
  return [column("incl", "incl.", "inclusive"), column("excl", "excl.", "own")];
}

/** Adds columns, in place of those with the same ids. */
export function addColumns(columns, more) {
  for (const column of more) {
    const at = columns.findIndex(({ id }) => id === column.id);
    columns[at < 0 ? columns.length : at] = column;
  }
}

/** The two columns of a metric. */
export function metricColumns({ id, name, unit, series, whole }, { shown, signed }) {
  const column = (end, side, hint) =>
    new Column({
      id: `${id}.${end}`,
      title: `${name} ${end}.`,
      hint: `${name}: ${hint}`,
      unit,
      sum: { series, side, times: 1 },
      whole,
      shown,
      signed,
    });
  return [
    column("incl", "inclusive", "the row with all that it calls"),
    column("excl", "own", "the row's own code"),
  ];
}
