// What each rank did when: computing, calls of MPI, and the messages and meetings that join them.
import { button } from "./toolbar.js";
import { element } from "./element.js";
import { isDark } from "./header.js";
import { moment, Span } from "./span.js";
import { betweenWords, callWords, messageLine } from "./timeline_words.js";
import { Colours } from "./timeline_colours.js";
import { COMPUTING, distance, inCall, messagesIn } from "./timeline_marks.js";
import { drawLanes, drawTimes, Frame, MOST_LINES, NAMES, prepared, TIMES } from "./timeline_drawing.js";

/** A lane is as tall as there is room, within limits, px; all together are at most as tall as browsers draw. */
const LANE = { lowest: 6, tallest: 30, highest: 15000 };
/** The shortest time that is looked at, nanoseconds. */
const SHORTEST = 100;
/** What is nearer than this is met, px. */
const NEAR = 4;

/** The picture; `on` has `select(context)` for the call path of a call, and `moved()` for another part of the time. */
export class Timeline {
  /** The part of the time that is seen; null is all. */
  #span = null;
  /** The call that is chosen. */
  #call = null;
  /** Messages that are drawn. */
  #messages = [];

  constructor(data, on) {
    Object.assign(this, { data, on });
    this.times = element("canvas", { class: "times", "aria-hidden": "true" });
    this.canvas = element("canvas", { tabindex: "0", role: "application" });
    this.words = element("div", { class: "dim words said", role: "status" });
    this.lines = element("input", { type: "checkbox", checked: true, on: { change: () => this.draw() } });
    this.note = element("span", { class: "dim" });
    this.legend = element("div", { class: "legend" });
    const bar = element("div", { class: "toolbar" }, [
      button("Closer", "+: half of the time that is seen", () => this.#stretch(0.5)),
      button("Farther", "−: twice the time that is seen", () => this.#stretch(2)),
      button("All", "Escape: all of the time", () => this.#see(data.whole)),
      element("label", { title: "messages from send to receive, and operations of several at their beginnings" }, [
        this.lines,
        "lines",
      ]),
      this.note,
    ]);
    this.scroller = element("div", { class: "scroller timeline" }, [this.times, this.canvas]);
    this.root = element("div", { class: "picture" }, [bar, this.legend, this.words, this.scroller]);
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    addEventListener("beforeprint", () => this.draw(true));
    addEventListener("afterprint", () => this.draw());
  }

  #listen() {
    const { canvas } = this;
    let grip = null;
    canvas.addEventListener("pointerdown", ({ offsetX, pointerId, button: which }) => {
      if (which !== 0) return;
      canvas.setPointerCapture(pointerId);
      grip = { x: offsetX, span: this.span, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (grip === null) {
        this.#say(this.#under(event));
        return;
      }
      grip.moved ||= Math.abs(event.offsetX - grip.x) > NEAR;
      if (grip.moved) this.#see(grip.span.moved((grip.x - event.offsetX) / this.#frame.width, this.data.whole));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (grip !== null && !grip.moved) this.#choose(this.#under(event)?.call ?? null);
      grip = null;
    });
    canvas.addEventListener("pointercancel", () => (grip = null));
    canvas.addEventListener("pointerleave", () => this.#say(this.#call === null ? null : { call: this.#call }));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || event.offsetX < NAMES) return;
        event.preventDefault();
        if (event.shiftKey || event.deltaX !== 0) {
          this.#see(this.span.moved((event.deltaX || event.deltaY) / this.#frame.width, this.data.whole));
        } else this.#stretch(Math.exp(event.deltaY / 400), this.span.time(event.offsetX - NAMES, this.#frame.width));
      },
      { passive: false },
    );
  }

  get span() {
    return this.#span ?? this.data.whole;
  }

  /** Where everything is. */
  get #frame() {
    const { data, scroller } = this;
    const { length } = data.lanes;
    const room = Math.floor((scroller.clientHeight - TIMES) / length);
    const tall = Math.max(1, Math.min(LANE.tallest, Math.max(LANE.lowest, room), Math.floor(LANE.highest / length)));
    return new Frame(data, this.span, scroller.clientWidth, tall);
  }

  /** The part of the time that is seen as a link says it, in nanoseconds and exactly; null is all. */
  get seen() {
    return this.#span === null ? null : `${this.#span.from},${this.#span.until}`;
  }

  set seen(text) {
    const [from, until] = (text ?? "").split(",").map(Number);
    const { whole } = this.data;
    const isPart = until - from >= 1 && until - from < whole.length;
    this.#span = isPart ? new Span(from, until).within(whole) : null;
  }

  /** Shows it beside a model, whose tree has the call paths. */
  show(model) {
    this.tree = model.tree;
    this.draw();
    this.#say(this.#call === null ? null : { call: this.#call });
  }

  /** Looks at another part of the time. */
  #see(span) {
    this.#span = span.length < this.data.whole.length ? span : null;
    this.draw();
    this.on.moved();
  }

