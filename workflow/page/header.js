// The top of the page: what was measured, what is compared, and how the page looks.
import { element } from "./element.js";
import { keyHelp } from "./keys.js";
import { decimal, quantity, signed, visible } from "./number.js";
import { leftOut } from "./spread.js";
import { button } from "./toolbar.js";

/** The header; `on` has `compare(base, at)` and `colours()`. */
export class Header {
  constructor(model, on) {
    this.on = on;
    this.help = helpDialog();
    const { title } = model;
    const notes = [...model.notes, ...leftOut(model.data)];
    const warnings = notes.filter((note) => note.startsWith("warning")).length;
    const about = element("details", { class: "about" }, [
      element("summary", { text: `About this measurement${warnings ? ` (${warnings} warnings)` : ""}` }),
      ...notes.map((note) => element("p", { text: visible(note.trim()) })),
    ]);
    this.root = element("header", {}, [
      element("h1", { class: "grow", text: visible(title) }),
      ...(model.kind === "sweep" ? [this.#counts(model)] : []),
      button("Light or dark", "turn the colours round", () => this.#turn()),
      button("Keys", "?: what keys do", () => this.help.showModal()),
      ...(model.difference ? [difference(model)] : []),
      about,
      this.help,
    ]);
  }

  /** Which two processor counts are compared. */
  #counts({ sweep, base, at }) {
    const compare = () => this.on.compare(...this.counts.map((choice) => Number(choice.value)));
    const choice = () => {
      const options = sweep.counts.map((n) => element("option", { value: n, text: sweep.name(n) }));
      return element("select", { on: { change: compare } }, options);
    };
    this.counts = [choice(), choice()];
    this.showCounts({ base, at });
    const [before, after] = this.counts;
    return element("span", { class: "compare" }, [
      element("label", {}, ["compare ", before]),
      element("label", {}, [" with ", after, " processors"]),
    ]);
  }

  /** Shows which two are compared, without doing it. */
  showCounts({ base, at }) {
    const [before, after] = this.counts;
    [before.value, after.value] = [base, at];
  }

  #turn() {
    const { dataset } = document.documentElement;
    dataset.theme = isDark() ? "light" : "dark";
    this.on.colours();
  }
}

/** Which of two is new, how much they have, and how much of them could not be compared. */
function difference({ difference: { new: after, old: before }, unit, metrics: [{ name }] }) {
  const change = after.total - before.total;
  const percent = before.total > 0 ? ` (${signed((100 * change) / before.total)} %)` : "";
  const lost = [after, before]
    .map((side) => `${decimal(side.unmatched_percent)} % of ${visible(side.name)}`)
    .join(", ");
  return element("div", { class: "difference" }, [
    element("p", { class: "dim", text: `Not matched with any call path of the other: ${lost}.` }),
    element("p", {}, [
      element("strong", { text: "new " }),
      `${visible(after.name)}: ${quantity(after.total, unit)} ${name}. `,
      element("strong", { text: "old " }),
      `${visible(before.name)}: ${quantity(before.total, unit)}. `,
      element("span", {
        class: change > 0 ? "worse" : "better",
        text: `The new one costs ${change > 0 ? "more" : "less"}: ${change > 0 ? "+" : ""}${quantity(change, unit)}${percent}. `,
      }),
      element("span", { class: "dim", text: "+ and red is what the new one costs more, percent is of the old one." }),
    ]),
  ]);
}

/** Whether the page is dark: by the reader's choice, else the system's. */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function helpDialog() {
  const lines = keyHelp().flatMap(([key, words]) => [
    element("dt", {}, [element("kbd", { text: key })]),
    element("dd", { text: words }),
  ]);
  return element("dialog", { "aria-label": "keys" }, [
    element("h2", { text: "Keys" }),
    element("dl", {}, lines),
    element("form", { method: "dialog" }, [element("button", { class: "plain", text: "Close" })]),
  ]);
}
