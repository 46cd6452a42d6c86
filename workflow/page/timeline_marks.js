// What is drawn of a timeline: boxes of what lanes do, and lines between them.

/** What a box stands for: the time between calls, and of each kind of calls the time in them and the waiting in them. */
export const COMPUTING = 0;
export const inCall = (kind) => 1 + 2 * kind;
export const waitingIn = (kind) => 2 + 2 * kind;

/**
 * The boxes of a lane in a span, from left to right: `{x, width, what, share}` in px. What is narrower than a pixel shares one with what
 * is beside it: the box is of what takes most of it, and `share` says how much of it all of that is.
 */
export function boxesOf(timeline, lane, span, width) {
  const found = [];
  const states = 1 + 2 * timeline.info.kinds.length;
  const shares = new Float64Array(states);
  let column = -1;
  const flush = () => {
    if (column < 0) return;
    const most = shares.reduce((best, share, what) => (share > shares[best] ? what : best), 0);
    found.push({ x: column, width: 1, what: most, share: Math.min(1, shares[most]) });
    shares.fill(0);
    column = -1;
  };
  const add = (what, from, until) => {
    const left = span.place(Math.max(from, span.from), width);
    const right = span.place(Math.min(until, span.until), width);
    if (!(right > left)) return;
    if (right - left >= 1) {
      flush();
      found.push({ x: left, width: right - left, what, share: 1 });
      return;
    }
    if (Math.floor(left) !== column) flush();
    column = Math.floor(left);
    shares[what] += right - left;
  };
  const start = timeline.firstFrom(lane, span.from);
  let last = start > lane.first ? timeline.leave(start - 1) : lane.before;
  for (let call = start; call < lane.end && timeline.enter(call) < span.until; call++) {
    const [enter, leave] = [timeline.enter(call), timeline.leave(call)];
    const [kind, ready] = [timeline.kinds[call - 1], enter + timeline.wait(call)];
    if (last !== null) add(COMPUTING, last, enter);
    add(waitingIn(kind), enter, ready);
    add(inCall(kind), ready, leave);
    last = leave;
  }
  const end = timeline.firstFrom(lane, span.until);
  const next = end < lane.end ? timeline.enter(end) : lane.after;
  if (last !== null && next !== null && last < span.until) add(COMPUTING, last, next);
  flush();
  return found;
}

/** Every so many-th of the messages in sight between lanes, so that there are at most `most`: `{step, count, shown}`. */
export function messagesIn(timeline, span, most) {
  const { count, departures, arrivals } = timeline.messages;
  const isSeen = (message) =>
    Math.min(departures[message], arrivals[message]) < span.until &&
    Math.max(departures[message], arrivals[message]) > span.from &&
    timeline.isBetween(message);
  const seen = [];
  for (let message = 0; message < count; message++) if (isSeen(message)) seen.push(message);
  return thinned(seen, most);
}

/** The collective operations in sight that at least two lanes enter: their calls in the order of lanes, as [messagesIn] gives messages. */
export function meetingsIn(timeline, span, most) {
  const isSeen = ({ calls }) => calls.length > 1 && calls.some((call) => isSeenIn(timeline, call, span));
  return thinned(timeline.meetings.filter(isSeen), most);
}

function isSeenIn(timeline, call, span) {
  return timeline.enter(call) < span.until && timeline.leave(call) > span.from;
}

function thinned(all, most) {
  const step = Math.max(1, Math.ceil(all.length / most));
  return { step, count: all.length, shown: step === 1 ? all : all.filter((_, i) => i % step === 0) };
}

/** How far a point is from a line between two points. */
export function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.max(0, Math.min(1, along));
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}
