// The first sight of a sweep: what is lost, why, and where.
import { barChart, waterfallChart } from "./chart.js";
import { ContextView } from "./context_view.js";
import { efficiency, figure, speedup } from "./curves.js";
import { element } from "./element.js";
import { decimal, place, signed, visible } from "./number.js";

/** The overview of a sweep; `go(context)` shows a call path. */
export class Overview {
  constructor(go) {
    this.go = go;
    this.root = element("section", { class: "overview", "aria-label": "overview" });
  }

  show(model) {
    const { score } = model;
    const isAsked = model.base === score.base && model.at === score.at;
    const note = isAsked
      ? null
      : `Causes, findings and efficiencies below are those of ${score.base} and ${score.at}, for which the page was written.`;
    this.root.replaceChildren(
      this.#headline(model),
      ...model.data.head.caveats.map((text) => element("p", { class: "caveat", text: visible(text) })),
      ...(note ? [element("p", { class: "caveat", text: note })] : []),
      element("div", { class: "cards" }, [
        card("What to look at", this.#findings(score), "tall"),
        card("Speed-up", [figure(speedup(model), "by wall time, with the ideal line; bands are 95 % intervals")]),
        card("Efficiency", [figure(efficiency(model), "work that perfect scaling needs, in percent of all work")]),
        card(`Why: excess work at ${score.at} by cause`, this.#causes(score)),
        card("From perfect scaling to the efficiency", waterfall(score)),
        card("Processor counts", [scales(score)], "wide"),
      ]),
    );
  }

  #headline(model) {
    const view = new ContextView(model.tree, model.present);
    const { excess, halfWidth: width, isTold, workAt, expected } = model.loss(view, 0, "inclusive");
    const share = `${decimal(100 * Math.abs(excess))} ± ${decimal(100 * width)} %`;
    const words = !isTold
      ? [
          "",
          `Not told from zero: ${signed(100 * excess)} ± ${decimal(100 * width)} % of the work at ${model.at} is excess work`,
        ]
      : excess > 0
        ? ["worse", `${share} of the work at ${model.at} processors is lost`]
        : ["better", `${share} less work at ${model.at} processors than expected`];
    const { score } = model;
    const detail = `${score.scaling} scaling against ${model.base}; metric ${score.metric}: ${decimal(workAt / 1e9, 2)} s over all threads, where perfect scaling needs ${decimal(expected / 1e9, 2)} s. ${score.program.join(" ")}`;
    return element("div", {}, [
      element("p", { class: `headline ${words[0]}`, "data-testid": "headline", text: words[1] }),
      element("p", { class: "dim", text: visible(detail) }),
    ]);
  }

  #findings(score) {
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

function scales(score) {
  const heads = ["processors", "runs", "work s", "wall s", `excess % against ${score.base}`, "efficiency %"];
  const line = (s) => [
    String(s.processors),
    String(s.repetitions),
    decimal(s.work_seconds, 2),
    decimal(s.wall_seconds, 2),
    `${decimal(s.excess_percent)} ± ${decimal(s.excess_half_width_percent)}`,
    decimal(s.work_efficiency_percent),
  ];
  return element("table", { class: "numbers" }, [
    element("thead", {}, [
      element(
        "tr",
        {},
        heads.map((text) => element("th", { scope: "col", text })),
      ),
    ]),
    element(
      "tbody",
      {},
      score.scales.map((s) =>
        element(
          "tr",
          {},
          line(s).map((text) => element("td", { text })),
        ),
      ),
    ),
  ]);
}
