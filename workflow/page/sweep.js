// The runs of a sweep.
import { presence, Series } from "./series.js";
import { Tree } from "./tree.js";

/** What is the same whichever counts are compared: the runs, their samples, and what is expected. */
export class Sweep {
  constructor(data) {
    this.data = data;
    this.tree = new Tree(data);
    const { runs, samples, score } = data.head;
    this.runs = runs.map(({ processors, wall_seconds, block }, number) => ({
      number,
      processors,
      wall: wall_seconds,
      series: new Series(this.tree, data.numbers(block)),
    }));
    this.samples = new Map(
      Object.entries(samples).map(([n, block]) => [Number(n), new Series(this.tree, data.numbers(block))]),
    );
    this.counts = [...this.samples.keys()].sort((a, b) => a - b);
    this.present = presence(this.tree, [...this.runs.map((run) => run.series), ...this.samples.values()]);
    this.weak = score.scaling === "weak";
    this.followed = data.has("followed") ? data.numbers("followed", Uint32Array) : null;
    this.grid = score.grid_pairs ?? {};
  }

  /** What a processor count is called: of a grid also which processes and threads it is. */
  name(processors) {
    const pair = this.grid[processors];
    return pair ? `${processors} (${pair})` : String(processors);
  }

  /** The runs at a processor count. */
  at(processors) {
    return this.runs.filter((run) => run.processors === processors);
  }

  /** Factor by which the work of a context is expected to grow; the same for all where none has an expectation of its own. */
  growth(context, base, at) {
    const own = this.followed === null ? undefined : this.data.head.expected[this.followed[context] - 1];
    if (own) return base === at ? 1 : own[at] / own[base];
    return this.weak ? at / base : 1;
  }
}
