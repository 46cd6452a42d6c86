//! How many processors to use.

use crate::error::{Error, Result};
use crate::points::{Point, Points};

/// Counts worth using, among those measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// The largest count up to which every step paid.
    pub largest_paying: f64,
    /// The largest count whose efficiency is at least what was wished; `None` if the smallest misses it, which only a wish above 1 does.
    pub largest_efficient: Option<f64>,
}

/// What a step from one count to a larger one brings: the gain in speed against the growth of the machine,
/// (T₁/T₂ − 1) / (p₂/p₁ − 1). 1 is perfect, 0 no gain, negative a loss.
///
/// From 33.3 s on 4 processors to 26.7 s on 8 the program is 25 % faster on a machine 100 % larger:
///
/// ```
/// use falloff_models::marginal_efficiency;
/// assert!((marginal_efficiency((4.0, 100.0 / 3.0), (8.0, 80.0 / 3.0)) - 0.25).abs() < 1e-12);
/// ```
pub fn marginal_efficiency(from: (f64, f64), to: (f64, f64)) -> f64 {
    (from.1 / to.1 - 1.0) / (to.0 / from.0 - 1.0)
}

impl Advice {
    /// From times under strong scaling: a step pays if its [`marginal_efficiency`] is at least `marginal` (0.5 is usual), a count is
    /// efficient if p₀·T₀/(p·T) is at least `efficiency`.
    ///
    /// Times of 100, 52, 31, 28 s at 1, 2, 4, 8 processors: the last step brings 11 %:
    ///
    /// ```
    /// use falloff_models::{Advice, Observation, Points};
    /// let runs = [(1.0, 100.0), (2.0, 52.0), (4.0, 31.0), (8.0, 28.0)].map(|(p, t)| Observation::new(p, &[t]));
    /// let advice = Advice::new(&Points::new(&runs)?, 0.5, 0.9)?;
    /// assert_eq!((advice.largest_paying, advice.largest_efficient), (4.0, Some(2.0)));
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// A threshold is not positive.
    pub fn new(points: &Points, marginal: f64, efficiency: f64) -> Result<Advice> {
        let action = "say how many processors pay";
        for (name, value) in [("the marginal efficiency", marginal), ("the efficiency", efficiency)] {
            if value.is_nan() || value <= 0.0 {
                return Err(Error::Range { action, name, value, range: "positive" });
            }
        }
        let all: Vec<&Point> = points.iter().collect();
        let pair = |point: &Point| (point.scale.p, point.mean);
        let pays = |step: &&[&Point]| marginal_efficiency(pair(step[0]), pair(step[1])) >= marginal;
        let steps = all.windows(2).take_while(pays).count();
        let first = all[0].scale.p * all[0].mean;
        let efficient = all.iter().rev().find(|point| first / (point.scale.p * point.mean) >= efficiency);
        Ok(Advice {
            largest_paying: all[steps].scale.p,
            largest_efficient: efficient.map(|point| point.scale.p),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Observation;

    fn advice(times: &[(f64, f64)]) -> Advice {
        let runs: Vec<Observation> = times.iter().map(|(p, t)| Observation::new(*p, &[*t])).collect();
        Advice::new(&Points::new(&runs).unwrap(), 0.5, 0.5).unwrap()
    }

    #[test]
    fn the_first_step_that_does_not_pay_ends_it() {
        // The step to 4 does not pay, though that from 4 to 8 would.
        let found = advice(&[(1.0, 100.0), (2.0, 50.0), (4.0, 49.0), (8.0, 20.0)]);
        assert_eq!((found.largest_paying, found.largest_efficient), (2.0, Some(8.0)));
        let perfect = advice(&[(1.0, 100.0), (2.0, 50.0), (4.0, 25.0)]);
        assert_eq!((perfect.largest_paying, perfect.largest_efficient), (4.0, Some(4.0)));
        assert_eq!(advice(&[(4.0, 1.0)]).largest_paying, 4.0);
    }

    #[test]
    fn a_part_that_vanishes_pays() {
        assert_eq!(advice(&[(1.0, 1.0), (2.0, 0.0)]).largest_paying, 2.0);
        assert!(Advice::new(&Points::new(&[Observation::new(1.0, &[1.0])]).unwrap(), 0.0, 0.5).is_err());
    }
}
