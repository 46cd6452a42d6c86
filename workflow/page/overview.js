// The first sight of a sweep: what is lost, why, and where.
import { barChart, waterfallChart } from "./chart.js";
import { ContextView } from "./context_view.js";
import { efficiency, figure, speedup } from "./curves.js";
import { element } from "./element.js";
import { decimal, place, signed, visible } from "./number.js";

/** Call paths that are told to bound the speed-up. */
const MOST_BOUNDS = 6;
/** What the last counts say of a time, before the count that they say it of. */
const STATES = { falls: "falls up to", flat: "flat from", past: "least at" };
/** What is said where something is known of another pair of counts only. */
const NOT_HERE = "Not in this page for these two counts; see above.";

/** The overview of a sweep; `go(context)` shows a call path. */
export class Overview {
  constructor(go) {
    this.go = go;
    this.root = element("section", { class: "overview", "aria-label": "overview" });
  }

  show(model) {
    const { score, sweep, data } = model;
    const name = (count) => sweep.name(count);
    this.root.replaceChildren(
      this.#headline(model),
      ...data.head.caveats.map((text) => element("p", { class: "caveat", text: visible(text) })),
      ...(score.findings === null ? [element("p", { class: "caveat", text: unknown(model) })] : []),
      element("div", { class: "cards" }, [
        card("What to look at", this.#findings(score), "tall"),
        card("Speed-up", [figure(speedup(model), "by wall time, with the ideal line; bands are 95 % intervals")]),
        card("Efficiency", [figure(efficiency(model), "work that perfect scaling needs, in percent of all work")]),
        card(`Why: excess work at ${name(model.at)} by cause`, this.#causes(score)),
        card("From perfect scaling to the efficiency", waterfall(score)),
        card("What bounds the speed-up", this.#bounds(score, name)),
        card("Processor counts", [scales(score, name)], "wide"),
      ]),
    );
  }

  #headline(model) {
    const view = new ContextView(model.tree, model.present);
    const { excess, halfWidth: width, isTold, workAt, expected } = model.loss(view, 0, "inclusive");
    const [base, at] = [model.base, model.at].map((count) => model.sweep.name(count));
    const share = `${decimal(100 * Math.abs(excess))} ± ${decimal(100 * width)} %`;
    const words = !isTold
      ? [
          "",
          `Not told from zero: ${signed(100 * excess)} ± ${decimal(100 * width)} % of the work at ${at} is excess work`,
        ]
      : excess > 0
        ? ["worse", `${share} of the work at ${at} processors is lost`]
        : ["better", `${share} less work at ${at} processors than expected`];
    const { score } = model;
    const detail = `${score.scaling} scaling against ${base}; metric ${score.metric}: ${decimal(workAt / 1e9, 2)} s over all threads, where perfect scaling needs ${decimal(expected / 1e9, 2)} s. ${score.program.join(" ")}`;
    return element("div", {}, [
      element("p", { class: `headline ${words[0]}`, "data-testid": "headline", text: words[1] }),
      element("p", { class: "dim", text: visible(detail) }),
    ]);
  }

  #findings(score) {
    if (score.findings === null) return [element("p", { text: NOT_HERE })];
    if (score.findings.length === 0) return [element("p", { text: "Nothing costs 0.1 % of the run or more." })];
    const items = score.findings.map((finding) => {
      const where = place(finding.file, finding.line);
      return element("li", {}, [
        element("div", { class: "finding" }, [
          element("span", {
            class: `cost ${costClass(finding)}`,
            text: `${signed(finding.cost_percent)} ± ${decimal(finding.cost_half_width_percent)} %`,
          }),
          element("strong", { text: finding.title }),
          element("span", { class: "dim", title: visible(finding.why), text: finding.confidence }),
          element("button", {
            type: "button",
            class: "link",
            text: `${where ? `${where} in ` : ""}${visible(finding.name).slice(0, 200)}`,
            title: "show this call path",
            on: { click: () => this.go(finding.id) },
          }),
        ]),
        element("p", { text: visible(finding.text) }),
        element("p", { class: "dim", text: `Next: ${visible(finding.next)}` }),
      ]);
    });
    return [element("ol", { class: "findings" }, items)];
  }

  #causes(score) {
    if (score.causes === null) return [element("p", { text: NOT_HERE })];
    const bars = score.causes
      .filter((cause) => Math.abs(cause.excess_percent) >= 0.05)
      .map((cause) => ({ name: cause.title, value: cause.excess_percent, width: cause.excess_half_width_percent }));
    if (bars.length === 0) return [element("p", { text: "No cause has a part that could be seen." })];
    return [
      figure(
        barChart({ title: "excess work by cause", bars, unit: "%" }),
        "percent of all work; the parts sum to the excess",
      ),
    ];
  }

