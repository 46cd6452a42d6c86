// A sweep: two processor counts compared, for every row of every view.
import { bound, inflexion, sameWork } from "./bounds.js";
import { addColumns, Column, formulaColumns } from "./column.js";
import { loss, mean } from "./excess.js";
import { presence, Series } from "./series.js";
import { sectionsOf, spreadOf } from "./spread.js";
import { qValues } from "./student.js";
import { Sweep } from "./sweep.js";

/** Samples that a row needs at one of the counts to be judged. */
const MIN_SAMPLES = 10;
/** Share of the work of the whole run, both counts together, from which a row is tested. */
const TESTED = 0.001;
/** Share of false findings that is put up with. */
const FALSE_FINDINGS = 0.05;
const NANOSECONDS = 1e9;

/** What a page of a sweep shows: the compare of two counts. */
export class SweepModel {
  kind = "sweep";
  #losses = new WeakMap();
  #qValues = new WeakMap();
  #kept = new Map();
  #made = null;

  /**
   * `pair` has the two counts, `keeps` for each context whether its cost counts, and `chosen` for each section; all do if they are null.
   */
  constructor(data, sweep = new Sweep(data), pair = null, keeps = null, chosen = null) {
    const { head } = data;
    Object.assign(this, { data, sweep, tree: sweep.tree, title: head.title, notes: head.notes, keeps, chosen });
    [this.base, this.at] = pair ?? [head.score.base, head.score.at];
    this.score = this.#scoreOfPair(head);
    const of = (processors) => sweep.at(processors).map((run) => this.#series(run));
    [this.baseRuns, this.atRuns] = [of(this.base), of(this.at)];
    this.present = this.isPart ? presence(this.tree, [...this.baseRuns, ...this.atRuns]) : sweep.present;
    const whole = (processors) => mean(sweep.at(processors).map((run) => run.series.total));
    this.comparison = {
      period: head.score.sampling_period_seconds * NANOSECONDS,
      wholeBase: whole(this.base),
      wholeAt: whole(this.at),
      same: this.base === this.at,
    };
    this.#expect();
    this.columns = this.#columns();
    this.unit = "nanoseconds";
  }

  /** The score of the two counts: causes, findings and efficiencies are null where the page has them of another pair only. */
  #scoreOfPair({ score, pairs }) {
    const isOf = (one) => one.base === this.base && one.at === this.at;
    if (isOf(score)) return score;
    const unknown = { findings: null, causes: null, waterfall: null, bounds: null };
    return { ...score, ...(pairs.find(isOf) ?? unknown) };
  }

  /** Whether only a part of the cost counts. */
  get isPart() {
    return this.keeps !== null || this.chosen !== null;
  }

