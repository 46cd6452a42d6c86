// Excess work: what perfect scaling would not have done. The formulas are those of docs/score.md.
import { pValueOf, t95 } from "./student.js";

export function mean(values) {
  return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}

/**
 * Mean and variance of the work of the repetitions of one count: v = max(s², τ·(Σρ²W − (ΣρW)²/A)), with the time between
 * samples τ (`period`) and the work of the whole run A (`whole`).
 */
export function repeated(values, period, squared, whole) {
  const count = values.length;
  const middle = mean(values);
  const seen = count < 2 ? 0 : values.reduce((sum, v) => sum + (v - middle) ** 2, 0) / (count - 1);
  const drawn = whole > 0 ? Math.max(0, Math.abs(squared) - (middle * middle) / whole) : 0;
  return { mean: middle, variance: Math.max(seen, period * drawn), count };
}

/** Standard error and Welch's degrees of freedom of the difference of two means. */
export function uncertainty(base, at) {
  const parts = [at, base].map(({ variance, count }) => [count === 0 ? 0 : variance / count, count]);
  const squared = parts.reduce((sum, [e]) => sum + e, 0);
  const spread = parts.reduce((sum, [e, count]) => sum + (count > 1 ? (e * e) / (count - 1) : 0), 0);
  return { error: Math.sqrt(Math.max(0, squared)), freedom: spread > 0 ? (squared * squared) / spread : Infinity };
}

/** Half width of the 95 % interval. */
export function halfWidth({ error, freedom }) {
  return error > 0 ? t95(freedom) * error : 0;
}

/**
 * Excess of an amount of work: `base` and `at` have it for each repetition, `expected` what each at the base makes expect, and
 * `squared` is Σρ²W of the mean repetition. `of` has `period`, `wholeBase`, `wholeAt` and `same`.
 */
export function loss({ base, expected, squared, at }, of) {
  const before = repeated(expected, of.period, squared, of.wholeBase);
  const after = repeated(at, of.period, mean(at), of.wholeAt);
  const unsure = of.same ? { error: 0, freedom: Infinity } : uncertainty(before, after);
  const error = unsure.error / of.wholeAt;
  const excess = (after.mean - before.mean) / of.wholeAt;
  const size = Math.abs(excess);
  const width = halfWidth({ error, freedom: unsure.freedom });
  return {
    workBase: mean(base),
    expected: before.mean,
    workAt: after.mean,
    excess,
    halfWidth: width,
    isTold: size > width,
    pValue: size === 0 ? 1 : error <= 0 ? 0 : pValueOf(size / error, unsure.freedom),
  };
}
