// Curves over the processor counts.
import { lineChart } from "./chart.js";
import { element } from "./element.js";
import { halfWidth, mean, repeated, uncertainty } from "./excess.js";

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
  return lineChart({ title: "Speed-up", lines: [ideal, seen], unit: `speed-up, with ${base} at ${base}`, digits: 2 });
}

/** The efficiency by the metric and by wall time. */
export function efficiency({ score, sweep, base }) {
  const work = score.scales.map((s) => ({
    x: s.processors,
    y: s.work_efficiency_percent,
    low: s.work_efficiency_percent - s.excess_half_width_percent,
    high: s.work_efficiency_percent + s.excess_half_width_percent,
  }));
  const wall = speedups(sweep, base).map((p) => ({ x: p.x, y: (100 * p.y) / p.x }));
  const ideal = sweep.counts.map((n) => ({ x: n, y: 100 }));
  return lineChart({
    title: "Efficiency",
    unit: "percent",
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
