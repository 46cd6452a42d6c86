// How a row bounds the speed-up, and where its time stops falling. The formulas are those of docs/model.md.
import { halfWidth, mean, repeated } from "./excess.js";
import { quantileOf } from "./student.js";

/** Changes below this part of the time are none. */
const FLAT = 0.02;

/**
 * Times over processor counts: `values` of the repetitions at each count, of one piece of work, and the variance of a value that is
 * `known` beforehand. A few repetitions say little of the scatter at one count, so the coefficient of variation is pooled over all. Gives
 * `{points, freedom}`, a point being `{processors, mean, error}`.
 */
export function times(observations) {
  let [squares, freedom] = [0, 0];
  for (const { values } of observations) {
    const middle = mean(values);
    if (middle === 0) continue;
    squares += values.reduce((sum, value) => sum + (value / middle - 1) ** 2, 0);
    freedom += values.length - 1;
  }
  const variation = freedom > 0 ? squares / freedom : 0;
  const points = observations.map(({ processors, values, known }) => {
    const middle = mean(values);
    return { processors, mean: middle, error: Math.sqrt(Math.max(variation * middle ** 2, known) / values.length) };
  });
  return { points, freedom: freedom === 0 && observations.some((o) => o.known > 0) ? Infinity : freedom };
}

/**
 * The times that the work of the smallest count takes with a processor of each count, from the work of the repetitions at each (`{processors,
 * values}`, and `wholes`, those of the whole runs), by weak scaling a share of it. `period` is the time between samples.
 */
export function sameWork(curve, wholes, period, isWeak) {
  const [{ processors: first }] = curve;
  const of = ({ processors, values }, place) => {
    const scale = processors * (isWeak ? processors / first : 1);
    const middle = mean(values);
    const { variance } = repeated([middle], period, middle, mean(wholes[place].values));
    return { processors, values: values.map((value) => value / scale), known: variance / scale ** 2 };
  };
  return times(curve.map(of));
}

/**
 * Where a time stops falling, `{state, fastest, low, high}`: it "falls" if the last count is faster than the one before, is "flat" if the
 * last counts are alike, and "past" if a count after the fastest is slower; the least time lies between the counts low and high. Null
 * for a single count.
 */
export function inflexion({ points, freedom }) {
  const last = points.length - 1;
  if (last < 1) return null;
  const best = points.reduce((least, point, place) => (point.mean < points[least].mean ? place : least), 0);
  // Bonferroni's rule: so many counts are looked at together.
  const quantile = (looks) => (freedom === 0 ? 0 : quantileOf(0.05 / looks, freedom));
  const noise = (a, b) => Math.hypot(points[a].error, points[b].error);
  const isSlower = (a, b, by) => points[a].mean - points[b].mean > by * noise(a, b);
  const ofOne = quantile(1);
  const isAlike = ({ mean: time }, place) =>
    time - points[best].mean <= Math.max(ofOne * noise(place, best), FLAT * points[best].mean);
  const ofLater = last > best + 1 ? quantile(last - best) : ofOne;
  const isPast = points.some((_, place) => place > best && isSlower(place, best, ofLater));
  // The first of the last counts that are all alike.
  const flatFrom = points.findLastIndex((point, place) => !isAlike(point, place)) + 1;
  const falls = best === last && flatFrom === last && isSlower(last - 1, last, ofOne);
  const state = isPast ? "past" : falls ? "falls" : "flat";
  const at = state === "flat" ? Math.min(flatFrom, best) : best;
  return {
    state,
    fastest: points[at].processors,
    low: points[Math.max(0, at - 1)].processors,
    high: isPast ? points[best + 1].processors : Infinity,
  };
}

/**
 * B = T/f: the speed-up over a run that takes the time at a place of `whole` is no more than this while a part takes its time at a place;
 * `factor` is how much longer it takes those who spend most in it. `{value, low, high}`, infinite for a part without time.
 */
export function bound(whole, from, part, to, factor = 1) {
  const around = ({ points, freedom }, place) => {
    const { mean: value, error } = points[place];
    return [value, halfWidth({ error, freedom })];
  };
  const [[time, wide], [of, broad]] = [around(whole, from), around(part, to)];
  const over = (a, b) => (b > 0 ? a / (b * factor) : Infinity);
  return {
    value: over(time, of),
    low: over(Math.max(0, time - wide), of + broad),
    high: over(time + wide, of - broad),
  };
}
