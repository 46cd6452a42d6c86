// The page: reads its data, and puts its parts together.
import { unpack, DamagedData } from "./unpack.js";
import { ProfileModel } from "./profile_model.js";
import { SweepModel } from "./sweep_model.js";
import { workCurve } from "./curves.js";
import { Detail } from "./detail.js";
import { Distribution } from "./distribution.js";
import { Explorer, VIEWS } from "./explorer.js";
import { Flame } from "./flame.js";
import { FormulaError } from "./formula.js";
import { Header } from "./header.js";
import { Heat } from "./heat.js";
import { Overview } from "./overview.js";
import { Source } from "./source.js";
import { chosenOf, sectionsOf, withinSection } from "./spread.js";
import { Toolbar } from "./toolbar.js";
import { element, set } from "./element.js";
import { actionOf } from "./keys.js";
import { linkOf, stateOf } from "./link.js";

/** All that is on the page. */
class App {
  /** Name of the panel that is shown. */
  panel = null;
  filter = {};

  constructor(model) {
    this.model = model;
    this.explorer = new Explorer(model, {
      changed: () => this.#changed(),
      chosen: (view, row) => this.#choose(view, row),
    });
    this.distribution = new Distribution();
    this.source = new Source(model.data);
    this.detail = new Detail(
      (row) => this.explorer.select(row),
      (view, row) => this.#parts(view, row),
    );
    this.toolbar = new Toolbar(model, this.#fields());
    this.header = new Header(model, { compare: (base, at) => this.#compare(base, at), colours: () => this.#changed() });
    this.flame = new Flame({
      select: (row) => this.explorer.select(row),
      zoom: (row) => {
        this.explorer.select(row);
        this.explorer.zoom();
      },
    });
    this.heat = new Heat({ select: (row) => this.explorer.select(row) });
    this.overview = new Overview((context) => {
      this.panel = "context";
      this.explorer.show("context", String(context));
      this.#showPanel();
    });
    this.panels = [
      ...(model.kind === "sweep" ? [{ name: "overview", title: "Overview", view: "context" }] : []),
      ...Object.entries(VIEWS).map(([view, title]) => ({ name: view, title, view })),
      { name: "flame", title: "Flame graph", view: "context" },
      ...(model.spread ? [{ name: "heat", title: "Ranks", view: "context" }] : []),
    ];
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "views" });
    this.work = element("div", { class: "work" }, [
      this.explorer.table.root,
      this.flame.root,
      this.heat.root,
      this.detail.root,
    ]);
    const parts = [this.header.root, this.tabs, this.toolbar.root, this.overview.root, this.work];
    document.getElementById("page").replaceChildren(...parts);
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("hashchange", () => this.#follow());
    this.#follow();
  }

  /** Further parts of the pane for a row. */
  #parts(view, row) {
    const { model } = this.explorer;
    return [
      model.kind === "sweep" ? workCurve(model, view, row) : null,
      this.source.of(model, view, row),
      model.spread ? this.distribution.of(model.spread, view, row, model.unit) : null,
    ];
  }

  /** What fields and buttons of the toolbar do. */
  #fields() {
    const { explorer } = this;
    return {
      search: (pattern) => this.toolbar.say(explorer.setSearch(pattern)),
      found: (by) => this.toolbar.say(explorer.found(by)),
      leave: () => explorer.table.root.focus(),
      threshold: (percent) => explorer.setThreshold(percent),
      module: (number) => this.#filter({ ...this.filter, module: number === "" ? null : Number(number) }),
      ranks: (text) => this.#filter({ ...this.filter, ranks: text.trim() === "" ? null : text }),
      section: (number) => this.#filter({ ...this.filter, section: number === "" ? null : Number(number) }),
      derive: (text) => this.#derive(text),
      column: (column, shown) => explorer.setShown(column, shown),
      hotPath: () => explorer.hotPath(),
      zoom: () => explorer.zoom(),
      unzoom: () => explorer.unzoom(),
      flatten: () => explorer.flatten(),
      csv: () => explorer.csv(),
    };
  }

