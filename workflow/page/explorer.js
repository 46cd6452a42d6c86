// The views of a model, the table, and what can be done with them.
import { Ahead } from "./ahead.js";
import { CallersView } from "./callers_view.js";
import { ContextView } from "./context_view.js";
import { FormulaError } from "./formula.js";
import { FlatView } from "./flat_view.js";
import { Functions } from "./grouped_view.js";
import { Listing } from "./listing.js";
import { Search } from "./search.js";
import { Table } from "./table.js";
import { csv } from "./csv.js";
import { save } from "./element.js";

/** Views by name, in the order of their tabs. */
export const VIEWS = { context: "Calling context", callers: "Callers", flat: "Flat" };

/** The state of the table: which view of a model, what is chosen in it, and all actions on it. */
export class Explorer {
  view = "context";
  selected = 0;
  search = null;
  threshold = 0;
  /** Further columns, `NAME=FORMULA`. */
  formulas = [];
  /** Whether columns are shown, by id, where it was chosen. */
  #shown = new Map();
  #views = new Map();
  #listings = new Map();
  #functions;
  #ahead = new Ahead();

  /** `changed()` is called when something else is shown, `chosen(view, row)` when another row is chosen. */
  constructor(model, { changed, chosen }) {
    this.model = model;
    this.changed = changed;
    this.chosen = chosen;
    this.#functions = new Functions(model.tree);
    this.table = new Table({
      select: (row) => this.select(row),
      sort: (column) => this.sort(column),
      toggle: (row) => this.#change(() => this.listing.toggle(row)),
    });
  }

  get columns() {
    return this.model.columns.filter((column) => column.shown);
  }

  /** The listing of the view that is shown; it is made when it is first looked at. */
  get listing() {
    return this.#listingOf(this.view);
  }

