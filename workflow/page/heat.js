// Call paths over ranks or threads: how much each has of each.
import { element } from "./element.js";
import { isDark } from "./header.js";
import { parted, quantity, shortened, visible } from "./number.js";
import { leftOut } from "./spread.js";

const [ROOM, TALLNESS, TOP] = [280, 18, 22];
/** Call paths that are drawn. */
const MOST_PATHS = 300;

/** Which of `count` participants are in each of at most `most` columns: `[first, end)`. */
export function columnsOf(count, most) {
  const columns = Math.max(1, Math.min(count, most));
  return Array.from({ length: columns }, (_, i) => [
    Math.floor((i * count) / columns),
    Math.floor(((i + 1) * count) / columns),
  ]);
}

/** The picture of the rows that a listing lists; `on` has `select(row)`. */
export class Heat {
  #rows = [];
  /** The column that is looked at. */
  #column = null;

  constructor(on) {
    this.canvas = element("canvas", { tabindex: "0" });
    this.words = element("p", { class: "dim words", role: "status" });
    this.choice = element("select", { "aria-label": "what colours show", on: { change: () => this.draw() } }, [
      element("option", { text: "share of the row's largest" }),
      element("option", { text: "share of the largest of all" }),
    ]);
    this.scroller = element("div", { class: "scroller" }, [this.canvas]);
    const bar = element("div", { class: "toolbar" }, [element("label", {}, ["colour", this.choice]), this.words]);
    this.root = element("div", { class: "picture" }, [bar, this.scroller]);
    this.canvas.addEventListener("click", ({ offsetY }) => this.#at(offsetY, ({ row }) => on.select(row)));
    this.canvas.addEventListener("mousemove", ({ offsetX, offsetY }) =>
      this.#at(offsetY, (line) => this.#say(line, Math.floor((offsetX - ROOM) / this.width))),
    );
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  /** Shows the rows of a listing. */
  show(model, listing, selected) {
    Object.assign(this, { model, selected, view: listing.view, spread: model.spread });
    const rows = listing.slice(MOST_PATHS);
    this.#rows = this.spread
      ? rows.map(({ row, depth }) => ({ row, depth, values: this.spread.of(listing.view, row) }))
      : [];
    this.words.textContent = this.spread
      ? `the ${rows.length} rows that the calling context lists, over ${this.spread.count} ranks or threads`
      : (leftOut(model.data)[0] ?? "not known with this filter");
    this.draw();
    this.#reveal();
    const line = this.#rows.find(({ row }) => row === selected);
    if (line && this.#column !== null) this.#say(line, this.#column);
  }

  /** Looks at another rank or thread by what a key does elsewhere; false if the key does here what it does there. */
  move(action) {
    const by = { open: 1, close: -1 }[action];
    const line = this.#rows.find(({ row }) => row === this.selected);
    if (by === undefined || !line) return false;
    const start = by > 0 ? 0 : this.columns.length - 1;
    this.#column = this.#column === null ? start : Math.max(0, Math.min(this.columns.length - 1, this.#column + by));
    this.draw();
    this.#say(line, this.#column);
    return true;
  }

  /** Brings the chosen row onto the screen. */
  #reveal() {
    const y = TOP + this.#rows.findIndex(({ row }) => row === this.selected) * TALLNESS;
    const { scroller } = this;
    if (y < scroller.scrollTop || y + TALLNESS > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = y - scroller.clientHeight / 3;
  }

  draw() {
    const wide = this.scroller.clientWidth;
    if (!this.model || wide === 0) return;
    const dots = devicePixelRatio || 1;
    const tall = TOP + this.#rows.length * TALLNESS;
    const { canvas } = this;
    [canvas.width, canvas.height] = [wide * dots, tall * dots];
    [canvas.style.width, canvas.style.height] = [`${wide}px`, `${tall}px`];
    canvas.setAttribute("role", "application");
    canvas.setAttribute(
      "aria-label",
      "call paths over ranks or threads; arrows choose one, the distribution of the chosen row beside has the same",
    );
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const dark = isDark();
    if (!this.spread) return;
    this.columns = columnsOf(this.spread.count, wide - ROOM);
    this.width = (wide - ROOM - 2) / this.columns.length;
    pen.fillStyle = dark ? "#9aa4b0" : "#5c6570";
    pen.fillText(this.spread.label(0), ROOM, TOP / 2);
    pen.textAlign = "right";
    pen.fillText(this.spread.label(this.spread.count - 1), wide - 4, TOP / 2);
    pen.textAlign = "left";
    const all = this.#rows.reduce((most, { values }) => Math.max(most, ...this.#means(values)), 0);
    this.#rows.forEach((line, index) =>
      this.#line(pen, line, TOP + index * TALLNESS, this.choice.selectedIndex === 1 ? all : null, dark),
    );
  }

  /** The mean of the participants in each column. */
  #means(values) {
    return this.columns.map(([from, end]) => values.subarray(from, end).reduce((a, b) => a + b, 0) / (end - from));
  }

  #line(pen, { row, depth, values }, y, all, dark) {
    const ink = dark ? "#e4e7eb" : "#1c2024";
    pen.fillStyle = ink;
    const name = parted(this.view.describe(row).name)[1];
    pen.fillText(shortened(name, 38 - Math.min(20, depth)), 6 + Math.min(20, depth) * 6, y + TALLNESS / 2);
    const means = this.#means(values);
    const most = all ?? Math.max(...means);
    means.forEach((value, i) => {
      const share = most > 0 ? Math.max(0, value) / most : 0;
      pen.fillStyle = `hsl(216 ${Math.round(20 + 50 * share)}% ${dark ? 14 + 46 * share : 97 - 52 * share}%)`;
      pen.fillRect(ROOM + i * this.width, y, Math.ceil(this.width), TALLNESS - 1);
    });
    if (row === this.selected) {
      pen.strokeStyle = ink;
      pen.strokeRect(ROOM + 0.5, y, this.columns.length * this.width - 1, TALLNESS - 1);
      pen.lineWidth = 3;
      if (this.#column !== null) pen.strokeRect(ROOM + this.#column * this.width, y, this.width, TALLNESS - 1);
      pen.lineWidth = 1;
    }
  }

  #at(y, act) {
    const line = this.#rows[Math.floor((y - TOP) / TALLNESS)];
    if (y >= TOP && line) act(line);
  }

  #say({ row, values }, column) {
    const [from, end] = this.columns[column] ?? [];
    const name = shortened(parted(this.view.describe(row).name)[1], 60);
    if (from === undefined) {
      this.words.textContent = name;
      return;
    }
    const { spread, model } = this;
    const who = end - from > 1 ? `${spread.label(from)} to ${spread.label(end - 1)}, mean` : spread.label(from);
    const mean = values.subarray(from, end).reduce((a, b) => a + b, 0) / (end - from);
    this.words.textContent = `${name}, ${visible(who)}: ${quantity(mean, model.unit)}`;
  }
}