  /** Adds a column of `NAME=FORMULA`, or says what is wrong with it. */
  #derive(text) {
    const [name, ...formula] = text.split("=");
    if (formula.length === 0) return "write NAME=FORMULA";
    const { explorer } = this;
    try {
      explorer.model.derive(name.trim(), formula.join("="));
    } catch (error) {
      if (error instanceof FormulaError) return error.message;
      throw error;
    }
    explorer.refresh();
    this.toolbar.show(explorer.model.columns);
    return "";
  }

  /** Counts the cost of the code of one module only, and of some ranks or threads or, if one is chosen, of a section. */
  #filter(filter) {
    this.filter = filter;
    this.#use(this.#filtered(this.model));
  }

  #filtered(model) {
    const { module = null } = this.filter;
    const { tree } = model;
    const isKept = (scope) => (tree.modules[scope] === module ? 1 : 0);
    const keeps = module === null ? null : Uint8Array.from(tree.scopes, isKept);
    const part = this.#part(model);
    return keeps === null && part === null ? model : model.filtered(keeps, part);
  }

  /** The ranks, threads or sections that count; all if it is null. */
  #part({ data, spread }) {
    const { ranks = null, section = null } = this.filter;
    const sections = sectionsOf(data);
    if (section !== null && sections) return { spread: sections, chosen: withinSection(section, sections) };
    return ranks === null || !spread ? null : { spread, chosen: chosenOf(ranks, spread) };
  }

  #compare(base, at) {
    this.model = this.model.compared(base, at);
    this.#use(this.#filtered(this.model));
    this.overview.show(this.model);
  }

  #use(model) {
    this.explorer.use(model);
    this.toolbar.show(model.columns);
  }

  /** Shows what the address says. */
  #follow() {
    const { view, row, top, sort } = stateOf(location.hash);
    const { explorer } = this;
    const panel = this.panels.find(({ name }) => name === view) ?? this.panels[0];
    if (this.panel === panel.name && row === explorer.listing.view.key(explorer.selected)) return;
    this.panel = panel.name;
    explorer.show(panel.view, row ?? null);
    if (sort) {
      explorer.listing.orderKey = sort;
      explorer.select(explorer.selected);
    }
    const zoomed = top === undefined ? null : explorer.listing.view.find(top);
    if (zoomed !== null) {
      explorer.listing.zoom(zoomed);
      explorer.select(explorer.selected);
    }
    this.#showPanel();
  }

  #open({ name, view }) {
    const keepsRow = this.explorer.view === view;
    this.panel = name;
    if (!keepsRow) this.explorer.show(view);
    this.#showPanel();
  }

  #showPanel() {
    const { panel, explorer } = this;
    const tab = (of) =>
      element("button", {
        type: "button",
        role: "tab",
        text: of.title,
        "aria-selected": String(of.name === panel),
        on: { click: () => this.#open(of) },
      });
    this.tabs.replaceChildren(...this.panels.map(tab));
    set(this.overview.root, { hidden: panel !== "overview" });
    set(this.toolbar.root, { hidden: panel === "overview" });
    set(this.work, { hidden: panel === "overview" });
    set(explorer.table.root, { hidden: panel === "flame" || panel === "heat" });
    set(this.flame.root, { hidden: panel !== "flame" });
    set(this.heat.root, { hidden: panel !== "heat" });
    this.toolbar.show(explorer.model.columns);
    this.toolbar.searching.value = "";
    this.toolbar.say("");
    if (panel === "overview") this.overview.show(this.model);
    this.#changed();
    explorer.table.reveal();
  }

  #choose(view, row) {
    this.detail.show(view, row, this.explorer.model.columns);
    this.#changed();
  }

  /** Draws what follows the table, and soon writes what is looked at into the address: browsers allow that only so often. */
  #changed() {
    const { explorer, panel } = this;
    if (panel === null) return;
    const { view, top } = explorer.listing;
    if (panel === "flame") this.flame.show(explorer.model, view, top, explorer.selected);
    if (panel === "heat") this.heat.show(explorer.model, explorer.listing, explorer.selected);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#note(), 150);
  }

  #note() {
    const { explorer, panel } = this;
    const { view, top, orderKey, natural } = explorer.listing;
    const link = linkOf({
      view: panel,
      row: view.key(explorer.selected),
      top: top === view.root ? null : view.key(top),
      sort: orderKey === natural ? null : orderKey,
    });
    if (location.hash.slice(1) !== link) history.replaceState(null, "", `#${link}`);
  }

  #key(event) {
    const action = this.header.help.open ? null : actionOf(event);
    if (action === null) return;
    const { explorer, toolbar } = this;
    if (this.panel === "overview" && !action.startsWith("view") && action !== "help") return;
    event.preventDefault();
    const actions = {
      sort: () => explorer.nextColumn(),
      search: () => toolbar.searching.focus(),
      nextFound: () => toolbar.say(explorer.found(1)),
      previousFound: () => toolbar.say(explorer.found(-1)),
      help: () => this.header.help.showModal(),
    };
    if (action.startsWith("view")) {
      const panel = this.panels[Number(action.slice(4)) - 1];
      if (panel) this.#open(panel);
      return;
    }
    (actions[action] ?? (() => explorer[action]()))();
  }
}

/** Starts the page, or says why it cannot be shown. */
async function start() {
  const page = document.getElementById("page");
  try {
    const data = await unpack(document.getElementById("data").textContent);
    document.getElementById("data").remove();
    window.falloff = new App(data.head.kind === "sweep" ? new SweepModel(data) : new ProfileModel(data));
  } catch (error) {
    const words =
      error instanceof DamagedData
        ? `The data of this page is damaged: ${error.message}.`
        : `This page cannot be shown: ${error}.`;
    page.replaceChildren(
      element("p", {
        class: "damaged",
        role: "alert",
        text: `${words} Write it again with falloff view or falloff score and --html.`,
      }),
    );
  }
  set(page, { "aria-busy": null });
}

await start();
