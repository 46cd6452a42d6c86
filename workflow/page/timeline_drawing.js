// How a timeline is drawn.
import { moment } from "./span.js";
import { shortened } from "./number.js";
import { boxesOf, meetingsIn } from "./timeline_marks.js";

/** Room for the names of lanes and for the times, px. */
export const [NAMES, TIMES] = [110, 22];
/** Lines that are drawn of messages, and of operations of several. */
export const MOST_LINES = 4000;
/** Messages beyond which their lines have no heads. */
const MOST_HEADS = 400;

/** What is seen of a timeline in a picture `wide` px, each lane `tall` px: where everything is. */
export class Frame {
  constructor(timeline, span, wide, tall) {
    Object.assign(this, { timeline, span, wide, tall });
    this.width = Math.max(1, wide - NAMES - 2);
  }

  get height() {
    return this.tall * this.timeline.lanes.length;
  }

  /** Where a time is, from the end of the names. */
  x(time) {
    return this.span.place(time, this.width);
  }

  /** The middle of a lane. */
  y(lane) {
    return (lane + 0.5) * this.tall;
  }

  /** Both ends of a message. */
  line(message) {
    const { messages, laneOfThread } = this.timeline;
    const { departures, arrivals, sender, receiver } = messages;
    return [
      [this.x(departures[message]), this.y(laneOfThread.get(sender[message]))],
      [this.x(arrivals[message]), this.y(laneOfThread.get(receiver[message]))],
    ];
  }
}

/** A canvas of this size that can be drawn on. */
export function prepared(canvas, wide, tall) {
  const dots = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [wide * dots, Math.round(tall * dots)];
  [canvas.style.width, canvas.style.height] = [`${wide}px`, `${tall}px`];
  const pen = canvas.getContext("2d");
  pen.scale(dots, dots);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return pen;
}

/** The scale above the lanes. */
export function drawTimes(pen, { span, width, wide }, colours) {
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, wide, TIMES);
  pen.fillStyle = colours.dim;
  pen.fillText("s", NAMES - 14, TIMES / 2);
  for (const time of span.ticks(Math.max(2, Math.floor(width / 110)))) {
    const x = NAMES + span.place(time, width);
    pen.fillRect(x, TIMES - 5, 1, 5);
    pen.fillText(moment(time, span), x + 3, TIMES / 2);
  }
}

/** The lanes with their names, the lines of `messages` if there are any, and a chosen call. */
export function drawLanes(pen, frame, colours, { messages, call }) {
  const { timeline, width, height, tall } = frame;
  const every = Math.ceil(13 / tall);
  pen.fillStyle = colours.ink;
  timeline.lanes.forEach(({ label }, lane) => {
    if (lane % every === 0) pen.fillText(shortened(label, 17), 4, frame.y(lane));
  });
  pen.save();
  pen.translate(NAMES, 0);
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  timeline.lanes.forEach((_, lane) => drawLane(pen, frame, lane, colours));
  if (messages) {
    drawMeetings(pen, frame, colours);
    drawMessages(pen, frame, colours, messages, call);
  }
  if (call !== null) drawChosen(pen, frame, call, colours);
  pen.restore();
}

function drawLane(pen, { timeline, span, width, tall }, lane, colours) {
  for (const { x, width: wide, what, share } of boxesOf(timeline, timeline.lanes[lane], span, width)) {
    pen.fillStyle = colours.fill(pen, what);
    // What is one of many things in a pixel is drawn as strong as it is there, and still seen.
    pen.globalAlpha = Math.max(0.3, share);
    pen.fillRect(x, lane * tall + 1, wide, Math.max(1, tall - 2));
  }
  pen.globalAlpha = 1;
}

function drawMeetings(pen, frame, colours) {
  const { timeline, span } = frame;
  pen.strokeStyle = colours.meeting;
  pen.setLineDash([4, 3]);
  pen.lineWidth = 1.5;
  for (const { calls } of meetingsIn(timeline, span, MOST_LINES).shown) {
    pen.beginPath();
    for (const call of calls) pen.lineTo(frame.x(timeline.enter(call)), frame.y(timeline.laneOf(call)));
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.lineWidth = 1;
}

function drawMessages(pen, frame, colours, shown, call) {
  const { timeline } = frame;
  const own = call === null ? [] : timeline.linesOf(call);
  pen.strokeStyle = colours.message;
  for (const message of shown)
    if (!own.includes(message)) drawLine(pen, frame.line(message), shown.length < MOST_HEADS);
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2.5;
  for (const message of own) drawLine(pen, frame.line(message), true);
  pen.lineWidth = 1;
}

/** A line between two places, with a head if it is to have one. */
function drawLine(pen, [[ax, ay], [bx, by]], hasHead) {
  pen.beginPath();
  pen.moveTo(ax, ay);
  pen.lineTo(bx, by);
  const angle = Math.atan2(by - ay, bx - ax);
  for (const turn of hasHead ? [2.7, -2.7] : []) {
    pen.moveTo(bx, by);
    pen.lineTo(bx + 7 * Math.cos(angle + turn), by + 7 * Math.sin(angle + turn));
  }
  pen.stroke();
}

function drawChosen(pen, frame, call, colours) {
  const { timeline, tall } = frame;
  const [from, until] = [timeline.enter(call), timeline.leave(call)].map((time) => frame.x(time));
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  pen.strokeRect(from - 1, timeline.laneOf(call) * tall, Math.max(3, until - from + 2), tall);
  pen.lineWidth = 1;
}
