//! The turning point of a time that falls like 1/p and rises with an overhead.

use crate::error::{Error, Result};
use crate::interval::{Interval, normal};
use crate::linear::Fit;
use crate::points::Points;

/// Scales that three coefficients and their error need.
const SCALES_MIN: usize = 4;
/// Draws of the bootstrap.
const DRAWS: usize = 1000;

/// How the overhead grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// c·p.
    Linear,
    /// c·log2(p).
    Logarithmic,
}

/// The least time of f(p) = a + b/p + c·g(p), between the counts measured or beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// g.
    pub growth: Growth,
    /// Time at the least, with its interval, seconds.
    pub time: Interval,
    /// The count with the least time: √(b/c) for g = p, b·ln 2/c for g = log2 p.
    pub p: Interval,
}

impl Growth {
    fn value(self, p: f64) -> f64 {
        match self {
            Growth::Linear => p,
            Growth::Logarithmic => p.log2(),
        }
    }

    /// Where b/p + c·g(p) is least, b > 0; infinite if nothing grows.
    fn least(self, b: f64, c: f64) -> f64 {
        match self {
            _ if c <= 0.0 => f64::INFINITY,
            _ if b <= 0.0 => 0.0,
            Growth::Linear => (b / c).sqrt(),
            Growth::Logarithmic => b * std::f64::consts::LN_2 / c,
        }
    }
}

/// f, fitted.
struct Curve {
    growth: Growth,
    fit: Fit,
}

impl Curve {
    fn new(points: &Points, growth: Growth, variances: &[f64]) -> Option<Curve> {
        let column = |of: &dyn Fn(f64) -> f64| points.iter().map(|point| of(point.scale.p)).collect();
        let columns = [column(&|_| 1.0), column(&|p| 1.0 / p), column(&|p| growth.value(p))];
        Some(Curve { growth, fit: Fit::new(&columns, &points.means(), variances)? })
    }

    fn value(&self, p: f64) -> f64 {
        self.fit.value(&[1.0, 1.0 / p, self.growth.value(p)])
    }

    fn least(&self) -> f64 {
        self.growth.least(self.fit.coefficients[1], self.fit.coefficients[2])
    }
}

impl Turning {
    /// Fits both shapes and takes the one that is nearer; the intervals are those of 1000 sets of times drawn around the curve with
    /// the scatter of the measured ones. The same `seed` gives the same answer. `None` if what falls or
    /// the overhead cannot be told from none: its interval holds 0.
    ///
    /// The least of 1 + 99/p + 0.05·p is at √(99/0.05) = 44.497:
    ///
    /// ```
    /// use falloff_models::{Observation, Points, Turning};
    /// let runs = [1.0, 4.0, 16.0, 64.0, 256.0].map(|p| Observation::new(p, &[1.0 + 99.0 / p + 0.05 * p]));
    /// let turning = Turning::new(&Points::new(&runs)?, 1)?.unwrap();
    /// assert!((turning.p.value - 44.497).abs() < 1e-3);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are fewer than four scales.
    pub fn new(points: &Points, seed: u64) -> Result<Option<Turning>> {
        if points.len() < SCALES_MIN {
            return Err(Error::TooFew {
                action: "find a turning point",
                have: points.len(),
                need: SCALES_MIN,
            });
        }
        let variances = points.variances();
        let curves =
            [Growth::Linear, Growth::Logarithmic].map(|growth| Curve::new(points, growth, &variances));
        let Some(curve) = curves.into_iter().flatten().min_by(|a, b| a.fit.rss.total_cmp(&b.fit.rss)) else {
            return Ok(None);
        };
        if !(curve.least() > 0.0 && curve.least().is_finite()) {
            return Ok(None);
        }
        Ok(curve.draw(points, &variances, seed))
    }
}

impl Curve {
    /// The turning point with the intervals that scatter alone brings about.
    fn draw(&self, points: &Points, variances: &[f64], seed: u64) -> Option<Turning> {
        let mut random = fastrand::Rng::with_seed(seed);
        let missed = self.fit.rss / self.fit.freedom;
        let errors: Vec<f64> =
            points.iter().zip(variances).map(|(point, v)| point.error.max((missed * v).sqrt())).collect();
        let (mut counts, mut times) = (Vec::new(), Vec::new());
        let (mut falls, mut growths) = (Vec::new(), Vec::new());
        for _ in 0..DRAWS {
            let mut error = errors.iter();
            let drawn = points.with_means(|point| {
                self.value(point.scale.p) + error.next().map_or(0.0, |e| e * normal(&mut random))
            });
            let curve = Curve::new(&drawn, self.growth, variances)?;
            falls.push(curve.fit.coefficients[1]);
            growths.push(curve.fit.coefficients[2]);
            counts.push(curve.least());
            times.push(curve.value(self.least()));
        }
        let interval = |value: f64, mut draws: Vec<f64>| {
            draws.sort_by(f64::total_cmp);
            let at = |share: f64| draws[(share * (DRAWS - 1) as f64).round() as usize];
            Interval { value, low: at(0.025).min(value), high: at(0.975).max(value) }
        };
        let fall = interval(self.fit.coefficients[1], falls);
        let growth = interval(self.fit.coefficients[2], growths);
        (fall.low > 0.0 && growth.low > 0.0).then(|| Turning {
            growth: self.growth,
            time: interval(self.value(self.least()), times),
            p: interval(self.least(), counts),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Observation;

    const COUNTS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    #[test]
    fn a_logarithmic_overhead() {
        // Least where 98·ln 2/0.1: far beyond what was measured, and told all the same by exact times.
        let runs = COUNTS.map(|p| Observation::new(p, &[2.0 + 98.0 / p + 0.1 * p.log2()]));
        let found = Turning::new(&Points::new(&runs).unwrap(), 1).unwrap().unwrap();
        assert_eq!(found.growth, Growth::Logarithmic);
        assert!((found.p.value - 98.0 * std::f64::consts::LN_2 / 0.1).abs() < 1e-6);
    }

    #[test]
    fn no_overhead_is_no_turning_point() {
        let runs =
            COUNTS.map(|p| Observation::new(p, &[0.97, 1.0, 1.03].map(|noise| noise * (5.0 + 95.0 / p))));
        assert_eq!(Turning::new(&Points::new(&runs).unwrap(), 1).unwrap(), None);
        let growing = COUNTS.map(|p| Observation::new(p, &[5.0 + 0.1 * p]));
        assert_eq!(Turning::new(&Points::new(&growing).unwrap(), 1).unwrap(), None);
        assert!(Turning::new(&Points::new(&growing[..3]).unwrap(), 1).is_err());
    }

    /// The interval holds the truth about as often as it says: 95 % of 300, less four standard errors and what the choice of the
    /// shape costs.
    #[test]
    fn the_interval_holds_the_truth() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut held, mut found) = (0, 0);
        for seed in 0..300 {
            let runs: Vec<Observation> = COUNTS
                .iter()
                .map(|p| {
                    let values: Vec<f64> = (0..3)
                        .map(|_| (1.0 + 99.0 / p + 0.2 * p) * (1.0 + 0.03 * normal(&mut random)))
                        .collect();
                    Observation::new(*p, &values)
                })
                .collect();
            if let Some(turning) = Turning::new(&Points::new(&runs).unwrap(), seed).unwrap() {
                found += 1;
                held += usize::from(turning.p.holds((99.0f64 / 0.2).sqrt()));
            }
        }
        assert!(found == 300 && held >= 267, "{held} of {found}");
    }
}
