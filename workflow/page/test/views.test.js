import assert from "node:assert/strict";
import { test } from "node:test";
import { CallersView } from "../callers_view.js";
import { Column } from "../column.js";
import { ContextView } from "../context_view.js";
import { csv } from "../csv.js";
import { FlatView } from "../flat_view.js";
import { Filter } from "../filter.js";
import { Functions } from "../grouped_view.js";
import { Listing } from "../listing.js";
import { Search } from "../search.js";
import { presence, Series } from "../series.js";
import { chosenOf, leftOut, spreadOf, withinSection } from "../spread.js";
import { Tree } from "../tree.js";
import { Data } from "../unpack.js";
import { COSTS, packed, RECURSIVE, treeBlocks } from "./synthetic.js";

const tree = new Tree(new Data(packed({}, treeBlocks(RECURSIVE))));
const series = new Series(tree, Float64Array.from(COSTS));
const present = presence(tree, [series]);
const functions = new Functions(tree);
const callers = new CallersView(tree, present, functions);
const inclusive = new Column({
  id: "t.incl",
  title: "t",
  unit: "count",
  whole: 31,
  value: (view, row) => view.inclusive(row, series),
});

/** All that a search finds, the largest first. */
const foundBy = (search) => Array.from({ length: search.length }, () => search.step(1));

/** All rows below a row: name, inclusive, own, and what is below. */
function outline(view, row = view.root) {
  return Array.from(view.children(row), (child) => {
    const { name, callLine } = view.describe(child);
    const below = outline(view, child);
    return [
      callLine === null ? name : `${name}@${callLine}`,
      view.inclusive(child, series),
      view.own(child, series),
      ...(below.length ? [below] : []),
    ];
  });
}

test("callers: recursion counts once, and inlined functions are functions", () => {
  assert.deepEqual(outline(new CallersView(tree, present, functions)), [
    ["main", 15, 0],
    [
      "f",
      7,
      5,
      [
        ["main@2", 7, 1],
        ["g@21", 4, 4, [["f@12", 4, 4, [["main@2", 4, 4]]]]],
      ],
    ],
    [
      "g",
      14,
      10,
      [
        ["f@12", 6, 2, [["main@2", 6, 2]]],
        ["main@3", 8, 8],
      ],
    ],
    ["[unsampled]", 16, 16],
  ]);
});

test("flat: module, file, function, loop, line", () => {
  assert.deepEqual(outline(new FlatView(tree, present, callers)), [
    [
      "app",
      15,
      15,
      [
        [
          "a.c",
          15,
          5,
          [
            ["main", 15, 0],
            [
              "f",
              7,
              5,
              [
                ["a.c:11", 1, 1],
                ["loop at a.c:13", 4, 4, [["a.c:14", 4, 4]]],
              ],
            ],
          ],
        ],
        ["b.c", 14, 10, [["g", 14, 10, [["b.c:21", 8, 8]]]]],
      ],
    ],
    ["[unsampled]", 16, 16],
  ]);
});

test("rows are found again by their key in every view", () => {
  for (const view of [
    new ContextView(tree, present),
    new CallersView(tree, present, functions),
    new FlatView(tree, present, callers),
  ]) {
    const rows = [view.root];
    for (const row of rows) rows.push(...view.children(row));
    assert.ok(rows.length > 8, view.kind);
    rows.forEach((row) => assert.equal(view.find(view.key(row)), row, view.kind));
    assert.equal(view.find("no such row"), null);
  }
});

test("a listing opens, closes, sorts, zooms, flattens and finds the hot path", () => {
  const view = new ContextView(tree, present);
  const listing = new Listing(view, [inclusive]);
  assert.deepEqual(listing.rows, [0, 10, 1]);
  listing.toggle(1);
  assert.deepEqual(listing.rows, [0, 10, 1, 8, 2]);
  assert.deepEqual(
    listing.slice(9).map(({ depth }) => depth),
    [0, 1, 1, 2, 2],
  );
  listing.sortBy(inclusive);
  assert.deepEqual(listing.rows, [0, 1, 2, 8, 10]);
  listing.close(1);
  assert.deepEqual(listing.rows, [0, 1, 10]);
  assert.deepEqual(listing.hotPath(1), [8, 9]);
  assert.equal(listing.reveal(7), 7);
  listing.zoom(2);
  assert.equal(listing.rows[0], 2);
  listing.reveal(10);
  assert.equal(listing.top, 0);
  listing.flatten(1);
  assert.ok(!listing.rows.includes(0));
  listing.threshold = 100 * (9 / 31);
  listing.flatten(-1);
  listing.refresh();
  assert.ok(listing.rows.includes(10) && !listing.rows.includes(8));
});

