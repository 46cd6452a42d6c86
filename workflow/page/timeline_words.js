// What is said of a call, a message, and the time between calls.
import { parted, quantity, visible } from "./number.js";

/** Messages and operations of a call that are told one by one. */
const MOST_TOLD = 3;

const lasting = (ns) => (Math.abs(ns) < 1000 ? `${ns} ns` : quantity(ns, "nanoseconds"));
const seconds = (ns) => `${(ns / 1e9).toFixed(9)} s`;
const inBytes = (count) => `${count} ${count === 1 ? "byte" : "bytes"}`;
const inRanks = (count) => `${count} ${count === 1 ? "rank" : "ranks"}`;

/** The messages that a call sent, asked for or received. */
function messageWords(timeline, call) {
  const { sender, receiver, departures, arrivals, tag, bytes } = timeline.messages;
  const about = (message) => `tag ${tag[message]}, ${inBytes(bytes[message])}`;
  const to = (message) =>
    `to ${timeline.label(receiver[message])}: ${about(message)}, received at ${seconds(arrivals[message])}`;
  const from = (message) =>
    `from ${timeline.label(sender[message])}: ${about(message)}, sent at ${seconds(departures[message])}`;
  const asks = (message) => `asks for that ${from(message)}`;
  return [
    ...Array.from(timeline.sentBy(call), to),
    ...Array.from(timeline.askedBy(call), asks),
    ...Array.from(timeline.receivedBy(call), from),
  ];
}

/** `AllReduce` as `all reduce`. */
const plain = (word) => word.replace(/\B[A-Z]/g, " $&").toLowerCase();

function meetingWords({ operations }, { operation, root, size, given, got }) {
  const of = root > 0 ? `, root rank ${root - 1}` : "";
  return `${plain(operations[operation - 1])} of ${inRanks(size)}${of}: gives ${inBytes(given)}, gets ${inBytes(got)}`;
}

function reachWords({ info, reaches }, reach) {
  const what = plain(info.transfers[reaches.kind[reach] - 1]);
  return `${what} at rank ${reaches.target[reach]}: ${inBytes(reaches.bytes[reach])}`;
}

/** What a call did and with whom, in lines; the last is its call path in a tree, if that is known. */
export function callWords(timeline, call, tree) {
  const { info, functions, kinds, patterns } = timeline;
  const [enter, leave, wait] = [timeline.enter(call), timeline.leave(call), timeline.wait(call)];
  const [{ label }, name] = [timeline.lanes[timeline.laneOf(call)], visible(info.functions[functions[call - 1]])];
  const waited = wait > 0 ? `, of it ${lasting(wait)} waiting: ${info.patterns[patterns[call - 1] - 1]}` : "";
  const times = `${lasting(leave - enter)} from ${seconds(enter)} to ${seconds(leave)}`;
  const head = `${label}: ${name} (${info.kinds[kinds[call - 1]]}), ${times}${waited}`;
  const joined = [
    ...messageWords(timeline, call),
    ...timeline.meetingsOf(call).map((meeting) => meetingWords(info, meeting)),
    ...Array.from(timeline.reachesOf(call), (reach) => reachWords(timeline, reach)),
  ];
  const more = joined.length > MOST_TOLD ? [`and ${joined.length - MOST_TOLD} more`] : [];
  const path = pathWords(tree, timeline.contexts[call - 1]);
  return [head, [...joined.slice(0, MOST_TOLD), ...more].join("; "), path].filter((line) => line !== "");
}

/** A call path from the outermost function on. */
function pathWords(tree, context) {
  const frames = [];
  for (let at = context; at !== 0; at = tree.parents[at]) {
    if (tree.isFrame(at)) frames.unshift(visible(parted(tree.describe(tree.scopes[at]).name)[1]));
  }
  return frames.join(" > ");
}

/** What a message is. */
export function messageLine(timeline, message) {
  const { sender, receiver, departures, arrivals, tag, bytes } = timeline.messages;
  const [sent, received] = [departures[message], arrivals[message]];
  const who = `from ${timeline.label(sender[message])} to ${timeline.label(receiver[message])}`;
  const times = `${lasting(received - sent)} from ${seconds(sent)} to ${seconds(received)}`;
  return `message ${who}: tag ${tag[message]}, ${inBytes(bytes[message])}, ${times}`;
}

/** The time between two calls. */
export function betweenWords({ label }, { from, until }) {
  return `${label}: computing, ${lasting(until - from)} from ${seconds(from)} to ${seconds(until)}`;
}