  #stretch(factor, at = (this.span.from + this.span.until) / 2) {
    this.#see(this.span.stretched(factor, at, this.data.whole, SHORTEST));
  }

  /** Chooses a call, or none, and looks up its call path. */
  #choose(call) {
    this.#call = call;
    this.draw();
    this.#say(call === null ? null : { call });
    if (call !== null) this.on.select(this.data.contexts[call - 1]);
  }

  /** Chooses a call and brings it into sight. */
  #reach(call) {
    const { data, scroller } = this;
    const span = this.span.showing(data.enter(call), data.leave(call), data.whole);
    if (span !== this.span) this.#span = span;
    const { tall } = this.#frame;
    const y = TIMES + data.laneOf(call) * tall;
    if (y < scroller.scrollTop + TIMES || y + tall > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = y - scroller.clientHeight / 2;
    this.#choose(call);
  }

  /** Does what a key does; false if the key does here what it does elsewhere. */
  move(action) {
    const { data, span } = this;
    const pan = (share) => this.#see(span.moved(share, data.whole));
    const moves = {
      open: () => pan(0.2),
      close: () => pan(-0.2),
      pageDown: () => pan(1),
      pageUp: () => pan(-1),
      first: () => this.#see(new Span(data.whole.from, data.whole.from + span.length)),
      last: () => this.#see(new Span(data.whole.until - span.length, data.whole.until)),
      up: () => this.#across(-1),
      down: () => this.#across(1),
      nextFound: () => this.#along(1),
      previousFound: () => this.#along(-1),
      closer: () => this.#stretch(0.5, this.#middle),
      farther: () => this.#stretch(2, this.#middle),
      zoom: () => this.#closeUp(),
      toggle: () => this.#closeUp(),
      unzoom: () => this.#see(data.whole),
    };
    moves[action]?.();
    return action in moves;
  }

  /** What stays where it is: the chosen call if it is seen, else the middle. */
  get #middle() {
    const { data, span } = this;
    const middle = (span.from + span.until) / 2;
    const of = this.#call === null ? middle : (data.enter(this.#call) + data.leave(this.#call)) / 2;
    return of > span.from && of < span.until ? of : middle;
  }

  /** Goes so many calls on in the lane; from none to one in the first lane that has some. */
  #along(by) {
    const { data } = this;
    if (this.#call === null) {
      this.#across(1);
      return;
    }
    const { first, end } = data.lanes[data.laneOf(this.#call)];
    this.#reach(Math.max(first, Math.min(end - 1, this.#call + by)));
  }

  /** Goes to the next lane above or below that has calls, to the one at that time. */
  #across(by) {
    const { data } = this;
    const time = this.#middle;
    for (let lane = this.#call === null ? 0 : data.laneOf(this.#call) + by; lane in data.lanes; lane += by) {
      const call = data.nearest(data.lanes[lane], time);
      if (call === null) continue;
      this.#reach(call);
      return;
    }
  }

  /** Looks at the chosen call from near. */
  #closeUp() {
    const { data } = this;
    if (this.#call === null) return;
    const [enter, leave] = [data.enter(this.#call), data.leave(this.#call)];
    const least = Math.max(SHORTEST, 2 * (leave - enter)) / this.span.length;
    const middle = (enter + leave) / 2;
    const near = this.span.stretched(least, middle, data.whole, SHORTEST);
    this.#see(near.moved((middle - (near.from + near.until) / 2) / near.length, data.whole));
  }

  /** What is at a place: `{call}`, `{message}` or `{lane, between}`; null where nothing is. */
  #under({ offsetX, offsetY }) {
    const { data } = this;
    const frame = this.#frame;
    const { span, width, tall } = frame;
    const lane = data.lanes[Math.floor(offsetY / tall)];
    if (!lane || offsetX < NAMES) return null;
    const point = [offsetX - NAMES, offsetY];
    const time = span.time(point[0], width);
    const here = data.at(lane, time);
    if (here?.call) return { call: here.call };
    // Calls that are too short to be pointed at are met a little beside them.
    const room = (NEAR / width) * span.length;
    const call = data.nearest(lane, time);
    if (call !== null && data.enter(call) - time < room && time - data.leave(call) < room) return { call };
    const far = (message) => distance(point, ...frame.line(message));
    const near = this.#messages.filter((message) => far(message) < NEAR).sort((a, b) => far(a) - far(b));
    if (near.length > 0) return { message: near[0] };
    return here === null ? null : { lane, between: here };
  }

  #say(what) {
    this.words.replaceChildren(...this.#linesOf(what).map((text) => element("p", { text })));
  }

  /** What is said of what is at a place. */
  #linesOf(what) {
    const { data } = this;
    if (what === null) {
      const count = `${data.count} calls and ${data.messages.count} messages of ${data.lanes.length} lanes`;
      return [`${count}; point at one, or choose with ↓ ↑ n p`];
    }
    if (what.call) return callWords(data, what.call, this.tree);
    return [what.between ? betweenWords(what.lane, what.between) : messageLine(data, what.message)];
  }

  draw(isPrinted = false) {
    const { canvas, times, data } = this;
    if (this.scroller.clientWidth === 0) return;
    const frame = this.#frame;
    const { span, wide, height } = frame;
    const colours = new Colours(isDark() && !isPrinted);
    const { step, count, shown } = messagesIn(data, span, MOST_LINES);
    this.#messages = this.lines.checked ? shown : [];
    drawTimes(prepared(times, wide, TIMES), frame, colours);
    const lines = this.lines.checked ? shown : null;
    drawLanes(prepared(canvas, wide, height), frame, colours, { messages: lines, call: this.#call });
    this.#showLegend(colours);
    const isThinned = step > 1 && lines !== null;
    this.note.textContent = isThinned ? `one in ${step} of ${count} messages is drawn: look closer for all` : "";
    const [from, until] = [span.from, span.until].map((time) => moment(time, span));
    const keys = "arrows go along and to other lanes, n and p to calls, + and − closer and farther";
    canvas.setAttribute("aria-label", `timeline of ${data.lanes.length} lanes from ${from} to ${until} s: ${keys}`);
  }

  /** Which colour is what, of what there is in the window. */
  #showLegend(colours) {
    const { data } = this;
    const { kinds } = data.info;
    const used = kinds.map((_, kind) => data.kinds.includes(kind));
    const entry = (text, background) =>
      element("span", {}, [element("span", { class: "swatch", style: { background } }), text]);
    this.legend.replaceChildren(
      entry("computing", colours.plain(COMPUTING)),
      ...kinds.flatMap((name, kind) => (used[kind] ? [entry(name, colours.plain(inCall(kind)))] : [])),
      ...(data.patterns.some((pattern) => pattern > 0) ? [entry("waiting", colours.hatched)] : []),
    );
  }
}
