// Small pictures: lines over processor counts, and bars.
import { svg } from "./element.js";
import { decimal } from "./number.js";

const [WIDTH, HEIGHT] = [460, 230];
const EDGE = { left: 52, right: 84, top: 14, bottom: 34 };

/** A round step so that few of them reach as far as `range`. */
export function roundStep(range, steps = 5) {
  const rough = Math.max(range, 1e-12) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

/**
 * Lines over processor counts: each of `lines` has a `name`, `points` of `{x, y, low, high}`, whether it is `dashed`, and the
 * colour's variable. Points with low and high have their interval as a band; what is above `most` is drawn at the upper edge. `ticks`
 * has names of counts that are none but their number, `marks` are counts with a text, `{x, text}`.
 */
export function lineChart({ title, lines, unit, digits = 1, most = Infinity, ticks = {}, marks = [] }) {
  const points = lines.flatMap((line) => line.points);
  const counts = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const highest = Math.max(0, ...points.map((p) => Math.min(most, p.high ?? p.y)));
  const lowest = Math.min(0, ...points.map((p) => p.low ?? p.y));
  const step = roundStep(highest - lowest || 1);
  const top = Math.ceil(highest / step) * step || step;
  const bottom = Math.floor(lowest / step) * step;
  const [first, last] = [Math.log2(counts[0]), Math.log2(counts.at(-1))];
  const x = (count) =>
    EDGE.left + (last > first ? (Math.log2(count) - first) / (last - first) : 0.5) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) =>
    HEIGHT - EDGE.bottom - ((Math.min(top, value) - bottom) / (top - bottom)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const parts = [];
  for (let value = bottom; value <= top + step / 2; value += step) {
    parts.push(
      svg("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value), stroke: "var(--line)" }),
    );
    parts.push(
      svg("text", {
        x: EDGE.left - 6,
        y: y(value) + 4,
        "text-anchor": "end",
        text: decimal(value, step < 1 ? (step < 0.1 ? 2 : 1) : 0),
      }),
    );
  }
  counts.forEach((count) =>
    parts.push(
      svg("text", {
        x: x(count),
        y: HEIGHT - EDGE.bottom + 16,
        "text-anchor": "middle",
        text: ticks[count] ?? String(count),
      }),
    ),
  );
  for (const mark of marks) {
    const isRight = x(mark.x) > WIDTH / 2;
    parts.push(
      svg("line", {
        x1: x(mark.x),
        x2: x(mark.x),
        y1: EDGE.top,
        y2: HEIGHT - EDGE.bottom,
        stroke: "var(--ink)",
        "stroke-dasharray": "2 3",
      }),
      svg("text", {
        x: x(mark.x) + (isRight ? -5 : 5),
        y: EDGE.top + 8,
        "text-anchor": isRight ? "end" : "start",
        text: mark.text,
      }),
    );
  }
  parts.push(
    svg("text", {
      x: (EDGE.left + WIDTH - EDGE.right) / 2,
      y: HEIGHT - 3,
      "text-anchor": "middle",
      text: `${Object.keys(ticks).length > 0 ? "processes x threads" : "processors"}${unit ? `; ${unit}` : ""}`,
    }),
  );
  const ends = endsOf(lines, y);
  lines.forEach((line, index) => parts.push(...drawn(line, x, y, ends[index], digits)));
  const words = [described(title, lines, digits), ...marks.map((mark) => `${mark.text}: ${mark.x}`)].join(". ");
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words }, parts);
}

/** Heights of the names at the lines' ends, so that none lies on another. */
function endsOf(lines, y) {
  const ends = lines.map((line) => y(line.points.at(-1).y));
  const order = [...ends.keys()].sort((a, b) => ends[a] - ends[b]);
  for (let i = 1; i < order.length; i++) ends[order[i]] = Math.max(ends[order[i]], ends[order[i - 1]] + 13);
  return ends;
}