  /** The call paths that bound the speed-up most, each by what it takes alone. */
  #bounds({ bounds, base, at }, name) {
    if (bounds === null) return [element("p", { text: NOT_HERE })];
    const line = ({ id, name: text, bound, share_percent: share, inflexion }) => {
      const path = element("button", {
        type: "button",
        class: "link",
        text: visible(text),
        on: { click: () => this.go(id) },
      });
      return [
        id === null ? "what has few samples" : path,
        bound === null ? "∞" : decimal(bound, 2),
        `${decimal(share)} %`,
        inflexion === null ? "" : `${STATES[inflexion.state]} ${name(inflexion.fastest)}`,
      ];
    };
    const heads = ["call path, own code", "at most", "of the time", "its time"];
    return [
      table(heads, bounds.waterfall.slice(0, MOST_BOUNDS).map(line)),
      element("p", {
        class: "dim",
        text: `How many times as fast as at ${name(base)} the run can be while the call path takes what it takes at ${name(at)}; the whole run is ${decimal(bounds.speedup, 2)} times as fast.`,
      }),
    ];
  }
}

/** What the page does not have of the chosen pair of counts, and how to get it. */
function unknown({ base, at, title, sweep, data: { head } }) {
  if (base === at) return "The same count is chosen twice: nothing is compared.";
  const [asked, other] = [head.score.base, head.score.at].map((count) => sweep.name(count));
  return visible(
    `Causes, findings and efficiencies are in this page for ${asked} and ${other} only: it has many call paths. For these two: ${title} --base ${base} --at ${at} --html FILE`,
  );
}

/** The colour of what a finding costs: grey if that is not told from zero. */
function costClass({ cost_percent: cost, cost_half_width_percent: width }) {
  if (Math.abs(cost) < 0.05 || Math.abs(cost) <= width) return "dim";
  return cost > 0 ? "worse" : "better";
}

function card(title, children, more = "") {
  return element("section", { class: `card ${more}` }, [element("h2", { text: title }), ...children]);
}

function waterfall(score) {
  if (score.waterfall === null) return [element("p", { text: NOT_HERE })];
  if (score.waterfall.length === 0) return [element("p", { text: "Nothing is known of the causes." })];
  const steps = score.waterfall.map((s) => ({
    name: s.factor.replaceAll("_", " "),
    change: s.change_percent,
    left: s.left_percent,
  }));
  return [
    figure(
      waterfallChart({ title: "waterfall of efficiencies", steps, end: "work efficiency" }),
      "percent; each step takes points away or gives some back",
    ),
  ];
}

function scales(score, name) {
  const heads = ["processors", "runs", "work s", "wall s", `excess % against ${name(score.base)}`, "efficiency %"];
  const line = (s) => [
    name(s.processors),
    String(s.repetitions),
    decimal(s.work_seconds, 2),
    decimal(s.wall_seconds, 2),
    `${decimal(s.excess_percent)} ± ${decimal(s.excess_half_width_percent)}`,
    decimal(s.work_efficiency_percent),
  ];
  return table(heads, score.scales.map(line));
}

/** A table of texts and elements. */
function table(heads, lines) {
  const row = (cells) => element("tr", {}, cells);
  const cell = (content) => element("td", {}, [content]);
  return element("table", { class: "numbers" }, [
    element("thead", {}, [row(heads.map((text) => element("th", { scope: "col", text })))]),
    element(
      "tbody",
      {},
      lines.map((line) => row(line.map(cell))),
    ),
  ]);
}