  /** What of a run counts. */
  #series(run) {
    if (!this.isPart) return run.series;
    if (!this.#kept.has(run)) {
      const { chosen, keeps, tree } = this;
      const part = chosen ? new Series(tree, sectionsOf(this.data, run.number).exclusive(chosen)) : run.series;
      this.#kept.set(run, keeps ? part.masked(keeps) : part);
    }
    return this.#kept.get(run);
  }

  /** Means of the runs and the excess as columns of their own, for pictures and source lines; made when first looked at. */
  get #means() {
    return (this.#made ??= this.#make());
  }

  #make() {
    const { tree, base, at, sweep } = this;
    const [before, after] = [this.baseRuns, this.atRuns].map((runs) => {
      const sums = new Float64Array(tree.size);
      for (const { exclusive } of runs) exclusive.forEach((value, context) => (sums[context] += value / runs.length));
      return new Series(tree, sums);
    });
    const beyond = (work, context) => work - sweep.growth(context, base, at) * before.exclusive[context];
    return { before, after, excess: new Series(tree, after.exclusive.map(beyond)) };
  }

  /** What source lines show. */
  get lines() {
    return { series: this.#means.excess, whole: this.comparison.wholeAt, title: "excess %", signed: true };
  }

  /** What the widths of a flame graph may show. */
  get flames() {
    const { before, after, excess } = this.#means;
    const tint = (view, row) => view.inclusive(row, excess) / Math.max(view.inclusive(row, after), 1);
    const unit = "nanoseconds";
    return [
      { id: "at", title: `work at ${this.sweep.name(this.at)}, red where it is excess`, series: after, unit, tint },
      { id: "excess", title: "excess work", series: excess, unit, tint },
      { id: "base", title: `work at ${this.sweep.name(this.base)}`, series: before, unit, tint: null },
    ];
  }

  /** What each repetition at the base makes expect, where call paths have expectations of their own. */
  #expect() {
    const { sweep, base, at, tree } = this;
    if (sweep.followed === null) return;
    const weigh = (power) => (series) =>
      new Series(
        tree,
        series.exclusive.map((value, context) => sweep.growth(context, base, at) ** power * value),
      );
    this.expectedRuns = this.baseRuns.map(weigh(1));
    this.squaredRuns = this.baseRuns.map(weigh(2));
  }

  /** Adds the columns of a formula of `base`, `at` and `expected` work in seconds and of `excess` in percent. */
  derive(name, text) {
    const work = (of) => (view, row, side) => this.loss(view, row, side)[of] / NANOSECONDS;
    const excess = (view, row, side) => 100 * this.loss(view, row, side).excess;
    const names = { base: work("workBase"), at: work("workAt"), expected: work("expected"), excess };
    addColumns(this.columns, formulaColumns(name, text, names));
  }

  /** The same with the cost of some contexts, and of some sections only. */
  filtered(keeps, part = null) {
    return new SweepModel(this.data, this.sweep, [this.base, this.at], keeps, part?.chosen ?? null);
  }

  /** The same for two other counts, with all cost. */
  compared(base, at) {
    return new SweepModel(this.data, this.sweep, base <= at ? [base, at] : [at, base]);
  }

  /** Excess of a row, `side` is "inclusive" or "own". */
  loss(view, row, side) {
    let known = this.#losses.get(view);
    if (!known) this.#losses.set(view, (known = { inclusive: [], own: [] }));
    return (known[side][row] ??= this.#loss(view, row, side));
  }

  #loss(view, row, side) {
    const of = (runs) => runs.map((series) => view[side](row, series));
    const [base, at] = [of(this.baseRuns), of(this.atRuns)];
    const rho = this.sweep.growth(0, this.base, this.at);
    const expected = this.expectedRuns ? of(this.expectedRuns) : base.map((work) => rho * work);
    const squared = this.squaredRuns ? mean(of(this.squaredRuns)) : rho * rho * mean(base);
    return loss({ base, expected, squared, at }, this.comparison);
  }

  #samplesOf(view, row, processors) {
    return view.inclusive(row, this.sweep.samples.get(processors));
  }

  /** Whether there are enough samples to say anything. */
  isJudged(view, row) {
    return Math.max(this.#samplesOf(view, row, this.base), this.#samplesOf(view, row, this.at)) >= MIN_SAMPLES;
  }

  /**
   * q-values of all rows of a view that are tested. No row has more work or samples than the row above, so that what is below a
   * row that is too small need not be looked at.
   */
  #tested(view) {
    let found = this.#qValues.get(view);
    if (found) return found;
    const isLarge = (row) => {
      const { workBase, workAt } = this.loss(view, row, "inclusive");
      return workBase + workAt >= TESTED * this.comparison.wholeAt && this.isJudged(view, row);
    };
    const rows = isLarge(view.root) ? [view.root] : [];
    if (rows.length > 0 && this.loss(view, view.root, "inclusive").isTold) {
      for (let i = 0; i < rows.length; i++) rows.push(...this.#working(view, rows[i]).filter(isLarge));
    }
    const q = qValues(rows.map((row) => this.loss(view, row, "inclusive").pValue));
    found = new Map(rows.map((row, i) => [row, q[i]]));
    this.#qValues.set(view, found);
    return found;
  }

  /** Rows directly below with about as much work as is tested, or more. */
  #working(view, row) {
    const of = (runs) => runs.map((series) => view.below(row, series, "inclusive"));
    const [base, at] = [of(this.baseRuns), of(this.atRuns)];
    const least = 0.99 * TESTED * this.comparison.wholeAt;
    const meanOf = (runs, place) => runs.reduce((sum, values) => sum + values[place], 0) / runs.length;
    return Array.from(view.children(row)).filter((_, place) => meanOf(base, place) + meanOf(at, place) >= least);
  }

  /** Whether the inclusive excess is told from zero, also among all rows that are looked at. */
  isSignificant(view, row) {
    return this.loss(view, row, "inclusive").isTold && (this.#tested(view).get(row) ?? 1) < FALSE_FINDINGS;
  }

  /** Work of a row in each run, seconds: `{processors, values}` by count. */
  curve(view, row) {
    return this.sweep.counts.map((processors) => {
      const runs = this.sweep.at(processors);
      return { processors, values: runs.map((run) => view.inclusive(row, this.#series(run)) / NANOSECONDS) };
    });
  }

  /**
   * How a row bounds the speed-up over the base, at each count: `{processors, bound, speedup}`, `largest` at the compared count by those
   * who spend most in it, and where its time stops falling (null if it has too few samples). Null if it does not run.
   */
  bounds(view, row) {
    const { sweep, score, base, at } = this;
    const wholes = sweep.counts.map((processors) => ({
      processors,
      values: sweep.at(processors).map((run) => run.series.total / NANOSECONDS),
    }));
    const of = (curve) => sameWork(curve, wholes, score.sampling_period_seconds, sweep.weak);
    const [whole, part] = [of(wholes), of(this.curve(view, row))];
    const [from, to] = [sweep.counts.indexOf(base), sweep.counts.indexOf(at)];
    if (part.points[to].mean === 0) return null;
    const uneven = this.spread?.imbalance(view, row) ?? null;
    return {
      curve: sweep.counts.map((processors, place) => ({
        processors,
        bound: bound(whole, from, part, place),
        speedup: bound(whole, from, whole, place).value,
      })),
      average: bound(whole, from, part, to),
      largest: uneven === null ? null : bound(whole, from, part, to, 1 + uneven / 100),
      inflexion: this.isJudged(view, row) ? inflexion(part) : null,
    };
  }

  /** The spread at the compared count, if the page has it. */
  get spread() {
    return this.isPart ? null : spreadOf(this.data, this.at);
  }

  #columns() {
    const { comparison, sweep } = this;
    const [base, at] = [sweep.name(this.base), sweep.name(this.at)];
    const excess = (side, title, hint, shown) =>
      new Column({
        id: `excess.${side === "own" ? "excl" : "incl"}`,
        title: `excess ${title}`,
        hint: `excess work at ${at} against ${base}, percent of all work at ${at}: ${hint}`,
        unit: "percent",
        sum: { series: this.#means.excess, side, times: 100 / comparison.wholeAt },
        width: (view, row) => 100 * this.loss(view, row, side).halfWidth,
        // Of a row's own part no more is told than of the whole row.
        sure: (view, row) => this.isSignificant(view, row) && this.loss(view, row, side).isTold,
        signed: true,
        shown,
      });
    const work = (side, of, title, whole, shown) =>
      new Column({
        id: `${of}.${side === "own" ? "excl" : "incl"}`,
        title,
        hint: `work: cost summed over all threads, mean of the repetitions (${title})`,
        unit: "nanoseconds",
        value: (view, row) => this.loss(view, row, side)[of],
        whole,
        shown,
      });
    const samples = (processors) =>
      new Column({
        id: `samples.${processors === this.base ? "base" : "at"}`,
        title: `samples at ${sweep.name(processors)}`,
        hint: "inclusive, all repetitions",
        unit: "count",
        value: (view, row) => this.#samplesOf(view, row, processors),
        shown: false,
      });
    return [
      excess("inclusive", "incl.", "the row with all that it calls", true),
      excess("own", "excl.", "the row's own code", true),
      work("inclusive", "workBase", `work at ${base}`, comparison.wholeBase, false),
      work("inclusive", "workAt", `work at ${at}`, comparison.wholeAt, true),
      work("own", "workBase", `work excl. at ${base}`, comparison.wholeBase, false),
      work("own", "workAt", `work excl. at ${at}`, comparison.wholeAt, false),
      new Column({
        id: "efficiency",
        title: "own efficiency",
        hint: `expected over measured work at ${at}, percent; a tiny row may be very inefficient and cost nothing`,
        unit: "percent",
        hasBar: false,
        shown: false,
        value: (view, row) => {
          const { expected, workAt } = this.loss(view, row, "inclusive");
          return workAt > 0 ? (100 * expected) / workAt : null;
        },
      }),
      new Column({
        id: "imbalance",
        title: "imbalance",
        hint: `largest over mean work of the ranks or threads at ${at}, less 1, percent`,
        unit: "percent",
        hasBar: false,
        shown: false,
        value: (view, row) => this.spread?.imbalance(view, row) ?? null,
      }),
      ...[...new Set([this.base, this.at])].map(samples),
    ];
  }
}
