// The flame graph of call paths, from the top down: a box is as wide as its cost.
import { element } from "./element.js";
import { isDark } from "./header.js";
import { decimal, parted, quantity, shortened } from "./number.js";

const LEVEL = 19;
/** Boxes narrower than this are not drawn, px. */
const NARROWEST = 0.7;

/**
 * The boxes of a view below a row, outermost first: `{row, depth, x, width}` in px. `value(row)` is what widths show; what is not
 * above zero has no box, and where parts are more than their whole they are made to fit.
 */
export function boxes(view, root, value, width) {
  const found = [];
  const stack = [[root, 0, 0, width]];
  while (stack.length > 0) {
    const [row, depth, x, wide] = stack.pop();
    found.push({ row, depth, x, width: wide });
    const below = view.children(row).map((child) => [child, Math.max(0, value(child))]);
    const sum = below.reduce((all, [, v]) => all + v, 0);
    const scale = wide / Math.max(sum, value(row), Number.MIN_VALUE);
    let at = x;
    for (const [child, v] of below.sort((a, b) => b[1] - a[1])) {
      if (v * scale < NARROWEST) break;
      stack.push([child, depth + 1, at, v * scale]);
      at += v * scale;
    }
  }
  return found;
}

/** The row of the box beside that of a row, to the "left", "right", "up" or (the widest) "down"; null if there is none. */
export function beside(boxes, row, direction) {
  const here = boxes.find((box) => box.row === row);
  if (!here) return boxes[0]?.row ?? null;
  const level = boxes.filter((box) => box.depth === here.depth + ({ up: -1, down: 1 }[direction] ?? 0));
  const isAbove = (box) => box.x <= here.x && here.x < box.x + box.width;
  const found = {
    up: () => level.find(isAbove),
    down: () => level.filter((box) => isWithin(box, here)).sort((a, b) => b.width - a.width)[0],
    left: () => level.filter((box) => box.x < here.x).sort((a, b) => b.x - a.x)[0],
    right: () => level.filter((box) => box.x > here.x).sort((a, b) => a.x - b.x)[0],
  }[direction]();
  return found?.row ?? null;
}

function isWithin(box, { x, width }) {
  return box.x >= x && box.x < x + width;
}

/** What keys do in the picture, by what they do elsewhere. */
const MOVES = { down: "down", up: "up", open: "right", close: "left" };

/** The picture; `on` has `select(row)`, `zoom(row)`, and `changed()` for another choice of what it shows. */
export class Flame {
  #boxes = [];
  /** What widths show, by its id; null is the first. */
  chosen = null;

