import assert from "node:assert/strict";
import { test } from "node:test";
import { moment, Span } from "../span.js";
import { TimelineData } from "../timeline_data.js";
import { boxesOf, COMPUTING, distance, inCall, meetingsIn, messagesIn, waitingIn } from "../timeline_marks.js";
import { betweenWords, callWords, messageLine } from "../timeline_words.js";
import { Tree } from "../tree.js";
import { Data } from "../unpack.js";
import { packed, treeBlocks } from "./synthetic.js";

const natural = (...numbers) => ["natural", numbers];
const whole = (...numbers) => ["whole", numbers];

/** Rank 0 computes 100 ns and sends; rank 1, of which a call before is known, waits for that; then both meet. */
const HEAD = {
  timeline: {
    from_ns: 0,
    until_ns: 140,
    threads: [
      [0, 0],
      [1, 0],
      [1, 1],
    ],
    lanes: [0, 1],
    functions: ["MPI_Send", "MPI_Recv", "MPI_Barrier"],
    kinds: ["point-to-point", "collective", "one-sided"],
    patterns: ["late sender", "wait at barrier"],
    operations: ["Barrier", "AllReduce"],
    transfers: ["Put"],
  },
};
const BLOCKS = {
  ...treeBlocks([
    [1, "function", "main", { module: "app" }],
    [2, "function", "MPI_Recv", { module: "libmpi" }],
  ]),
  "timeline.calls": natural(2, 3),
  "timeline.before": natural(0, 1),
  "timeline.after": natural(0, 141),
  "timeline.function": natural(0, 2, 1, 2, 0),
  "timeline.context": natural(1, 1, 2, 1, 1),
  "timeline.gap": whole(100, 0, 10, 0, 2),
  "timeline.length": natural(10, 20, 105, 20, 1),
  "timeline.kind": natural(0, 1, 0, 1, 2),
  "timeline.wait": natural(0, 5, 90, 0, 0),
  "timeline.pattern": natural(0, 2, 1, 0, 0),
  "timeline.sent": natural(1, 0),
  "timeline.posted": natural(3, 3),
  "timeline.received": natural(3, 3),
  "timeline.sender": natural(0, 2),
  "timeline.receiver": natural(1, 1),
  "timeline.departure": whole(100, -90),
  "timeline.way": whole(15, 105),
  "timeline.tag": whole(7, -1),
  "timeline.bytes": natural(64, 1),
  "timeline.operation": natural(1),
  "timeline.root": natural(0),
  "timeline.size": natural(2),
  "timeline.members": natural(2),
  "timeline.member": natural(2, 4),
  "timeline.given": natural(0, 0),
  "timeline.got": natural(0, 0),
  "timeline.transfer": natural(1),
  "timeline.reaching": natural(5),
  "timeline.target": natural(0),
  "timeline.reached": natural(512),
};
const data = new Data(packed(HEAD, BLOCKS));
const timeline = new TimelineData(data);
const tree = new Tree(data);
const [first, second] = timeline.lanes;

test("a span is stretched and moved within the whole", () => {
  const all = new Span(0, 1000);
  const part = new Span(400, 600);
  assert.deepEqual(part.stretched(0.5, 500, all, 10), new Span(450, 550));
  assert.deepEqual(part.stretched(0.5, 400, all, 10), new Span(400, 500));
  assert.deepEqual(part.stretched(100, 500, all, 10), all);
  assert.deepEqual(part.stretched(0.001, 500, all, 10), new Span(495, 505));
  assert.deepEqual(part.moved(-10, all), new Span(0, 200));
  assert.deepEqual(part.moved(0.5, all), new Span(500, 700));
  assert.equal(part.showing(450, 460, all), part);
  assert.ok(part.showing(700, 710, all).from <= 700 && part.showing(700, 710, all).until >= 710);
  assert.ok(part.showing(0, 10, all).from === 0);
  assert.equal(part.showing(300, 700, all), part);
  assert.equal(part.place(500, 80), 40);
  assert.equal(part.time(40, 80), 500);
});

test("ticks are round and told apart", () => {
  assert.deepEqual(new Span(0, 1000).ticks(5), [0, 200, 400, 600, 800]);
  assert.deepEqual(new Span(123, 160).ticks(4), [130, 140, 150].map((n) => n));
  assert.equal(moment(1234567, new Span(1000000, 2000000)), "0.00123");
  assert.equal(moment(5e9, new Span(0, 100e9)), "5");
});

