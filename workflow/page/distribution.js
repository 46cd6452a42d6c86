// How a row's cost is spread over ranks or threads, as a picture.
import { element, svg } from "./element.js";
import { decimal, quantity, visible } from "./number.js";
import { roundStep } from "./chart.js";

const MODES = { "by number": bars, strip, sorted, histogram, "by host": hosts };
const [WIDE, TALL, LEFT, FOOT] = [460, 150, 76, 20];

/** The picture with its choice of modes, which stays as it is from row to row. */
export class Distribution {
  #mode = "by number";

  /** The part of the pane for a row. */
  of(spread, view, row, unit) {
    const values = [...spread.of(view, row)];
    if (values.length < 2) return null;
    const room = element("div");
    const buttons = Object.keys(MODES).map((name) =>
      element("button", { type: "button", text: name, on: { click: () => show(name) } }),
    );
    const show = (name) => {
      this.#mode = name;
      buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.textContent === name)));
      room.replaceChildren(MODES[name](values, spread, unit));
    };
    show(this.#mode);
    const what = spread.labels[0]?.startsWith("rank") ? "ranks" : "threads";
    return element("section", {}, [
      element("h3", {
        text: `Over ${values.length} ${what}${spread.processors === null ? "" : ` at ${spread.processors}`}`,
      }),
      element("div", { class: "modes" }, buttons),
      element("figure", {}, [room, element("figcaption", { text: balance(values, spread, unit) })]),
    ]);
  }
}

/** Least, mean and most, in words. */
function balance(values, spread, unit) {
  const [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const middle = values.reduce((a, b) => a + b, 0) / values.length;
  const who = visible(spread.label(values.indexOf(most)));
  const uneven = middle > 0 ? `; most over mean ${decimal(most / middle, 2)}` : "";
  return `least ${quantity(least, unit)}, mean ${quantity(middle, unit)}, most ${quantity(most, unit)} (${who})${uneven}`;
}

/** Upright bars in one path, with a scale at the left. */
function upright(values, unit, words, below) {
  const most = values.reduce((a, b) => Math.max(a, b), 0) || 1;
  const wide = (WIDE - LEFT) / values.length;
  const tall = TALL - FOOT - 8;
  const gap = wide > 3 ? 1 : 0;
  const bar = (value, i) =>
    `M${LEFT + i * wide},${TALL - FOOT}v${-(Math.max(0, value) / most) * tall}h${wide - gap}V${TALL - FOOT}z`;
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const y = TALL - FOOT - (mean / most) * tall;
  return svg("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", "aria-label": words }, [
    svg("path", { d: values.map(bar).join(""), fill: "var(--accent)", opacity: "0.7" }),
    svg("line", { x1: LEFT, x2: WIDE, y1: y, y2: y, stroke: "var(--ink)", "stroke-dasharray": "4 3" }, [
      svg("title", { text: "mean" }),
    ]),
    svg("text", {
      x: LEFT - 4,
      y: 16,
      "text-anchor": "end",
      text: unit === null ? String(most) : quantity(most, unit),
    }),
    svg("text", { x: LEFT - 4, y: TALL - FOOT, "text-anchor": "end", text: "0" }),
    ...below.map(([at, text, anchor]) =>
      svg("text", { x: LEFT + at * (WIDE - LEFT), y: TALL - 5, "text-anchor": anchor, text }),
    ),
  ]);
}

function bars(values, spread, unit) {
  const ends = [
    [0, visible(spread.label(0)), "start"],
    [1, visible(spread.label(values.length - 1)), "end"],
  ];
  return upright(values, unit, "cost of each rank or thread, by number", ends);
}

/**
 * Heights of the dots of a strip, from 0 to 1: dots that would lie on each other are spread evenly over the height, as the multiples of the
 * golden section are. `values` are places in `width` dots.
 */
export function stripHeights(values, width) {
  const taken = new Map();
  return values.map((value) => {
    const cell = Math.round(value * width);
    const before = taken.get(cell) ?? 0;
    taken.set(cell, before + 1);
    return (0.5 + before * 0.6180339887) % 1;
  });
}

/** A dot for each rank or thread, from the least to the most to the right. */
function strip(values, spread, unit) {
  const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const place = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  const x = (value) => 8 + place(value) * (WIDE - 16);
  const tall = TALL - FOOT - 24;
  const heights = stripHeights(values.map(place), (WIDE - 16) / 6);
  const mean = x(values.reduce((a, b) => a + b, 0) / values.length);
  const dot = (value, who) =>
    svg("circle", { cx: x(value), cy: 12 + heights[who] * tall, r: 3, fill: "var(--accent)", opacity: "0.6" }, [
      svg("title", { text: `${visible(spread.label(who))}: ${quantity(value, unit)}` }),
    ]);
  const words = "a dot for each rank or thread, by its cost";
  return svg("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", "aria-label": words }, [
    svg("line", { x1: 0, x2: WIDE, y1: TALL - FOOT, y2: TALL - FOOT, stroke: "var(--line)" }),
    svg("line", { x1: mean, x2: mean, y1: 4, y2: TALL - FOOT, stroke: "var(--ink)", "stroke-dasharray": "4 3" }, [
      svg("title", { text: "mean" }),
    ]),
    ...values.map(dot),
    svg("text", { x: 0, y: TALL - 5, text: quantity(low, unit) }),
    svg("text", { x: WIDE, y: TALL - 5, "text-anchor": "end", text: quantity(high, unit) }),
  ]);
}

function sorted(values, _spread, unit) {
  const falling = [...values].sort((a, b) => b - a);
  return upright(falling, unit, "cost of each rank or thread, largest first", [
    [0, "largest", "start"],
    [1, "smallest", "end"],
  ]);
}

/** How many lie in each of some equal ranges. */
export function histogramOf(values, most = 20) {
  const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const step = high > low ? roundStep(high - low, Math.min(most, Math.ceil(Math.sqrt(values.length)) + 1)) : 1;
  const from = Math.floor(low / step) * step;
  const counts = new Array(Math.floor((high - from) / step) + 1).fill(0);
  values.forEach((v) => counts[Math.min(counts.length - 1, Math.floor((v - from) / step))]++);
  return { from, step, counts };
}

function histogram(values, _spread, unit) {
  const { from, step, counts } = histogramOf(values);
  return upright(counts, null, "how many ranks or threads have how much", [
    [0, quantity(from, unit), "start"],
    [1, quantity(from + counts.length * step, unit), "end"],
  ]);
}

function hosts(values, spread, unit) {
  const sums = new Map();
  values.forEach((value, who) => {
    const host = spread.hosts[who] || "unknown host";
    const [sum, count] = sums.get(host) ?? [0, 0];
    sums.set(host, [sum + value, count + 1]);
  });
  const lines = [...sums].map(([host, [sum, count]]) =>
    element("tr", {}, [
      element("td", { text: visible(host) }),
      element("td", { text: String(count) }),
      element("td", { text: quantity(sum, unit) }),
      element("td", { text: quantity(sum / count, unit) }),
    ]),
  );
  const heads = ["host", "how many", "sum", "mean"].map((text) => element("th", { scope: "col", text }));
  return element("table", { class: "numbers" }, [
    element("thead", {}, [element("tr", {}, heads)]),
    element("tbody", {}, lines),
  ]);
}