  constructor(on) {
    this.on = on;
    this.canvas = element("canvas", { tabindex: "0" });
    this.words = element("p", { class: "dim words", role: "status" });
    const change = () => {
      this.chosen = this.choice.value;
      on.changed();
    };
    this.choice = element("select", { "aria-label": "what widths show", on: { change } });
    this.below = element("input", { type: "checkbox", on: { change: () => on.changed() } });
    const bar = element("div", { class: "toolbar" }, [
      element("label", {}, ["width", this.choice]),
      element("label", { title: "only the chosen row with what it calls" }, [this.below, "chosen row as the whole"]),
      this.words,
    ]);
    this.scroller = element("div", { class: "scroller" }, [this.canvas]);
    this.root = element("div", { class: "picture" }, [bar, this.scroller]);
    this.canvas.addEventListener("click", (event) => this.#at(event, (row) => on.select(row)));
    this.canvas.addEventListener("dblclick", (event) => this.#at(event, (row) => on.zoom(row)));
    this.canvas.addEventListener("mousemove", (event) => this.#at(event, (row) => this.#say(row)));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  /** Shows a model's view below a row. */
  show(model, view, root, selected) {
    const isOther = this.model !== model;
    Object.assign(this, { model, view, top: this.below.checked ? selected : root, selected });
    if (isOther) {
      this.choice.replaceChildren(
        ...model.flames.map(({ id, title }) => element("option", { value: id, text: title })),
      );
    }
    this.choice.value = this.#flame.id;
    this.#say(selected);
    this.draw();
    this.#reveal();
  }

  /** Chooses a box by what a key does elsewhere; false if the key does here what it does there. */
  move(action) {
    if (action === "toggle") {
      this.on.zoom(this.selected);
      return true;
    }
    const direction = MOVES[action];
    if (!direction) return false;
    const above = direction === "up" && this.selected === this.top ? this.view.parent(this.selected) : null;
    const row = above ?? beside(this.#boxes, this.selected, direction);
    if (row !== null) this.on.select(row);
    return true;
  }

  /** Brings the chosen box onto the screen. */
  #reveal() {
    const box = this.#boxes.find(({ row }) => row === this.selected);
    if (!box) return;
    const { scroller } = this;
    const y = box.depth * LEVEL;
    if (y < scroller.scrollTop || y + LEVEL > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = y - scroller.clientHeight / 3;
  }

  get #flame() {
    return this.model.flames.find(({ id }) => id === this.chosen) ?? this.model.flames[0];
  }

  draw() {
    const wide = this.scroller.clientWidth;
    if (!this.model || wide === 0) return;
    const { series } = this.#flame;
    this.#boxes = boxes(this.view, this.top, (row) => this.view.inclusive(row, series), wide - 2);
    const tall = (this.#boxes.reduce((deepest, box) => Math.max(deepest, box.depth), 0) + 1) * LEVEL;
    const dots = devicePixelRatio || 1;
    const { canvas } = this;
    [canvas.width, canvas.height] = [wide * dots, Math.min(tall * dots, 32000)];
    [canvas.style.width, canvas.style.height] = [`${wide}px`, `${canvas.height / dots}px`];
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const dark = isDark();
    const ink = dark ? "#e4e7eb" : "#1c2024";
    for (const box of this.#boxes) this.#box(pen, box, dark, ink);
    canvas.setAttribute("role", "application");
    canvas.setAttribute(
      "aria-label",
      `flame graph of ${this.#flame.title}: ${this.#boxes.length} call paths; arrows choose one, the table has the same`,
    );
  }

  #box(pen, { row, depth, x, width }, dark, ink) {
    const y = depth * LEVEL;
    pen.fillStyle = this.#colour(row, dark);
    pen.fillRect(x, y, Math.max(0.5, width - 0.5), LEVEL - 1);
    if (row === this.selected) {
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, width - 2, LEVEL - 3);
    }
    const letters = Math.floor((width - 8) / 6.6);
    if (letters < 3) return;
    pen.fillStyle = ink;
    const { name } = this.view.describe(row);
    pen.fillText(shortened(name.length > letters ? parted(name)[1] : name, letters), x + 4, y + LEVEL / 2);
  }

  /** Red for excess and green for gains in a sweep or a difference; otherwise a quiet colour for each module. */
  #colour(row, dark) {
    const { tint } = this.#flame;
    if (tint) {
      const share = tint(this.view, row);
      const strength = Math.min(1, Math.abs(share));
      const light = dark ? 26 + 14 * strength : 90 - 22 * strength;
      return `hsl(${share > 0 ? 8 : 145} ${Math.round(75 * strength)}% ${light}%)`;
    }
    const { module } = this.view.describe(row);
    let hash = 0;
    for (const letter of module ?? "") hash = (hash * 31 + letter.charCodeAt(0)) % 360;
    return `hsl(${hash} ${module ? 42 : 0}% ${dark ? 30 : 84}%)`;
  }

  #at({ offsetX, offsetY }, act) {
    const depth = Math.floor(offsetY / LEVEL);
    const box = this.#boxes.find((b) => b.depth === depth && offsetX >= b.x && offsetX < b.x + b.width);
    if (box) act(box.row);
  }

  #say(row) {
    const { series, unit } = this.#flame;
    const value = this.view.inclusive(row, series);
    const whole = this.view.inclusive(this.view.root, series);
    const percent = whole === 0 ? "" : ` (${decimal((100 * value) / whole)} %)`;
    this.words.textContent = `${shortened(this.view.describe(row).name, 90)}: ${quantity(value, unit)}${percent}`;
  }
}
