// The calls of MPI in a window of time, with the messages and the meetings that join them.
import { Span } from "./span.js";

/** For each number up to `count` where in the lists it stands; 0 stands for nothing. */
function placesOf(count, lists) {
  const starts = new Uint32Array(count + 2);
  for (const list of lists) for (const number of list) starts[number + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const next = starts.slice();
  const places = new Uint32Array(starts.at(-1));
  for (const list of lists) list.forEach((number, place) => (places[next[number]++] = place));
  return (number) => places.subarray(starts[number], starts[number + 1]);
}

/** What the page has of a timeline. Calls are numbered from 1, lane by lane; 0 is a call that is not in the window. */
export class TimelineData {
  constructor(data) {
    const info = data.head.timeline;
    const numbers = (name, type = Float64Array) => data.numbers(`timeline.${name}`, type);
    this.info = info;
    this.whole = new Span(info.from_ns, Math.max(info.until_ns, info.from_ns + 1));
    this.functions = numbers("function", Uint32Array);
    this.contexts = numbers("context", Uint32Array);
    this.kinds = numbers("kind", Uint8Array);
    this.waits = numbers("wait");
    this.patterns = numbers("pattern", Uint8Array);
    this.count = this.functions.length;
    this.#place(numbers("calls", Uint32Array), numbers("gap"), numbers("length"));
    const moment = (value) => (value > 0 ? value - 1 : null);
    const [before, after] = [numbers("before"), numbers("after")];
    this.lanes.forEach((lane, i) => Object.assign(lane, { before: moment(before[i]), after: moment(after[i]) }));
    this.laneOfThread = new Map(this.lanes.map(({ thread }, lane) => [thread, lane]));
    this.#joinMessages(numbers);
    this.#joinMeetings(numbers);
    const reaching = numbers("reaching", Uint32Array);
    this.reachesOf = placesOf(this.count, [reaching]);
    this.reaches = { kind: numbers("transfer", Uint8Array), target: numbers("target"), bytes: numbers("reached") };
  }

  /** When calls begin and end, and which are in which lane. */
  #place(calls, gaps, lengths) {
    [this.enters, this.leaves] = [new Float64Array(this.count), new Float64Array(this.count)];
    this.laneNumbers = new Uint32Array(this.count);
    let first = 0;
    this.lanes = Array.from(calls, (count, lane) => {
      const end = first + count;
      for (let i = first, last = 0; i < end; i++) {
        this.enters[i] = last + gaps[i];
        last = this.leaves[i] = this.enters[i] + lengths[i];
      }
      this.laneNumbers.fill(lane, first, end);
      const thread = this.info.lanes[lane];
      const of = { thread, label: this.label(thread), first: first + 1, end: end + 1 };
      first = end;
      return of;
    });
  }

  #joinMessages(numbers) {
    const [sent, posted, received] = ["sent", "posted", "received"].map((name) => numbers(name, Uint32Array));
    const [departures, ways] = [numbers("departure"), numbers("way")];
    let last = 0;
    departures.forEach((by, i) => (departures[i] = last += by));
    this.messages = {
      count: sent.length,
      departures,
      arrivals: departures.map((time, i) => time + ways[i]),
      sender: numbers("sender", Uint32Array),
      receiver: numbers("receiver", Uint32Array),
      tag: numbers("tag"),
      bytes: numbers("bytes"),
    };
    // A receive that is asked for and completed by one call is one of it.
    const elsewhere = posted.map((call, i) => (call === received[i] ? 0 : call));
    this.sentBy = placesOf(this.count, [sent]);
    this.askedBy = placesOf(this.count, [elsewhere]);
    this.receivedBy = placesOf(this.count, [received]);
  }

  #joinMeetings(numbers) {
    const counts = numbers("members", Uint32Array);
    const members = numbers("member", Uint32Array);
    const [given, got] = [numbers("given"), numbers("got")];
    const meetingOfMember = new Uint32Array(members.length);
    let first = 0;
    this.meetings = Array.from(counts, (count, meeting) => {
      const calls = members.subarray(first, first + count);
      meetingOfMember.fill(meeting, first, first + count);
      first += count;
      return { calls };
    });
    const [operation, root, size] = ["operation", "root", "size"].map((name) => numbers(name));
    this.meetings.forEach((of, i) => Object.assign(of, { operation: operation[i], root: root[i], size: size[i] }));
    const memberships = placesOf(this.count, [members]);
    this.meetingsOf = (call) =>
      Array.from(memberships(call), (member) => ({
        ...this.meetings[meetingOfMember[member]],
        given: given[member],
        got: got[member],
      }));
  }

  /** Rank, and thread where that is not the first, of a thread. */
  label(thread) {
    const [rank, number] = this.info.threads[thread];
    return number === 0 ? `rank ${rank}` : `rank ${rank} thread ${number}`;
  }

  enter = (call) => this.enters[call - 1];
  leave = (call) => this.leaves[call - 1];
  wait = (call) => this.waits[call - 1];
  laneOf = (call) => this.laneNumbers[call - 1];

  /** Whether a message is between two lanes that are there. */
  isBetween(message) {
    const { sender, receiver } = this.messages;
    return this.laneOfThread.has(sender[message]) && this.laneOfThread.has(receiver[message]);
  }

  /** Messages of a call that are between lanes. */
  linesOf(call) {
    const all = [this.sentBy, this.askedBy, this.receivedBy].flatMap((messages) => [...messages(call)]);
    return all.filter((message) => this.isBetween(message));
  }


  /** The first call of a lane that does not end before a time; the lane's `end` if all do. */
  firstFrom({ first, end }, time) {
    let [low, high] = [first, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.leave(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What a lane does at a time: `{call, from, until}`; `call` is null between calls, and all is null where nothing is known. */
  at(lane, time) {
    const call = this.firstFrom(lane, time);
    const isIn = call < lane.end;
    if (isIn && this.enter(call) <= time) return { call, from: this.enter(call), until: this.leave(call) };
    const from = call > lane.first ? this.leave(call - 1) : lane.before;
    const until = isIn ? this.enter(call) : lane.after;
    return from === null || until === null ? null : { call: null, from, until };
  }

  /** The call of a lane nearest to a time; null if it has none. */
  nearest(lane, time) {
    if (lane.first === lane.end) return null;
    const call = Math.min(this.firstFrom(lane, time), lane.end - 1);
    const isNearer = call > lane.first && time - this.leave(call - 1) < this.enter(call) - time;
    return isNearer ? call - 1 : call;
  }
}
