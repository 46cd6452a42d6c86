//! Exact statistics of one number at every location.

/// The percentiles that are kept.
pub const PERCENTILES: [u32; 5] = [10, 25, 50, 75, 90];

/// Statistics over the threads that the program started. One that has no value counts as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// How many threads there are.
    pub locations: u32,
    /// How many of them have a value.
    pub participants: u32,
    /// Sum of the values.
    pub sum: i64,
    /// Sum of their squares.
    pub sum_of_squares: u128,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// First location that has the largest; `None` if that is the 0 of those without a value.
    pub max_location: Option<u32>,
    /// For each of [`PERCENTILES`] the smallest value that so many percent of the threads do not exceed.
    pub percentiles: [i64; PERCENTILES.len()],
}

impl Statistics {
    /// Of (value, location) of the participants, each once and in any order.
    ///
    /// ```
    /// use falloff_postprocess::database::Statistics;
    /// let of = Statistics::of(&mut [(7, 2), (1, 0)], 4);
    /// assert_eq!((of.sum, of.min, of.max, of.max_location, of.participants), (8, 0, 7, Some(2), 2));
    /// // In order they are 0, 0, 1, 7.
    /// assert_eq!(of.percentiles, [0, 0, 0, 1, 7]);
    /// assert_eq!((of.mean(), of.imbalance()), (Some(2.0), Some(3.5)));
    /// ```
    pub fn of(values: &mut [(i64, u32)], locations: u32) -> Statistics {
        values.sort_unstable();
        let participants = values.len() as u32;
        let absent = locations.saturating_sub(participants);
        let mut statistics = Statistics { locations, participants, ..Statistics::default() };
        for (value, _) in values.iter() {
            statistics.sum = statistics.sum.saturating_add(*value);
            let square = u128::from(value.unsigned_abs()).pow(2);
            statistics.sum_of_squares = statistics.sum_of_squares.saturating_add(square);
        }
        if let (Some((first, _)), Some((last, _))) = (values.first(), values.last()) {
            let zero = (absent > 0).then_some(0);
            statistics.min = zero.map_or(*first, |zero| zero.min(*first));
            statistics.max = zero.map_or(*last, |zero| zero.max(*last));
            let place = values.partition_point(|(value, _)| *value < statistics.max);
            statistics.max_location = values.get(place).map(|(_, location)| *location);
            let below_zero = values.partition_point(|(value, _)| *value < 0) as u32;
            statistics.percentiles = PERCENTILES.map(|percent| {
                let rank = (u64::from(percent) * u64::from(locations)).div_ceil(100).max(1) as u32 - 1;
                let at = |rank: u32| values.get(rank as usize).map_or(0, |(value, _)| *value);
                match rank {
                    rank if rank < below_zero => at(rank),
                    rank if rank - below_zero < absent => 0,
                    rank => at(rank - absent),
                }
            });
        }
        statistics
    }

    /// Mean; `None` without locations.
    pub fn mean(&self) -> Option<f64> {
        (self.locations > 0).then(|| self.sum as f64 / f64::from(self.locations))
    }

    /// Standard deviation over n locations, of n - 1 degrees of freedom; `None` with fewer than two.
    ///
    /// It is the root of (n * sum of squares - sum^2) / (n * (n - 1)), whose numerator is exact as far as it fits.
    ///
    /// ```
    /// use falloff_postprocess::database::Statistics;
    /// let of = Statistics::of(&mut [(2_000_000_000, 0), (2_000_000_002, 1)], 2);
    /// assert_eq!(of.standard_deviation(), Some(2f64.sqrt()));
    /// ```
    pub fn standard_deviation(&self) -> Option<f64> {
        let n = u128::from(self.locations);
        let square = u128::from(self.sum.unsigned_abs()).pow(2);
        let numerator = match n.checked_mul(self.sum_of_squares) {
            Some(product) => product.saturating_sub(square) as f64,
            None => n as f64 * self.sum_of_squares as f64 - square as f64,
        };
        (n > 1).then(|| (numerator / (n * (n - 1)) as f64).sqrt())
    }

    /// Largest over mean value: 1 is perfect balance, the number of locations is work at one of them alone. `None` if
    /// the mean is not above 0.
    pub fn imbalance(&self) -> Option<f64> {
        self.mean().filter(|mean| *mean > 0.0).map(|mean| self.max as f64 / mean)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_nothing_everything_is_0() {
        let none = Statistics::of(&mut [], 3);
        assert_eq!(none, Statistics { locations: 3, ..Statistics::default() });
        assert_eq!((none.mean(), none.standard_deviation(), none.imbalance()), (Some(0.0), Some(0.0), None));
        assert_eq!(Statistics::of(&mut [], 0).mean(), None);
    }

    #[test]
    fn values_below_zero_stand_before_the_absent() {
        let of = Statistics::of(&mut [(-5, 1), (-7, 3)], 4);
        assert_eq!((of.min, of.max, of.max_location), (-7, 0, None));
        assert_eq!(of.percentiles, [-7, -7, -5, 0, 0]);
        assert_eq!(Statistics::of(&mut [(-5, 1), (-7, 0)], 2).max_location, Some(1));
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_values_spread_out(
            values in prop::collection::vec(prop_oneof![Just(0i64), -20i64..20], 1..30),
        ) {
            let mut present: Vec<(i64, u32)> =
                values.iter().copied().zip(0..).filter(|(value, _)| *value != 0).collect();
            let of = Statistics::of(&mut present, values.len() as u32);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            prop_assert_eq!(of.sum, values.iter().sum::<i64>());
            prop_assert_eq!((of.min, of.max), (sorted[0], sorted[sorted.len() - 1]));
            let first = values.iter().position(|v| *v == of.max && *v != 0).map(|l| l as u32);
            prop_assert_eq!(of.max_location, first);
            for (percent, found) in PERCENTILES.iter().zip(of.percentiles) {
                let rank = (*percent as usize * values.len()).div_ceil(100).max(1);
                prop_assert_eq!(found, sorted[rank - 1]);
            }
            if values.len() > 1 {
                let mean = of.sum as f64 / values.len() as f64;
                let squares: f64 = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
                let expected = (squares / (values.len() - 1) as f64).sqrt();
                prop_assert!((of.standard_deviation().unwrap() - expected).abs() < 1e-9);
            }
        }
    }
}
