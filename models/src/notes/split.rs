//! A change of law in the middle of a sweep.

use crate::linear::Fit;
use crate::points::{Point, Points};

/// Scales that each side of a change needs.
const SIDE_MIN: usize = 4;
/// By how much two laws must be better than one: strong evidence (Kass and Raftery, JASA 90, 1995) is 6, and some is spent on having looked
/// at every place.
const EVIDENCE: f64 = 12.0;
/// Misses below this part of the variance are none.
const MISS_MIN: f64 = 0.01;

/// A count at which another law begins: another network level, a message size, a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The last count of the first law.
    pub last: f64,
    /// The first count of the second.
    pub first: f64,
    /// By how much the Bayesian information criterion is better than with one law.
    pub evidence: f64,
}

impl Split {
    /// The best single change of law over processor counts, if two laws are much better than one: by Schwarz's criterion
    /// n·ln(RSS/n) + k·ln n over constants and c₀ + c₁·g(p), g = 1/p, log2 p, √p or p. Each side has four scales or more, so fewer than eight have none.
    ///
    /// ```
    /// use falloff_models::{Observation, Points, Split};
    /// let time = |p: f64| if p <= 16.0 { 4.0 } else { 0.25 * p };
    /// let runs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0].map(|p| Observation::new(p, &[time(p)]));
    /// let split = Split::find(&Points::new(&runs)?).unwrap();
    /// assert_eq!((split.last, split.first), (16.0, 32.0));
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    pub fn find(points: &Points) -> Option<Split> {
        let variances = points.variances();
        let all: Vec<(&Point, f64)> = points.iter().zip(variances).collect();
        let count = all.len() as f64;
        let criterion = |miss: f64, size: f64| count * (miss / count).max(MISS_MIN).ln() + size * count.ln();
        // The choice of g is a parameter as well, and so is the place.
        let one = criterion(miss(&all), 3.0);
        let places = SIDE_MIN..(all.len() + 1).saturating_sub(SIDE_MIN);
        let splits = places.map(|at| {
            let evidence = one - criterion(miss(&all[..at]) + miss(&all[at..]), 7.0);
            Split { last: all[at - 1].0.scale.p, first: all[at].0.scale.p, evidence }
        });
        splits.max_by(|a, b| a.evidence.total_cmp(&b.evidence)).filter(|split| split.evidence >= EVIDENCE)
    }
}

/// Least weighted sum of squares over the laws.
fn miss(side: &[(&Point, f64)]) -> f64 {
    let values: Vec<f64> = side.iter().map(|(point, _)| point.mean).collect();
    let variances: Vec<f64> = side.iter().map(|(_, variance)| *variance).collect();
    let one = vec![1.0; side.len()];
    let laws: [fn(f64) -> f64; 4] = [|p| 1.0 / p, f64::log2, f64::sqrt, |p| p];
    let terms = laws.map(|law| side.iter().map(|(point, _)| law(point.scale.p)).collect::<Vec<f64>>());
    let two = terms.into_iter().filter_map(|term| Fit::new(&[one.clone(), term], &values, &variances));
    let constant = Fit::new(std::slice::from_ref(&one), &values, &variances);
    two.chain(constant).map(|fit| fit.rss).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::normal;
    use crate::points::Observation;

    fn sweep(time: impl Fn(f64) -> f64, seed: u64) -> Points {
        let mut random = fastrand::Rng::with_seed(seed);
        let counts = (0..10).map(|k| f64::from(1 << k));
        let runs = counts
            .map(|p| Observation::new(p, &[(); 3].map(|()| time(p) * (1.0 + 0.05 * normal(&mut random)))));
        Points::new(&runs.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn one_law_is_rarely_two() {
        let laws: [fn(f64) -> f64; 3] = [|_| 10.0, |p| 5.0 + 95.0 / p, |p| 10.0 + 2.0 * p.log2()];
        for law in laws {
            let split = (0..200).filter(|seed| Split::find(&sweep(law, *seed)).is_some()).count();
            // 5 % of 200, and four standard errors.
            assert!(split <= 22, "{split}");
        }
    }

    #[test]
    fn a_step_is_seen_where_it_is() {
        let found = (0..50).filter(|seed| {
            let points = sweep(|p| if p < 20.0 { 10.0 } else { 20.0 }, *seed);
            Split::find(&points).is_some_and(|split| (split.last, split.first) == (16.0, 32.0))
        });
        assert!(found.count() >= 45);
    }
}
