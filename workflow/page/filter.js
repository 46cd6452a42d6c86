// Which part of the cost counts.
import { chosenOf, sectionsOf, withinSection } from "./spread.js";

/**
 * The part of one `module`'s code, of some `ranks` or threads (a text such as `0-3,8`) or, if one is chosen, of a `section`; all of it
 * where they are null.
 */
export class Filter {
  constructor({ module = null, ranks = null, section = null } = {}) {
    Object.assign(this, { module, ranks, section });
  }

  /** Another filter with these changes; an empty text is none. */
  with(changes) {
    const chosen = Object.entries(changes).map(([name, text]) => [name, text.trim() === "" ? null : text.trim()]);
    return new Filter({ ...this, ...Object.fromEntries(chosen) });
  }

  /** A model of that part of its cost. */
  of(model) {
    const [keeps, part] = [this.#contexts(model), this.#part(model)];
    return keeps === null && part === null ? model : model.filtered(keeps, part);
  }

  /** For each context whether its code is in the module. */
  #contexts({ tree }) {
    if (this.module === null) return null;
    const number = tree.modules.find((module) => tree.text(module) === this.module);
    return number === undefined
      ? null
      : Uint8Array.from(tree.scopes, (scope) => Number(tree.modules[scope] === number));
  }

  /** The ranks, threads or sections that count. */
  #part({ data, spread, kind }) {
    const { ranks, section } = this;
    const sections = section === null ? null : sectionsOf(data);
    if (sections !== null) return { spread: sections, chosen: withinSection(section, sections) };
    return ranks === null || !spread || kind === "sweep" ? null : { spread, chosen: chosenOf(ranks, spread) };
  }
}
