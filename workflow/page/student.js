// Student's t distribution, for intervals and for what is told from chance.

/** ln Γ(x) for x > 0, by Lanczos' approximation. */
function logGamma(x) {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const y = x - 1;
  const sum = c.reduce((all, value, i) => (i === 0 ? value : all + value / (y + i)), 0);
  const t = y + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The incomplete beta function's continued fraction, by Lentz' method. */
function betaFraction(x, a, b) {
  const tiny = 1e-300;
  const off = (value) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / off(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / off(1 + even * d);
    c = off(1 + even / c);
    product *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / off(1 + odd * d);
    c = off(1 + odd / c);
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return product;
}

/** The regularised incomplete beta function. */
function incompleteBeta(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** From here on Student's t is the normal distribution. */
const MOST_FREEDOM = 1e6;
const NORMAL_95 = 1.959963985;

/** How often a value as far from zero as t is seen, two-sided. */
export function pValueOf(t, freedom) {
  const v = Math.min(freedom, MOST_FREEDOM);
  return incompleteBeta(v / (v + t * t), v / 2, 0.5);
}

/** The value that is seen as far from zero, two-sided, with this probability; by halving, for probabilities from 1e-6 on. */
export function quantileOf(probability, freedom) {
  let [low, high] = [0, 10];
  while (pValueOf(high, freedom) > probability) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (pValueOf(middle, freedom) > probability) low = middle;
    else high = middle;
  }
  return low;
}

/** Steps of the table of quantiles over 1/freedom, in which it is smooth. */
const STEPS = 1024;
const QUANTILES = new Map([[0, NORMAL_95]]);

/** Two-sided 95 % quantile at a step of the table. */
function quantile(step) {
  if (!QUANTILES.has(step)) QUANTILES.set(step, quantileOf(0.05, STEPS / step));
  return QUANTILES.get(step);
}

/** Two-sided 95 % quantile; right to 1e-4 from one degree of freedom on. */
export function t95(freedom) {
  const at = STEPS * Math.min(1, Math.max(0, 1 / freedom));
  const step = Math.floor(at);
  return quantile(step) + (at - step) * (quantile(step + 1) - quantile(step));
}

/** The q-value of each p-value (Benjamini and Hochberg): the share of false findings among all that are at least as small. */
export function qValues(pValues) {
  const order = [...pValues.keys()].sort((a, b) => pValues[a] - pValues[b]);
  const found = new Array(pValues.length).fill(1);
  let least = 1;
  for (let rank = order.length - 1; rank >= 0; rank--) {
    least = Math.min(least, (pValues[order[rank]] * pValues.length) / (rank + 1));
    found[order[rank]] = least;
  }
  return found;
}
