// Work that is done ahead, a little at a time, so that nobody waits for it.

/** Time to work at once, ms: what the reader does meanwhile comes first after that. */
const SLICE = 6;
/** Contexts, scopes or rows that are looked at in one step. */
const STEP = 1 << 12;

/** `work(from, end)` on all numbers up to `count`, some of them in each step. */
export function* inSteps(count, work) {
  for (let from = 0; from < count; from += STEP) {
    work(from, Math.min(count, from + STEP));
    yield;
  }
}

/** Does all steps that are left. */
export function finish(steps) {
  while (!steps.next().done);
}

/** Does the steps of a task between all else. */
export class Ahead {
  #steps = null;
  #waiting = false;

  /** Takes these steps, in place of those before. */
  begin(steps) {
    this.#steps = steps;
    this.#wait();
  }

  #wait() {
    if (this.#waiting) return;
    this.#waiting = true;
    setTimeout(() => this.#work());
  }

  #work() {
    this.#waiting = false;
    const end = performance.now() + SLICE;
    while (performance.now() < end) {
      if (this.#steps.next().done) return;
    }
    this.#wait();
  }
}