  #listingOf(name) {
    let listing = this.#listings.get(name);
    if (!listing) {
      const view = this.#viewOf(name);
      const [first] = this.model.columns;
      listing = new Listing(
        view,
        this.model.columns,
        name === "context" ? first : this.#own(first),
        this.threshold,
      );
      if (name === "context") {
        listing.hotPath(view.root).forEach((row) => listing.open.add(row));
        listing.rebuild();
      }
      this.#listings.set(name, listing);
    }
    return listing;
  }

  #viewOf(name) {
    let view = this.#views.get(name);
    if (!view) {
      const { tree, present } = this.model;
      view = {
        context: () => new ContextView(tree, present),
        callers: () => new CallersView(tree, present, this.#functions),
        flat: () => new FlatView(tree, present, this.#viewOf("callers")),
      }[name]();
      this.#views.set(name, view);
    }
    return view;
  }

  /** What the views over functions need, in steps. */
  *#preparing() {
    yield* this.#functions.steps;
    const parts = this.columns.flatMap(({ sum }) => (sum === null ? [] : [sum]));
    for (const name of ["callers", "flat"]) {
      const rows = yield* this.#viewOf(name).preparing(parts);
      for (const row of rows) yield this.#listingOf(name).prepare(row);
    }
  }

  /** The exclusive column beside an inclusive one: functions are told apart by their own cost. */
  #own(column) {
    return this.model.columns.find((other) => other.id === column.id.replace(/incl$/, "excl")) ?? column;
  }

  /** Looks at another model of the same tree: other cost, other columns. What is looked at and how stays as far as it can. */
  use(model) {
    const { view, top, orderKey, natural } = this.listing;
    const [row, above] = [view.key(this.selected), top === view.root ? null : view.key(top)];
    this.adopt(model);
    this.look(this.view, { row, top: above, sort: orderKey === natural ? null : orderKey });
  }

  /** Takes a model with the formulas and the choice of columns, and forgets what was looked at. */
  adopt(model) {
    this.model = model;
    for (const formula of this.formulas) this.#derive(formula);
    this.#choose();
    this.#views.clear();
    this.#listings.clear();
    this.#ahead.begin(this.#preparing());
  }

  /** Shows a view, with these texts of a link: the row that is chosen, the one that is listed as the top, and the order. */
  look(view, { row = null, top = null, sort = null, levels = null }) {
    this.view = view;
    const { listing } = this;
    const above = top === null ? null : listing.view.find(top);
    if (above !== null) listing.zoom(above);
    if (sort !== null) listing.orderKey = sort;
    if (levels !== null) listing.flatten(Number(levels) || 0);
    this.show(view, row);
  }

  /** Shows a view, with the row of this key chosen if there is one. */
  show(view, key = null) {
    this.view = view;
    const { listing } = this;
    const row = key === null ? null : listing.view.find(key);
    this.search = null;
    this.table.selected = null;
    this.select(row ?? listing.top);
  }

  /** Chooses a row and brings it onto the screen. */
  select(row) {
    this.selected = row;
    this.table.selected = row;
    if (this.listing.indexOf(row) < 0) this.listing.reveal(row);
    this.#draw();
    this.table.bringIntoSight(this.#index);
    this.chosen(this.listing.view, row);
  }

  get #index() {
    return Math.max(0, this.listing.indexOf(this.selected));
  }

  #draw() {
    this.table.show(this.listing, this.columns);
    this.changed();
  }

  /** Changes the listing and shows it. */
  #change(action) {
    action();
    this.#draw();
  }

  sort(column) {
    this.#change(() => this.listing.sortBy(column));
    this.table.bringIntoSight(this.#index);
  }

  #goto(index) {
    const { listing } = this;
    this.select(listing.at(Math.max(0, Math.min(listing.length - 1, index))).row);
  }

  setThreshold(percent) {
    this.threshold = Number.isFinite(percent) ? percent : 0;
    this.#listings.forEach((listing) => (listing.threshold = this.threshold));
    this.refresh();
    this.#keepChosen();
  }

  setShown(column, shown) {
    this.#shown.set(column.id, shown);
    this.#choose();
    this.refresh();
  }

  #choose() {
    for (const column of this.model.columns) column.shown = this.#shown.get(column.id) ?? column.shown;
  }

  /** The choice of columns as it is written in a link: ids, with a minus in front of those that are not shown. */
  get shownKey() {
    return [...this.#shown].map(([id, shown]) => `${shown ? "" : "-"}${id}`).join(",");
  }

  set shownKey(key) {
    const ids = key === "" ? [] : key.split(",");
    this.#shown = new Map(ids.map((id) => [id.replace(/^-/, ""), !id.startsWith("-")]));
  }

  /** Adds the columns of `NAME=FORMULA`, or gives in words what is wrong with it. */
  derive(text) {
    const wrong = this.#derive(text);
    if (wrong !== "") return wrong;
    const name = (formula) => formula.split("=")[0].trim();
    this.formulas = [...this.formulas.filter((other) => name(other) !== name(text)), text];
    this.refresh();
    return "";
  }

  #derive(text) {
    const [name, ...formula] = text.split("=");
    if (!/^[^,;]*[^,; ][^,;]*$/.test(name) || formula.length === 0)
      return "write NAME=FORMULA, with no , or ; in the name";
    try {
      this.model.derive(name.trim(), formula.join("="));
    } catch (error) {
      if (error instanceof FormulaError) return error.message;
      throw error;
    }
    return "";
  }

  /** After other columns, or another threshold: the listings of all views, also those that are not shown. */
  refresh = () => this.#change(() => this.#listings.forEach((listing) => listing.refresh()));

  setSearch(pattern) {
    const { listing } = this;
    this.search = new Search(listing.view, this.model.tree, pattern, listing.order ?? listing.columns[0]);
    return this.search.words;
  }

  found(by) {
    const row = this.search?.step(by) ?? null;
    if (row !== null) this.select(row);
    return this.search?.words ?? "";
  }

  down = () => this.#goto(this.#index + 1);
  up = () => this.#goto(this.#index - 1);
  pageDown = () => this.#goto(this.#index + this.table.room);
  pageUp = () => this.#goto(this.#index - this.table.room);
  first = () => this.#goto(0);
  last = () => this.#goto(Infinity);
  toggle = () => this.#change(() => this.listing.toggle(this.selected));

  open() {
    const { listing } = this;
    if (!listing.view.hasChildren(this.selected)) return;
    if (listing.open.has(this.selected)) this.down();
    else this.toggle();
  }

  close() {
    const above = this.listing.view.parent(this.selected);
    if (this.listing.open.has(this.selected) && this.listing.view.hasChildren(this.selected)) this.toggle();
    else if (above !== null && this.selected !== this.listing.top) this.select(above);
  }

  hotPath() {
    const path = this.listing.hotPath(this.selected);
    if (path.length > 0) this.select(path.at(-1));
  }

  zoom = () => this.#change(() => this.listing.zoom(this.selected));

  unzoom() {
    this.#change(() => this.listing.zoom(this.listing.view.root));
    this.select(this.selected);
  }

  flatten = () => this.#flatten(1);
  unflatten = () => this.#flatten(-1);

  #flatten(levels) {
    this.#change(() => this.listing.flatten(levels));
    this.#keepChosen();
  }

  /** Chooses the first row if the chosen one is not listed any more. */
  #keepChosen() {
    if (this.listing.indexOf(this.selected) < 0) this.first();
  }

  nextColumn() {
    const { columns, listing } = this;
    this.sort(columns[(columns.indexOf(listing.order) + 1) % columns.length]);
  }

  reverse = () => this.sort(this.listing.order);

  csv() {
    save(`falloff-${this.view}.csv`, "text/csv", csv(this.listing, this.columns));
  }
}
