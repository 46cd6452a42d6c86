import assert from "node:assert/strict";
import { test } from "node:test";
import { halfWidth, loss, repeated, uncertainty } from "../excess.js";
import { pValueOf, qValues, t95 } from "../student.js";
import { actionOf } from "../keys.js";
import { linkOf, stateOf } from "../link.js";
import { decimal, parted, place, quantity, shortened, signed, visible } from "../number.js";
import { histogramOf } from "../distribution.js";
import { boxes } from "../flame.js";
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
  assert.equal(actionOf({ key: "h", target: { tagName: "INPUT" } }), null);
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
