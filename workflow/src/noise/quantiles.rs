//! A measured distribution in few numbers.

use falloff_messages::{Distribution, DistributionError};
use serde::{Deserialize, Serialize};

/// Steps between the quantiles that are kept.
const STEPS: usize = 100;
/// Largest values that are kept, beyond what the last steps can show.
const LARGEST: usize = 16;
/// Steps between the values that are drawn from, at most.
const POINTS: usize = 1 << 14;

/// A distribution of measured values, in the unit of the field that holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// How many values there were.
    pub count: u64,
    /// Their mean; 0 if there were none.
    pub mean: f64,
    /// Their standard deviation.
    pub standard_deviation: f64,
    /// The 0th, 1st, … 100th percentile; empty if there were no values.
    pub percentiles: Vec<f64>,
    /// The largest values, the largest first, at most 16.
    pub largest: Vec<f64>,
}

impl Quantiles {
    /// Of values in any order.
    ///
    /// ```
    /// use falloff_workflow::noise::Quantiles;
    /// let found = Quantiles::of(vec![4.0, 1.0, 3.0, 2.0, 0.0]);
    /// assert_eq!((found.count, found.mean, found.at(0.5), found.at(0.125)), (5, 2.0, 2.0, 0.5));
    /// ```
    pub fn of(mut values: Vec<f64>) -> Quantiles {
        values.sort_by(f64::total_cmp);
        let Some(last) = values.len().checked_sub(1) else { return Quantiles::default() };
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let percentile = |step: usize| between(&values, step as f64 / STEPS as f64 * last as f64);
        Quantiles {
            count: values.len() as u64,
            mean,
            standard_deviation: if last == 0 { 0.0 } else { (squares / last as f64).sqrt() },
            percentiles: (0..=STEPS).map(percentile).collect(),
            largest: values.iter().rev().take(LARGEST).copied().collect(),
        }
    }

    /// The value below which a share of all lies, between the percentiles by a straight line; 0 without values.
    pub fn at(&self, share: f64) -> f64 {
        match self.percentiles.len().checked_sub(1) {
            Some(last) => between(&self.percentiles, share.clamp(0.0, 1.0) * last as f64),
            None => 0.0,
        }
    }

    /// By how much values exceed the median, 0 for those that do not: to draw from in a replay, in the same unit.
    ///
    /// # Errors
    /// There were no values.
    pub fn beyond_median(&self) -> Result<Distribution, DistributionError> {
        let count = (self.count.saturating_sub(1) as usize).clamp(1, POINTS);
        let median = self.median();
        let beyond = |point| (self.upper(point as f64 / count as f64) - median).max(0.0);
        let points = if self.percentiles.is_empty() { Vec::new() } else { (0..=count).map(beyond).collect() };
        falloff_messages::Quantiles::new(points).map(Distribution::Empirical)
    }

    /// As [`Quantiles::at`], by the largest values where they tell it better.
    fn upper(&self, share: f64) -> f64 {
        let place = self.count.saturating_sub(1) as f64 * (1.0 - share);
        match self.largest.len().checked_sub(1) {
            Some(last) if place <= last as f64 => between(&self.largest, place),
            // Above the last percentile but one, the largest are not on its line.
            Some(last) if share > 1.0 - 1.0 / STEPS as f64 => {
                let from = self.count.saturating_sub(1) as f64 / STEPS as f64;
                let (low, high) = (self.at(1.0 - 1.0 / STEPS as f64), self.largest[last]);
                low + (high - low) * (from - place) / (from - last as f64)
            }
            _ => self.at(share),
        }
    }

    /// The middle value.
    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The largest value; 0 without values.
    pub fn max(&self) -> f64 {
        self.largest.first().copied().unwrap_or(0.0)
    }
}

/// The value at a place between two indices.
fn between(sorted: &[f64], place: f64) -> f64 {
    let (low, rest) = (place as usize, place.fract());
    let next = sorted[(low + 1).min(sorted.len() - 1)];
    sorted[low] + rest * (next - sorted[low])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_quantiles() {
        let none = Quantiles::of(Vec::new());
        assert_eq!((none.count, none.median(), none.max()), (0, 0.0, 0.0));
        assert_eq!(Quantiles::of(vec![7.0]).at(0.99), 7.0);
    }

    #[test]
    fn a_replay_draws_what_was_measured_beyond_the_median() {
        let drawn = Quantiles::of((0..=1000).map(f64::from).collect()).beyond_median().unwrap();
        assert_eq!([0.0, 0.5, 0.75, 1.0].map(|p| drawn.quantile(p)), [0.0, 0.0, 250.0, 500.0]);
        assert!((drawn.quantile(0.999) - 499.0).abs() < 1e-9);
        assert!(Quantiles::default().beyond_median().is_err());
        // One of four hundred takes a thousand times as long, which counts for more than all else.
        let values: Vec<f64> = (0..4000).map(|n| if n % 400 == 0 { 1e6 } else { 1000.0 }).collect();
        let mean = Quantiles::of(values).beyond_median().unwrap().mean();
        assert!((mean / (10.0 * 999_000.0 / 4000.0) - 1.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn the_tail_is_kept() {
        let found = Quantiles::of((0..10_000).map(f64::from).collect());
        assert_eq!((found.largest.len(), found.largest[15], found.max()), (16, 9984.0, 9999.0));
        assert!((found.standard_deviation - 2886.9).abs() < 0.1);
    }

    proptest! {
        #[test]
        fn quantiles_rise_between_least_and_largest(values in prop::collection::vec(0.0f64..1e9, 1..300)) {
            let found = Quantiles::of(values.clone());
            prop_assert!(found.percentiles.windows(2).all(|pair| pair[0] <= pair[1]));
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert_eq!((found.at(0.0), found.at(1.0)), (least, found.max()));
        }
    }
}
