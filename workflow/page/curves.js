// Curves over the processor counts.
import { lineChart } from "./chart.js";
import { element } from "./element.js";
import { halfWidth, mean, repeated, uncertainty } from "./excess.js";
import { decimal } from "./number.js";

/** A picture with what it shows. */
export function figure(picture, caption) {
  return element("figure", {}, [picture, element("figcaption", { text: caption })]);
}

/** Speed-up by wall time: base·T(base)/T(n) under strong and n·T(base)/T(n) under weak scaling, intervals by Welch of the logarithms. */
function speedups({ runs, counts, weak }, base) {
  const logs = (n) => runs.filter((run) => run.processors === n && run.wall > 0).map((run) => Math.log(run.wall));
  const before = repeated(logs(base), 0, 0, 0);
  return counts.map((n) => {
    const after = repeated(logs(n), 0, 0, 0);
    const y = (weak ? n : base) * Math.exp(before.mean - after.mean);
    const width = n === base ? 0 : halfWidth(uncertainty(before, after));
    return { x: n, y, low: y * Math.exp(-width), high: y * Math.exp(width) };
  });
}

/** The speed-up with the ideal; a band that would hide the line is left out. */
export function speedup({ sweep, base }) {
  const measured = { name: "measured", points: speedups(sweep, base), colour: "--accent" };
  const ideal = { name: "ideal", points: sweep.counts.map((n) => ({ x: n, y: n })), dashed: true, colour: "--dim" };
  const seen = measured.points.every((p) => p.high < 3 * sweep.counts.at(-1))
    ? measured
    : { ...measured, points: measured.points.map(({ x, y }) => ({ x, y })) };
  const unit = `speed-up, with ${base} at ${base}`;
  return lineChart({ title: "Speed-up", lines: [ideal, seen], unit, digits: 2, ticks: sweep.grid });
}

/** The efficiency by the metric and by wall time. */
export function efficiency({ score, sweep }) {
  const work = score.scales.map((s) => ({
    x: s.processors,
    y: s.work_efficiency_percent,
    low: s.work_efficiency_percent - s.excess_half_width_percent,
    high: s.work_efficiency_percent + s.excess_half_width_percent,
  }));
  const wall = speedups(sweep, score.base).map((p) => ({ x: p.x, y: (100 * p.y) / p.x }));
  const ideal = sweep.counts.map((n) => ({ x: n, y: 100 }));
  return lineChart({
    title: "Efficiency",
    unit: "percent",
    ticks: sweep.grid,
    lines: [
      { name: "ideal", points: ideal, dashed: true, colour: "--dim" },
      { name: `by ${score.metric}`, points: work, colour: "--accent" },
      { name: "by wall time", points: wall, colour: "--worse" },
    ],
  });
}

/** The work of a row over the processor counts, with what perfect scaling from the base would need. */
export function workCurve(model, view, row) {
  const curve = model.curve(view, row);
  const measured = curve.map(({ processors, values }) => ({
    x: processors,
    y: mean(values),
    low: Math.min(...values),
    high: Math.max(...values),
  }));
  const base = measured.find((p) => p.x === model.base).y;
  const ideal = measured.map(({ x }) => ({ x, y: base * model.sweep.growth(view.contexts(row)[0], model.base, x) }));
  const chart = lineChart({
    title: "Work over processor counts",
    unit: "work over all threads, s",
    digits: 3,
    ticks: model.sweep.grid,
    lines: [
      { name: "ideal", points: ideal, dashed: true, colour: "--dim" },
      { name: "measured", points: measured, colour: "--accent" },
    ],
  });
  return element("section", {}, [
    element("h3", { text: "Over the processor counts" }),
    figure(chart, "mean and range of the repetitions; what is above the ideal line is excess work"),
  ]);
}

/** How a row bounds the speed-up at each count, with that of the whole run; null if it does not run at the compared count. */
export function boundCurve(model, view, row) {
  const found = model.bounds(view, row);
  if (found === null) return null;
  const { base, at, sweep } = model;
  const speedup = found.curve.map(({ processors, speedup }) => ({ x: processors, y: speedup }));
  const ideal = sweep.counts.map((n) => ({ x: n, y: n / base }));
  const bounds = found.curve
    .filter(({ bound }) => Number.isFinite(bound.value))
    .map(({ processors, bound }) => ({ x: processors, y: bound.value, low: bound.low, high: bound.high }));
  const { inflexion } = found;
  // Whatever bounds less than a few times the ideal is of no interest.
  const most = 2 * Math.max(...ideal.map((p) => p.y), ...speedup.map((p) => p.y));
  const chart = lineChart({
    title: "Bound of the speed-up",
    unit: `speed-up by work over ${base}`,
    digits: 2,
    ticks: sweep.grid,
    most,
    marks: inflexion === null ? [] : [{ x: inflexion.fastest, text: MARKS[inflexion.state] }],
    lines: [
      { name: "ideal", points: ideal, dashed: true, colour: "--dim" },
      { name: "whole run", points: speedup, colour: "--accent" },
      { name: bounds.at(-1).y > most ? "bound ↑" : "bound", points: bounds, colour: "--worse" },
    ],
  });
  const [speed, count] = [(value) => decimal(value, 2), sweep.name(at)];
  const within = ({ value, low, high }) =>
    `${speed(value)} (${speed(low)} to ${Number.isFinite(high) ? speed(high) : "∞"})`;
  const words = [
    `With what this row takes at ${count}, the run can be at most ${within(found.average)} times as fast as at ${sweep.name(base)}`,
    ...(found.largest === null ? [] : [`${within(found.largest)} by those who spend most in it`]),
  ];
  return element("section", { class: "bounds" }, [
    element("h3", { text: "How it bounds the speed-up" }),
    figure(chart, `${words.join("; ")}. ${stops(inflexion, sweep)}`),
  ]);
}

const MARKS = { falls: "still falls", flat: "flat from here", past: "least time" };

/** Where a time stops falling, in words. */
function stops(inflexion, sweep) {
  if (inflexion === null)
    return "Whether its time still falls is not known: it has too few samples, or there is one count only.";
  const { state, fastest, low, high } = inflexion;
  const name = (count) => sweep.name(count);
  if (state === "falls") return `Its time still falls at ${name(fastest)}.`;
  if (state === "flat") return `Its time is flat from ${name(fastest)} on: more processors do not shorten it.`;
  const between = low === fastest ? `below ${name(high)}` : `between ${name(low)} and ${name(high)}`;
  return `Its time is least at ${name(fastest)} (inflexion ${between}): with more processors it takes longer.`;
}
