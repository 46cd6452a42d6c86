// The table of a listing. Only the rows that are on the screen are elements.
import { decimal, parted, place, shortened, signed } from "./number.js";
import { element, set } from "./element.js";

/** Height of a row, px, as in the style. */
const ROW = 24;
/** Browsers lay out no element much taller than this, px; longer tables scroll in larger steps. */
const TALLEST = 8e6;
/** How far a row is moved to the right from the row above, px: an only child hardly, so that long chains keep their names. */
const [FORK, CHAIN, FARTHEST] = [14, 3, 320];
/** Characters of a name in a row. */
const NAME = 240;
/** Rows that are printed. */
const PRINTED = 400;

export class Table {
  listing = null;
  columns = [];
  selected = null;
  #rows = [];
  #printing = false;

  /** `on` has `select(row)`, `sort(column)` and `toggle(row)`. */
  constructor(on) {
    this.on = on;
    this.head = element("div", { class: "head", role: "row" });
    this.body = element("div", { class: "body", role: "rowgroup" });
    this.root = element(
      "div",
      { class: "table", role: "treegrid", tabindex: "0", "aria-label": "call paths and their cost" },
      [element("div", { role: "rowgroup", class: "heads" }, [this.head]), this.body],
    );
    this.root.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.root);
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
  }

  /** Shows a listing with these columns. */
  show(listing, columns) {
    this.listing = listing;
    this.columns = columns;
    this.root.style.setProperty("--columns", String(columns.length));
    set(this.root, { "aria-colcount": columns.length + 1 });
    this.#rows.forEach((row) => row.root.remove());
    this.#rows = [];
    this.head.replaceChildren(this.#heading(null, "name", "name of the function, loop or line"));
    columns.forEach((column) => this.head.append(this.#heading(column, column.heading, column.hint)));
    this.draw();
  }

  #heading(column, text, hint) {
    const { order, descending } = this.listing;
    const direction = order !== column ? "none" : descending ? "descending" : "ascending";
    const mark = direction === "none" ? "" : descending ? " ▾" : " ▴";
    const button = element("button", {
      type: "button",
      title: hint,
      text: text + mark,
      tabindex: "-1",
      on: { click: () => this.on.sort(column) },
    });
    return element("div", { role: "columnheader", class: column ? "number" : "name", "aria-sort": direction }, [
      button,
    ]);
  }

  /** Rows that the window has room for. */
  get room() {
    return Math.max(1, Math.floor((this.root.clientHeight - this.head.offsetHeight) / ROW));
  }

  /** Fills the rows that are on the screen. */
  draw() {
    if (!this.listing) return;
    const count = this.listing.length;
    const height = Math.min(count * ROW, TALLEST);
    this.body.style.height = `${height}px`;
    set(this.root, { "aria-rowcount": count });
    const wanted = this.#printing ? Math.min(count, PRINTED) : Math.min(count, this.room + 2);
    const scroll = this.root.scrollTop;
    const first = Math.max(0, Math.min(this.#printing ? 0 : this.#firstAt(scroll), count - wanted));
    const top = count * ROW <= TALLEST ? first * ROW : Math.min(scroll, height - wanted * ROW);
    while (this.#rows.length < wanted) this.#rows.push(this.#make());
    while (this.#rows.length > wanted) this.#rows.pop().root.remove();
    this.#rows.forEach((row, place) => this.#fill(row, first + place, top + place * ROW));
  }

  #firstAt(scroll) {
    const count = this.listing.length;
    if (count * ROW <= TALLEST) return Math.floor(scroll / ROW);
    return Math.floor((scroll / (TALLEST - this.room * ROW)) * (count - this.room));
  }

  #make() {
    const twisty = element("button", { type: "button", class: "twisty", tabindex: "-1", "aria-hidden": "true" });
    const [kind, within, own, where] = ["kind", "within", "own", "where"].map((c) => element("span", { class: c }));
    const name = element("span", { class: "label" }, [within, own]);
    const cells = this.columns.map(() => {
      const [bar, value, percent] = ["bar", "value", "percent"].map((c) => element("span", { class: c }));
      return {
        root: element("div", { role: "gridcell", class: "number" }, [bar, value, " ", percent]),
        bar,
        value,
        percent,
      };
    });
    const nameCell = element("div", { role: "gridcell", class: "name" }, [twisty, kind, name, where]);
    const root = element("div", { role: "row", class: "row" }, [nameCell, ...cells.map((cell) => cell.root)]);
    const row = { root, twisty, kind, name, within, own, where, nameCell, cells, of: null };
    root.addEventListener("click", (event) => {
      if (event.target === twisty) this.on.toggle(row.of);
      else this.on.select(row.of);
      this.root.focus({ preventScroll: true });
    });
    root.addEventListener("dblclick", () => this.on.toggle(row.of));
    this.body.append(root);
    return row;
  }

  #fill(of, index, top) {
    const { view, open } = this.listing;
    const { row, depth, fork } = this.listing.at(index);
    const label = view.describe(row);
    const opens = view.hasChildren(row);
    const isSelected = row === this.selected;
    of.of = row;
    of.root.style.transform = `translateY(${top}px)`;
    of.root.id = `row-${index}`;
    set(of.root, {
      "aria-level": depth + 1,
      "aria-rowindex": index + 1,
      "aria-expanded": opens ? String(open.has(row)) : null,
      "aria-selected": String(isSelected),
      "data-row": row,
    });
    if (isSelected) set(this.root, { "aria-activedescendant": of.root.id });
    const moved = fork * FORK + (depth - fork) * CHAIN;
    of.nameCell.style.paddingInlineStart = `${Math.min(moved, FARTHEST) + 4}px`;
    of.twisty.textContent = opens ? (open.has(row) ? "▾" : "▸") : "";
    of.kind.textContent = ["loop", "inlined", "module", "file"].includes(label.kind) ? label.kind : "";
    const [within, own] = parted(shortened(label.name, NAME));
    of.within.textContent = within;
    of.own.textContent = own;
    of.name.title = shortened(label.name, 2000);
    of.where.textContent = this.#where(label);
    of.cells.forEach((cell, place) => fillCell(cell, this.columns[place], view, row));
  }

  #where({ kind, file, line, callLine }) {
    if (kind === "line" || kind === "file") return "";
    const at = place(file, line);
    return callLine === null ? at : `${at}${at ? ", " : ""}called at line ${callLine}`;
  }

  /** Brings a listed row onto the screen. */
  bringIntoSight(index) {
    const count = this.listing.length;
    const first = this.#firstAt(this.root.scrollTop);
    if (index < first || index >= first + this.room) {
      const wanted = Math.max(0, index - Math.floor(this.room / 3));
      const fits = count * ROW <= TALLEST;
      this.body.style.height = `${Math.min(count * ROW, TALLEST)}px`;
      this.root.scrollTop = fits ? wanted * ROW : (wanted / (count - this.room)) * (TALLEST - this.room * ROW);
    }
    this.draw();
  }

  /** Draws after it was hidden, with the chosen row on the screen. */
  reveal() {
    const index = this.listing.indexOf(this.selected);
    if (index >= 0) this.bringIntoSight(index);
  }

  #print(printing) {
    this.#printing = printing;
    this.draw();
  }
}

function fillCell(cell, column, view, row) {
  const value = column.value(view, row);
  const percent = column.percent(view, row);
  const sure = column.sure ? column.sure(view, row) : true;
  const number = value === null ? "" : (column.signed ? signed : decimal)(value / column.scale.factor, column.digits);
  cell.value.textContent =
    column.width && value !== null ? `${number} ± ${decimal(column.width(view, row), 1)}` : number;
  cell.percent.textContent = column.unit === "percent" || percent === null ? "" : `${decimal(percent)} %`;
  const sign = !column.signed || value === null || value === 0 ? "" : value > 0 ? "worse" : "better";
  cell.root.className = `number ${sign} ${sure ? "" : "unsure"}`;
  cell.bar.style.width = percent === null || !column.hasBar ? "0" : `${Math.min(100, Math.abs(percent))}%`;
}