function drawn({ name, points, dashed, colour }, x, y, end, digits) {
  const stroke = `var(${colour})`;
  const parts = [];
  if (points.some((p) => p.low !== undefined)) {
    const up = points.map((p) => `${x(p.x)},${y(p.high ?? p.y)}`);
    const down = points.map((p) => `${x(p.x)},${y(p.low ?? p.y)}`).reverse();
    parts.push(svg("polygon", { points: [...up, ...down].join(" "), fill: stroke, opacity: "0.15" }));
  }
  const way = points.map((p) => `${x(p.x)},${y(p.y)}`).join(" ");
  parts.push(
    svg("polyline", {
      points: way,
      fill: "none",
      stroke,
      "stroke-width": dashed ? 1 : 2,
      "stroke-dasharray": dashed ? "4 4" : null,
    }),
  );
  if (!dashed) {
    for (const p of points) {
      parts.push(
        svg("circle", { cx: x(p.x), cy: y(p.y), r: 3, fill: stroke }, [
          svg("title", { text: `${name} at ${p.x}: ${decimal(p.y, digits)}` }),
        ]),
      );
    }
  }
  parts.push(svg("text", { x: WIDTH - EDGE.right + 8, y: end + 4, text: name }));
  return parts;
}

function described(title, lines, digits) {
  const words = lines.map(
    ({ name, points }) => `${name}: ${points.map((p) => `${decimal(p.y, digits)} at ${p.x}`).join(", ")}`,
  );
  return `${title}. ${words.join(". ")}`;
}

/** Bars of `{name, value, width, title}` below their names, from zero to the right or, below zero, to the left; grey where `width`, the
 * half width of the interval, is larger than the value. */
export function barChart({ title, bars, unit }) {
  const [wide, bar, above] = [460, 36, 16];
  const reach = Math.max(1e-9, ...bars.map((b) => Math.abs(b.value) + (b.width ?? 0)));
  const negative = bars.some((b) => b.value < 0);
  const room = wide - 100;
  const zero = negative ? room / 3 : 0;
  const scale = (negative ? (2 * room) / 3 : room) / reach;
  const parts = bars.flatMap(({ name, value, width, title: hint }, index) => {
    const y = index * bar + above;
    const end = zero + Math.max(-zero, value * scale);
    const colour = Math.abs(value) <= (width ?? 0) ? "--dim" : value > 0 ? "--worse" : "--better";
    const words = `${value > 0 ? "+" : ""}${decimal(value)}${width === undefined ? "" : ` ± ${decimal(width)}`} ${unit}`;
    return [
      svg("text", { x: 0, y: y - 3, text: name }),
      svg(
        "rect",
        {
          x: Math.min(zero, end),
          y: y + 2,
          width: Math.max(1, Math.abs(end - zero)),
          height: 12,
          fill: `var(${colour})`,
          opacity: "0.75",
        },
        [svg("title", { text: hint ?? `${name}: ${words}` })],
      ),
      svg("text", { x: Math.max(zero, end) + 6, y: y + 12, text: words }),
    ];
  });
  const words = bars.map((b) => `${b.name} ${decimal(b.value)} ${unit}`).join(", ");
  return svg(
    "svg",
    { viewBox: `0 0 ${wide} ${bars.length * bar + 6}`, role: "img", "aria-label": `${title}: ${words}` },
    parts,
  );
}

/** A waterfall from 100 percent down: steps of `{name, change, left}` in points. */
export function waterfallChart({ title, steps, end }) {
  const [wide, tall, foot] = [460, 220, 44];
  const all = [
    { name: "perfect scaling", change: 0, left: 100, whole: true },
    ...steps,
    { name: end, change: 0, left: steps.at(-1)?.left ?? 100, whole: true },
  ];
  const most = Math.max(100, ...all.map((s) => Math.max(s.left, s.left - s.change)));
  const y = (value) => 16 + (1 - Math.max(0, value) / most) * (tall - foot - 16);
  const room = wide / all.length;
  const parts = all.flatMap(({ name, change, left, whole }, index) => {
    const [from, to] = whole ? [0, left] : [left - change, left];
    const colour = whole ? "--accent" : change < 0 ? "--worse" : "--better";
    const x = index * room + room * 0.15;
    const lines = name.split(" ");
    return [
      svg("rect", {
        x,
        y: y(Math.max(from, to)),
        width: room * 0.7,
        height: Math.max(1, Math.abs(y(from) - y(to))),
        fill: `var(${colour})`,
        opacity: "0.75",
      }),
      svg("text", {
        x: x + room * 0.35,
        y: y(Math.max(from, to)) - 4,
        "text-anchor": "middle",
        text: whole ? decimal(left) : `${change > 0 ? "+" : ""}${decimal(change)}`,
      }),
      ...lines.map((word, line) =>
        svg("text", { x: x + room * 0.35, y: tall - foot + 14 + line * 12, "text-anchor": "middle", text: word }),
      ),
    ];
  });
  const words = steps.map((s) => `${s.name} ${decimal(s.change)} points`).join(", ");
  return svg("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `${title}: ${words}` }, parts);
}