test("a listing is the tree with what is open, whatever is opened, closed and looked at before", () => {
  // A made-up tree of rows, numbered in pre-order; values repeat.
  let state = 1;
  const random = (below) => ((state = (state * 48271) % 2147483647), state % below);
  const parents = [null];
  for (let row = 1; row < 1500; row++) {
    let above = row - 1;
    for (let up = random(4); up > 0 && above > 0; up--) above = parents[above];
    parents.push(above);
  }
  const below = parents.map(() => []);
  parents.forEach((above, row) => row > 0 && below[above].push(row));
  const view = {
    root: 0,
    children: (row) => below[row],
    hasChildren: (row) => below[row].length > 0,
    parent: (row) => parents[row],
    describe: (row) => ({ name: `r${row % 17}` }),
  };
  const column = new Column({ id: "v", title: "v", unit: "count", whole: 100, value: (_, row) => (row * 31) % 23 });
  const listing = new Listing(view, [column]);
  const walked = (row, depth) => {
    const found = [[row, depth]];
    if (!listing.open.has(row)) return found;
    const sign = listing.descending ? 1 : -1;
    const byValue = (a, b) => sign * (column.value(view, b) - column.value(view, a)) || a - b;
    const isLarge = (child) => listing.threshold === 0 || column.percent(view, child) >= listing.threshold;
    for (const child of below[row].filter(isLarge).sort(byValue)) found.push(...walked(child, depth + 1));
    return found;
  };
  for (let step = 0; step < 300; step++) {
    const { row } = listing.at(random(listing.length));
    if (step % 50 === 49) listing.sortBy(column);
    else if (step % 70 === 69) listing.reveal(random(1500));
    else if (step % 90 === 89) ((listing.threshold = random(3)), listing.refresh());
    else listing.toggle(row);
    const wanted = walked(listing.top, 0);
    assert.equal(listing.length, wanted.length);
    assert.deepEqual(
      listing.slice(Infinity).map((one) => [one.row, one.depth]),
      wanted,
    );
    const index = random(wanted.length);
    assert.equal(listing.indexOf(wanted[index][0]), index);
  }
});

test("a path of a hundred thousand calls is listed whole", () => {
  const count = 100000;
  const rows = Array.from({ length: count }, (_, i) => [i + 1, "function", "f", { module: "app", file: "a.c" }]);
  const deep = new Tree(new Data(packed({}, treeBlocks(rows))));
  const ones = new Series(deep, new Float64Array(count + 1).fill(1));
  const view = new ContextView(deep, presence(deep, [ones]));
  const sum = { series: ones, side: "inclusive", times: 1 };
  const listing = new Listing(view, [new Column({ id: "t", title: "t", unit: "count", whole: count, sum })]);
  for (let row = 1; row <= count; row++) listing.open.add(row);
  listing.rebuild();
  assert.equal(listing.length, count + 1);
  assert.deepEqual(listing.at(count), { row: count, depth: count, fork: 0 });
  assert.equal(listing.indexOf(count), count);
});

test("a search gives the largest first, and says what is wrong with a pattern", () => {
  const view = new ContextView(tree, present);
  const search = new Search(view, tree, "^[fg]$", inclusive);
  assert.deepEqual(foundBy(search), [8, 2, 4, 5]);
  assert.deepEqual([search.step(1), search.words, search.step(-1)], [8, "1 of 4", 5]);
  assert.match(new Search(view, tree, "(", inclusive).words, /not a regular expression/);
  assert.equal(new Search(view, tree, "nothing", inclusive).words, "nothing matches");
});

test("CSV is quoted", () => {
  const column = new Column({ id: "x", title: 'a,"b"', unit: "count", value: () => 1.5 });
  const lines = csv(new Listing(new ContextView(tree, present), [column]), [column]).split("\r\n");
  assert.equal(lines[0], 'depth,kind,name,module,file,line,call_line,"a,""b"" count"');
  assert.equal(lines[1], "0,root,<program>,,,,,1.5");
});