test("calls have their lanes and times", () => {
  const times = [1, 2, 3, 4, 5].map((call) => [timeline.laneOf(call), timeline.enter(call), timeline.leave(call)]);
  assert.deepEqual(times, [
    [0, 100, 110],
    [0, 110, 130],
    [1, 10, 115],
    [1, 115, 135],
    [1, 137, 138],
  ]);
  assert.deepEqual([first.before, first.after, second.before, second.after], [null, null, 0, 140]);
  assert.deepEqual(timeline.at(first, 105), { call: 1, from: 100, until: 110 });
  assert.equal(timeline.at(first, 50), null);
  assert.deepEqual(timeline.at(second, 5), { call: null, from: 0, until: 10 });
  assert.deepEqual(timeline.at(second, 139), { call: null, from: 138, until: 140 });
  assert.deepEqual([0, 121, 1000].map((time) => timeline.nearest(first, time)), [1, 2, 2]);
});

test("messages and meetings are those of their calls", () => {
  assert.deepEqual([1, 3, 4].map((call) => [...timeline.sentBy(call)]), [[0], [], []]);
  assert.deepEqual([1, 3, 4].map((call) => [...timeline.receivedBy(call)]), [[], [0, 1], []]);
  assert.deepEqual([...timeline.askedBy(3)], []);
  assert.deepEqual(timeline.linesOf(3), [0]);
  assert.deepEqual([...timeline.messages.departures], [100, 10]);
  assert.deepEqual([...timeline.messages.arrivals], [115, 115]);
  assert.deepEqual(timeline.meetingsOf(3), []);
  assert.deepEqual([...timeline.meetingsOf(4)[0].calls], [2, 4]);
});

test("boxes are as wide as times, and share pixels where they are narrow", () => {
  assert.deepEqual(boxesOf(timeline, second, timeline.whole, 140), [
    { x: 0, width: 10, what: COMPUTING, share: 1 },
    { x: 10, width: 90, what: waitingIn(0), share: 1 },
    { x: 100, width: 15, what: inCall(0), share: 1 },
    { x: 115, width: 20, what: inCall(1), share: 1 },
    { x: 135, width: 2, what: COMPUTING, share: 1 },
    { x: 137, width: 1, what: inCall(2), share: 1 },
    { x: 138, width: 2, what: COMPUTING, share: 1 },
  ]);
  assert.deepEqual(
    boxesOf(timeline, second, new Span(100, 140), 8).slice(-1).map(({ x, what }) => [x, what]),
    [[7, COMPUTING]],
  );
  // Nothing is known of what the first lane did before its first call.
  assert.deepEqual(boxesOf(timeline, first, new Span(0, 100), 100), []);
  const sum = (boxes) => boxes.reduce((all, { width }) => all + width, 0);
  assert.equal(sum(boxesOf(timeline, second, new Span(20, 90), 70)), 70);
});

test("lines are those between lanes in sight, and not too many", () => {
  assert.deepEqual(messagesIn(timeline, timeline.whole, 10), { step: 1, count: 1, shown: [0] });
  assert.deepEqual(messagesIn(timeline, new Span(116, 140), 10).count, 0);
  assert.equal(meetingsIn(timeline, timeline.whole, 10).count, 1);
  assert.equal(meetingsIn(timeline, new Span(0, 100), 10).count, 0);
  assert.equal(distance([5, 3], [0, 0], [10, 0]), 3);
  assert.equal(distance([13, 4], [0, 0], [10, 0]), 5);
});

test("words say what is known of a call", () => {
  assert.deepEqual(callWords(timeline, 3, tree), [
    "rank 1: MPI_Recv (point-to-point), 105 ns from 0.000000010 s to 0.000000115 s, of it 90 ns waiting: late sender",
    "from rank 0: tag 7, 64 bytes, sent at 0.000000100 s; from rank 1 thread 1: tag -1, 1 byte, sent at 0.000000010 s",
    "main > MPI_Recv",
  ]);
  assert.match(callWords(timeline, 1, tree)[1], /^to rank 1: tag 7, 64 bytes, received at 0.000000115 s$/);
  assert.equal(callWords(timeline, 4, tree)[1], "barrier of 2 ranks: gives 0 bytes, gets 0 bytes");
  assert.equal(callWords(timeline, 5, tree)[1], "put at rank 0: 512 bytes");
  assert.match(messageLine(timeline, 0), /^message from rank 0 to rank 1: tag 7, 64 bytes, 15 ns from/);
  assert.match(betweenWords(second, timeline.at(second, 5)), /^rank 1: computing, 10 ns/);
});
