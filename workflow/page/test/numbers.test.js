import assert from "node:assert/strict";
import { test } from "node:test";
import { halfWidth, loss, repeated, uncertainty } from "../excess.js";
import { bound, inflexion, sameWork, times } from "../bounds.js";
import { Order } from "../order.js";
import { pValueOf, qValues, quantileOf, t95 } from "../student.js";
import { actionOf } from "../keys.js";
import { linkOf, stateOf } from "../link.js";
import { decimal, parted, place, quantity, shortened, signed, visible } from "../number.js";
import { histogramOf, stripHeights } from "../distribution.js";
import { beside, boxes } from "../flame.js";
import { coloured } from "../source.js";
import { Formula } from "../formula.js";
import { columnsOf } from "../heat.js";
import { roundStep } from "../chart.js";

const close = (found, wanted, by = 1e-9) => assert.ok(Math.abs(found - wanted) <= by, `${found} instead of ${wanted}`);

test("quantiles match the tables", () => {
  for (const [freedom, wanted] of [
    [1, 12.706],
    [2, 4.303],
    [4, 2.776],
    [10, 2.228],
    [30, 2.042],
    [Infinity, 1.96],
  ])
    close(t95(freedom), wanted, 1e-3);
  close(pValueOf(2.776, 4), 0.05, 1e-4);
  close(pValueOf(1.959964, Infinity), 0.05, 1e-5);
  close(quantileOf(0.05, 1), 12.706, 1e-3);
  close(quantileOf(0.01, 4), 4.604, 1e-3);
});

test("the order of few and many values is that of sorting, wherever it is looked at first", () => {
  for (const count of [10, 129, 5000]) {
    const values = Float64Array.from({ length: count }, (_, i) => ((i * 7919) % 101) - 50);
    [values[3], values[4], values[5], values[6]] = [-0, 0, Infinity, -1e-300];
    for (const [descending, sign] of [
      [true, -1],
      [false, 1],
    ]) {
      const wanted = [...values.keys()].sort((a, b) => sign * (values[a] - values[b]) || a - b);
      const order = new Order(values, descending);
      const steps = Array.from({ length: count }, (_, i) => (i * 3571) % count);
      for (const index of [...new Set([count >> 1, ...steps, ...values.keys()])])
        assert.equal(order.at(index), wanted[index]);
      const ranks = new Order(values, descending);
      for (const index of [...new Set([...steps, ...values.keys()])]) assert.equal(ranks.rank(wanted[index]), index);
    }
  }
});

test("what is no number comes after all that is", () => {
  const order = new Order([1, NaN, 3, -Infinity]);
  assert.deepEqual([0, 1, 2, 3].map((index) => order.at(index)), [2, 0, 1, 3]);
});

test("equal values, and those that are in order or the other way round, are ordered as fast as others", () => {
  for (const valueOf of [() => 0, (i) => i, (i) => -i, (i) => i % 2]) {
    const order = new Order(Float64Array.from({ length: 300000 }, (_, i) => valueOf(i)));
    const start = performance.now();
    for (let index = 0; index < order.length; index += 100) order.at(index);
    assert.ok(performance.now() - start < 5000);
  }
});

test("a row bounds the speed-up as the models crate has it", () => {
  // The worked examples of models/src: pooled scatter, states of a time, bounds of a part.
  const pooled = times([
    { processors: 1, values: [9, 11], known: 0 },
    { processors: 2, values: [4.5, 5.5], known: 0 },
  ]);
  pooled.points.forEach(({ error }, i) => close(error, [1, 0.5][i]));
  assert.equal(pooled.freedom, 2);
  const of = (pairs, noise) =>
    inflexion(
      times(pairs.map(([processors, t]) => ({ processors, values: [t * (1 - noise), t, t * (1 + noise)], known: 0 }))),
    );
  const falling = [
    [1, 100],
    [2, 51],
    [4, 26],
    [8, 14],
  ];
  assert.deepEqual(of(falling, 0.02), { state: "falls", fastest: 8, low: 4, high: Infinity });
  const flat = [
    [1, 100],
    [2, 51],
    [4, 40],
    [8, 39.8],
    [16, 40.2],
  ];
  assert.deepEqual(of(flat, 0.02), { state: "flat", fastest: 4, low: 2, high: Infinity });
  const rising = [
    [1, 99],
    [16, 8],
    [32, 5.7],
    [64, 5.8],
    [128, 8.2],
  ];
  assert.deepEqual(of(rising, 0.02), { state: "past", fastest: 32, low: 16, high: 64 });
  const late = [
    [1, 100],
    [2, 51],
    [4, 40],
    [8, 41.2],
  ];
  assert.deepEqual([of(late, 0.005).state, of(late, 0.05).state], ["past", "flat"]);
  assert.equal(of([[4, 1]], 0.01), null);
  const exact = (mean) => ({ points: [{ mean, error: 0 }], freedom: 0 });
  close(bound(exact(5589.84), 0, exact(3025.44 / 64), 0).value, 118.247, 1e-3);
  close(bound(exact(100), 0, exact(5), 0, 2).value, 10);
  assert.equal(bound(exact(1), 0, exact(0), 0).value, Infinity);
});