test("ranks have their own part of a row, and some of them can be looked at", () => {
  const counts = RECURSIVE.map(() => 0);
  const blocks = {
    ...treeBlocks(RECURSIVE),
    "s.counts": ["natural", [0, ...counts]],
    "s.participants": ["natural", [0, 1, 1]],
    "s.values": ["whole", [2, 4, 8]],
  };
  [blocks["s.counts"][1][4], blocks["s.counts"][1][7], blocks["s.counts"][1][9]] = [1, 1, 1];
  const spreads = [
    { block: "s", divisor: 2, labels: ["rank 5", "rank 7"], hosts: ["", ""], processors: null, left_out: false },
  ];
  const spread = spreadOf(new Data(packed({ spreads }, blocks)));
  assert.deepEqual([...spread.of(new ContextView(tree, present), 2)], [1, 2]);

  assert.deepEqual([...spread.of(callers, callers.children(0)[2])], [1, 6]);
  assert.equal(spread.imbalance(callers, callers.children(0)[2]), 100 * (12 / 7 - 1));
  const chosen = chosenOf("6-9", spread);
  assert.deepEqual(chosen, [false, true]);
  assert.deepEqual(
    [...spread.exclusive(chosen)].filter((value) => value > 0),
    [4, 8],
  );
});

test("a search finds functions in every view", () => {
  const names = (view) => foundBy(new Search(view, tree, "^g$|unsampled", inclusive)).map((row) => view.describe(row).name);
  assert.deepEqual(names(new CallersView(tree, present, functions)), ["[unsampled]", "g"]);
  assert.deepEqual(names(new FlatView(tree, present, callers)), ["[unsampled]", "g"]);
});

test("a section holds those within it", () => {
  assert.deepEqual(withinSection("main > a", { labels: ["main", "main > a", "main > a > b", "main > ab"] }), [
    false,
    true,
    true,
    false,
  ]);
});

test("a filter counts the code of a module, or some ranks, or a section", () => {
  const data = new Data(packed({ spreads: [], sections: [] }, treeBlocks(RECURSIVE)));
  const model = { tree, data, kind: "profile", spread: null, filtered: (keeps, part) => ({ keeps, part }) };
  const all = new Filter();
  assert.equal(all.of(model), model);
  assert.equal(all.with({ ranks: "0-3" }).of(model), model);
  const { keeps, part } = all.with({ module: "app" }).of(model);
  assert.equal(part, null);
  // All but the root and [unsampled], which are in no module.
  assert.deepEqual([...keeps], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
  assert.deepEqual(
    { ...all.with({ module: "app" }).with({ module: " " }) },
    { module: null, ranks: null, section: null },
  );
  assert.equal(new Filter({ module: "another" }).of(model), model);
});

test("what is left out is said", () => {
  const head = {
    spreads: [
      { processors: 8, left_out: true },
      { processors: 4, left_out: false },
    ],
    sections: [],
  };
  assert.deepEqual(leftOut({ head }), [
    "What each rank or thread at 8 has is not in this page: there are more than four million values.",
  ]);
});

test("many contexts are grouped as few are", () => {
  // A chain of calls of many functions, each of which calls the first again.
  const count = 6000;
  const rows = Array.from({ length: count }, (_, i) => [
    i + 1,
    "function",
    i % 2 ? "f" : `g${i}`,
    { module: "app", file: i % 100 === 1 ? "b.c" : "a.c" },
  ]);
  const large = new Tree(new Data(packed({}, treeBlocks(rows))));
  const ones = new Series(large, new Float64Array(count + 1).fill(1));
  const view = new CallersView(large, presence(large, [ones]), new Functions(large));
  const first = view.children(0);
  assert.equal(first.length, count / 2 + 2);
  const f = first.find((row) => view.describe(row).name === "f" && view.describe(row).file === "a.c");
  assert.deepEqual(
    [view.inclusive(f, ones), view.own(f, ones), view.contexts(f).length],
    [count - 3, count / 2 - count / 100, 1],
  );
  // In the flat view functions have the same values, those of the file that has nearly all and those of the other.
  const flat = new FlatView(large, view.present, view);
  const values = (of, rows) =>
    Array.from(rows, (row) => [of.describe(row).name, of.inclusive(row, ones), of.own(row, ones)]).sort();
  const [app] = flat.children(0);
  const files = [...flat.children(app)];
  assert.deepEqual(values(flat, files.flatMap((file) => [...flat.children(file)])), values(view, first));
  const sums = files.map((file) => [...flat.below(file, ones, "own")].reduce((a, b) => a + b));
  assert.deepEqual(sums, [count - count / 100, count / 100]);
  const listing = new Listing(view, [
    new Column({ id: "t", title: "t", unit: "count", value: (of, row) => of.inclusive(row, ones) }),
  ]);
  assert.deepEqual(
    listing.rows.slice(1, 4).map((row) => view.describe(row).name),
    ["g0", "f", "g2"],
  );
});
