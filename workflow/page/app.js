// The page: reads its data, and puts its parts together.
import { unpack, DamagedData } from "./unpack.js";
import { ProfileModel } from "./profile_model.js";
import { SweepModel } from "./sweep_model.js";
import { boundCurve, workCurve } from "./curves.js";
import { Detail } from "./detail.js";
import { Distribution } from "./distribution.js";
import { Explorer, VIEWS } from "./explorer.js";
import { Filter } from "./filter.js";
import { Flame } from "./flame.js";
import { Header } from "./header.js";
import { Heat } from "./heat.js";
import { Overview } from "./overview.js";
import { Source } from "./source.js";
import { leftOut } from "./spread.js";
import { Timeline } from "./timeline.js";
import { TimelineData } from "./timeline_data.js";
import { Toolbar } from "./toolbar.js";
import { element, set } from "./element.js";
import { actionOf } from "./keys.js";
import { linkOf, stateOf } from "./link.js";

/** All that is on the page. */
class App {
  /** Name of the panel that is shown. */
  panel = null;
  filter = new Filter();

  constructor(model) {
    this.model = model;
    this.explorer = new Explorer(model, {
      changed: () => this.#changed(),
      chosen: (view, row) => this.#chosen(view, row),
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
      changed: () => this.#changed(),
    });
    this.heat = new Heat({ select: (row) => this.explorer.select(row) });
    this.timeline = this.#timeline();
    this.overview = new Overview((context) => {
      this.panel = "context";
      this.explorer.show("context", String(context));
      this.#showPanel();
    });
    this.panels = [
      ...(model.kind === "sweep" ? [{ name: "overview", title: "Overview", view: "context" }] : []),
      ...Object.entries(VIEWS).map(([view, title]) => ({ name: view, title, view })),
      { name: "flame", title: "Flame graph", view: "context" },
      ...(model.data.head.spreads.length > 0 ? [{ name: "heat", title: "Ranks", view: "context" }] : []),
      ...(this.timeline ? [{ name: "timeline", title: "Timeline", view: "context" }] : []),
    ];
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "views" });
    this.work = element("div", { class: "work" }, [
      this.explorer.table.root,
      this.flame.root,
      this.heat.root,
      ...(this.timeline ? [this.timeline.root] : []),
      this.detail.root,
    ]);
    const parts = [this.header.root, this.tabs, this.toolbar.root, this.overview.root, this.work];
    document.getElementById("page").replaceChildren(...parts);
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("hashchange", () => this.#follow());
    this.#follow();
  }

  /** The timeline, if the page has one. */
  #timeline() {
    const { data, tree } = this.model;
    if (!data.head.timeline) return null;
    return new Timeline(new TimelineData(data), {
      moved: () => this.#noteSoon(),
      select: (context) => {
        // With other metrics or a filter not every call path is listed.
        let row = context;
        while (!this.explorer.model.present[row] && row > 0) row = tree.parents[row];
        this.explorer.select(row);
      },
    });
  }

  /** What is shown in place of the table, by panel. */
  get #pictures() {
    return { flame: this.flame, heat: this.heat, ...(this.timeline ? { timeline: this.timeline } : {}) };
  }

  /** Further parts of the pane for a row. */
  #parts(view, row) {
    const { model } = this.explorer;
    return [
      ...(model.kind === "sweep" ? [workCurve(model, view, row), boundCurve(model, view, row)] : []),
      this.source.of(model, view, row),
      model.spread ? this.distribution.of(model.spread, view, row, model.unit) : null,
      ...leftOut(model.data).map((text) => element("p", { class: "dim", text })),
    ];
  }

  /** What fields and buttons of the toolbar do. */
  #fields() {
    const { explorer } = this;
    return {
      search: (pattern) => {
        this.toolbar.say(explorer.setSearch(pattern));
        this.#changed();
      },
      found: (by) => this.toolbar.say(explorer.found(by)),
      leave: () => explorer.table.root.focus(),
      threshold: (percent) => explorer.setThreshold(percent),
      filter: (changes) => {
        this.filter = this.filter.with(changes);
        this.#use();
      },
      derive: (text) => {
        const wrong = explorer.derive(text);
        if (wrong === "") this.toolbar.show(explorer.model.columns);
        return wrong;
      },
      column: (column, shown) => explorer.setShown(column, shown),
      hotPath: () => explorer.hotPath(),
      zoom: () => explorer.zoom(),
      unzoom: () => explorer.unzoom(),
      flatten: () => explorer.flatten(),
      csv: () => explorer.csv(),
    };
  }

  #compare(base, at) {
    this.model = this.model.compared(base, at);
    this.header.showCounts(this.model);
    this.#use();
    if (this.panel === "overview") this.overview.show(this.model);
  }

  /** Looks at the part of the model that counts. */
  #use() {
    this.explorer.use(this.filter.of(this.model));
    this.toolbar.show(this.explorer.model.columns);
  }

  /** What is looked at, as a link says it. */
  #state() {
    const { explorer, model, filter, panel } = this;
    const { view, top, orderKey, natural, flattened } = explorer.listing;
    const counts = ({ base, at }) => `${base},${at}`;
    const isAsked = model.kind !== "sweep" || counts(model) === counts(model.data.head.score);
    return {
      view: panel,
      row: view.key(explorer.selected),
      top: top === view.root ? null : view.key(top),
      sort: orderKey === natural ? null : orderKey,
      levels: flattened || null,
      counts: isAsked ? null : counts(model),
      ...filter,
      least: explorer.threshold || null,
      derived: explorer.formulas.join(";"),
      columns: explorer.shownKey,
      picture: panel === "flame" ? this.flame.choice.value : null,
      seen: this.timeline?.seen,
      search: explorer.search?.pattern ?? null,
    };
  }

  /** Shows what the address says. */
  #follow() {
    const state = stateOf(location.hash);
    const { explorer } = this;
    const panel = this.panels.find(({ name }) => name === state.view) ?? this.panels[0];
    if (this.model.kind === "sweep") this.#choosePair(state.counts ?? "");
    this.panel = panel.name;
    this.filter = new Filter(state);
    explorer.formulas = (state.derived ?? "").split(";").filter((text) => text !== "");
    explorer.shownKey = state.columns ?? "";
    explorer.threshold = Math.max(0, Number(state.least) || 0);
    explorer.adopt(this.filter.of(this.model));
    explorer.look(panel.view, state);
    this.flame.chosen = state.picture ?? null;
    if (this.timeline) this.timeline.seen = state.seen;
    this.#showPanel(state.search ?? "");
  }

  /** Compares the two counts that a link names, or those for which the page was written. */
  #choosePair(text) {
    const { sweep, data, base, at } = this.model;
    const { score } = data.head;
    const named = text.split(",").map(Number);
    const pair = named.length === 2 && named.every((n) => sweep.counts.includes(n)) ? named : [score.base, score.at];
    if (pair[0] !== base || pair[1] !== at) this.model = this.model.compared(...pair);
    this.header.showCounts(this.model);
  }

  #open({ name, view }) {
    const keepsRow = this.explorer.view === view;
    this.panel = name;
    if (!keepsRow) this.explorer.show(view);
    this.#showPanel();
  }

  /** Shows the panel, and searches for a pattern in it. */
  #showPanel(pattern = "") {
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
    for (const [name, picture] of Object.entries(this.#pictures)) set(picture.root, { hidden: panel !== name });
    set(explorer.table.root, { hidden: panel in this.#pictures });
    this.toolbar.show(explorer.model.columns);
    this.toolbar.showFilter(this.filter, explorer.threshold);
    this.toolbar.searching.value = pattern;
    this.toolbar.say(explorer.setSearch(pattern));
    if (panel === "overview") this.overview.show(this.model);
    this.#changed();
    explorer.table.reveal();
  }

  #chosen(view, row) {
    this.detail.show(view, row, this.explorer.model.columns);
    this.#changed();
  }

  /** Draws what follows the table. */
  #changed() {
    const { explorer, panel } = this;
    if (panel === null) return;
    const { view, top } = explorer.listing;
    if (panel === "flame") this.flame.show(explorer.model, view, top, explorer.selected);
    if (panel === "heat") this.heat.show(explorer.model, explorer.listing, explorer.selected);
    if (panel === "timeline") this.timeline.show(explorer.model);
    this.#noteSoon();
  }

  /** Soon writes what is looked at into the address: browsers allow that only so often. */
  #noteSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#note(), 150);
  }

  #note() {
    const link = linkOf(this.#state());
    if (location.hash.slice(1) !== link) history.replaceState(null, "", `#${link}`);
  }

  #key(event) {
    const action = this.header.help.open ? null : actionOf(event);
    if (action === null) return;
    const { explorer, toolbar } = this;
    if (this.panel === "overview" && !action.startsWith("view") && action !== "help") return;
    event.preventDefault();
    if (action.startsWith("view")) {
      const panel = this.panels[Number(action.slice(4)) - 1];
      if (panel) this.#open(panel);
      return;
    }
    const actions = {
      sort: () => explorer.nextColumn(),
      search: () => toolbar.searching.focus(),
      nextFound: () => toolbar.say(explorer.found(1)),
      previousFound: () => toolbar.say(explorer.found(-1)),
      help: () => this.header.help.showModal(),
    };
    if (!this.#pictures[this.panel]?.move(action)) (actions[action] ?? (() => explorer[action]?.()))();
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