test("times are those of a processor for the same work", () => {
  // As in workflow/src/bounds/series.rs.
  const curve = [
    { processors: 2, values: [8, 12] },
    { processors: 4, values: [40] },
  ];
  const wholes = [
    { processors: 2, values: [100, 100] },
    { processors: 4, values: [80] },
  ];
  const means = (isWeak) => sameWork(curve, wholes, 0.1, isWeak).points.map(({ mean }) => mean);
  assert.deepEqual(
    [means(false), means(true)],
    [
      [5, 10],
      [5, 5],
    ],
  );
  // 0.1 s · 40 s · (1 − 40/80) over 4² processors is less than the pooled scatter, (1/5)²·2 · 10².
  close(sameWork(curve, wholes, 0.1, false).points[1].error, Math.sqrt(0.08 * 100));
  close(sameWork(curve, wholes, 1e3, false).points[1].error, Math.sqrt(1250));
});

test("dots of a strip that would lie on each other lie apart", () => {
  const heights = stripHeights([0.5, 0.5, 0.5, 0.9], 100);
  assert.equal(new Set(heights.slice(0, 3)).size, 3);
  assert.deepEqual([heights[0], heights[3]], [0.5, 0.5]);
  assert.ok(heights.every((height) => height >= 0 && height < 1));
});

test("keys go from box to box", () => {
  const all = [
    { row: 0, depth: 0, x: 0, width: 100 },
    { row: 1, depth: 1, x: 0, width: 60 },
    { row: 2, depth: 1, x: 60, width: 30 },
    { row: 3, depth: 2, x: 60, width: 5 },
    { row: 4, depth: 2, x: 65, width: 20 },
  ];
  const steps = [
    [0, "down", 1],
    [1, "right", 2],
    [2, "down", 4],
    [4, "left", 3],
    [4, "up", 2],
    [2, "left", 1],
    [0, "up", null],
    [4, "right", null],
    [9, "down", 0],
  ];
  for (const [row, direction, wanted] of steps)
    assert.equal(beside(all, row, direction), wanted, `${row} ${direction}`);
});

test("intervals are those of Welch's test", () => {
  // The worked example of workflow/src/scoring/interval.rs.
  const unsure = uncertainty({ mean: 10, variance: 0.01, count: 3 }, { mean: 12, variance: 0.04, count: 3 });
  close(halfWidth(unsure), 0.4153, 1e-3);
  close(pValueOf(2 / unsure.error, unsure.freedom), 0.00071, 2e-4);
  assert.equal(repeated([2, 2, 2], 0.005, 2, 4).variance, 0.005);
  assert.deepEqual(
    qValues([0.01, 0.04, 0.03, 0.5]).map((q) => q.toFixed(4)),
    ["0.0400", "0.0533", "0.0533", "0.5000"],
  );
});

test("excess is what scaling would not have done", () => {
  // From 4 to 16 processes a part goes from 20 to 12 s of each, less the 8 s that are expected, in a run of 40 s.
  const of = { period: 0, wholeBase: 4 * 100, wholeAt: 16 * 40, same: false };
  const found = loss({ base: [48], expected: [48], squared: 48, at: [192] }, of);
  close(found.excess, 0.225);
  assert.ok(found.isTold && found.pValue === 0);
  assert.ok(!loss({ base: [1], expected: [1], squared: 1, at: [1] }, of).isTold);
});

test("numbers read well", () => {
  assert.deepEqual(
    [decimal(-0.04), decimal(-1.25), signed(2), signed(-2), decimal(null)],
    ["0.0", "−1.3", "+2.0", "−2.0", ""],
  );
  assert.deepEqual(
    [quantity(1.5e9, "nanoseconds"), quantity(12, "count"), quantity(0, "nanoseconds")],
    ["1.500 s", "12", "0"],
  );
  assert.equal(place("/a/b.c", 3), "b.c:3");
  assert.equal(visible("a\u202eb\u0000"), "a\\u{202e}b\\u{0}");
  assert.equal(shortened("x".repeat(10000), 20).length, 20);
  assert.deepEqual([roundStep(100), roundStep(0.7)], [20, 0.2]);
});

test("links come back", () => {
  const state = { view: "flat", row: "m1,f2,s3", top: "ä&=#" };
  assert.deepEqual(stateOf(`#${linkOf({ ...state, none: null })}`), state);
  assert.deepEqual(stateOf("#%zz=1&row=%"), {});
});

test("keys belong to the table, but not what is typed into fields", () => {
  assert.equal(actionOf({ key: "h" }), "hotPath");
  assert.equal(actionOf({ key: "3" }), "view3");
  assert.equal(actionOf({ key: "h", ctrlKey: true }), null);
  assert.equal(actionOf({ key: "h", target: { tagName: "INPUT", type: "search" } }), null);
  assert.equal(actionOf({ key: "h", target: { tagName: "INPUT", type: "checkbox" } }), "hotPath");
});

test("histograms hold all values", () => {
  const { counts } = histogramOf([1, 2, 2, 3, 10]);
  assert.equal(
    counts.reduce((a, b) => a + b, 0),
    5,
  );
  assert.deepEqual(histogramOf([4, 4]).counts, [2]);
});

test("boxes of a flame graph fit into those above", () => {
  const children = { 0: [1, 2], 1: [3], 2: [], 3: [] };
  const value = (row) => [10, 8, 4, -1][row];
  const found = boxes({ children: (row) => children[row] }, 0, value, 120);
  assert.deepEqual(
    found.map((b) => [b.row, b.depth, b.x, b.width]),
    [
      [0, 0, 0, 120],
      [2, 1, 80, 40],
      [1, 1, 0, 80],
    ],
  );
});

test("code is coloured lightly and keeps its text", () => {
  const line = 'for (int i = 0; i < 10; i++) puts("a//b"); // end';
  const parts = coloured(line, "x.c");
  assert.equal(parts.map(([, text]) => text).join(""), line);
  assert.deepEqual(
    parts.filter(([kind]) => kind === "string" || kind === "comment").map(([, text]) => text),
    ['"a//b"', "// end"],
  );
  assert.deepEqual(coloured("x <b>", "notes.txt"), [["", "x <b>"]]);
});

test("names part before their last word", () => {
  assert.deepEqual(parted("std::map<a::b, c>::insert"), ["std::map<a::b, c>::", "insert"]);
  assert.deepEqual(parted("<&dyn core::Fn<()> as core::FnOnce<()>>::call_once"), [
    "<&dyn core::Fn<()> as core::FnOnce<()>>::",
    "call_once",
  ]);
  assert.deepEqual(parted("solve_"), ["", "solve_"]);
});

test("formulas are those of falloff view", () => {
  const values = { "cache-misses": 3, a: 8, b: 0 };
  const of = (text) => new Formula(text, Object.keys(values)).of((name) => values[name]);
  assert.deepEqual(
    ["100*cache-misses/a", "a - 2^3^0*-1", "-a^2", "max(1, a, 2)+log2(a)", "2k", "sqrt(a*2)"].map(of),
    [37.5, 10, -64, 11, 2000, 4],
  );
  assert.equal(of("a/b"), null);
  for (const [text, wrong] of [
    ["a+", /missing at the end/],
    ["c", /there is no "c"/],
    ["(a", /a \) is missing/],
    ["a ? b", /means nothing/],
    ["f(a)", /no function f/],
    ["1x", /means nothing/],
    ["a b", /one of/],
  ]) {
    assert.throws(() => of(text), wrong, text);
  }
});

test("many ranks share columns of a picture", () => {
  assert.deepEqual(columnsOf(3, 10), [
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  assert.deepEqual(columnsOf(10, 4), [
    [0, 2],
    [2, 5],
    [5, 7],
    [7, 10],
  ]);
});
