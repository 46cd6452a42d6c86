//! How times are spread, in bounded memory.

use std::collections::BTreeMap;

/// Classes of each factor of two.
const FINE: u32 = 32;

/// Counts of whole numbers in classes that are a thirty-second of a factor of two wide: quantiles are right within 2 %.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// By class.
    counts: BTreeMap<u32, u64>,
    count: u64,
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        *self.counts.entry(class(value)).or_default() += 1;
        self.count += 1;
    }

    /// The mean of those that are not above a limit, as if they lay in the middle of their classes; `None` without any.
    pub fn mean_up_to(&self, limit: f64) -> Option<f64> {
        let (mut sum, mut number) = (0.0, 0);
        for (class, count) in self.counts.iter().take_while(|(class, _)| start(**class) as f64 <= limit) {
            sum += *count as f64 * (start(*class) + start(class + 1) - 1) as f64 / 2.0;
            number += count;
        }
        (number > 0).then(|| sum / number as f64)
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value below which this share of them lies, linear within a class; `None` without any.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.count as f64;
        let mut below = 0;
        for (class, count) in &self.counts {
            let within = (wanted - below as f64) / *count as f64;
            if within <= 1.0 {
                let (from, to) = (start(*class) as f64, start(class + 1) as f64);
                // Small numbers have a class each.
                return Some(if to - from <= 1.0 { from } else { from + (to - from) * within.max(0.0) });
            }
            below += count;
        }
        None
    }
}

/// Values below [`FINE`] have a class each, those above as many in each factor of two.
fn class(value: u64) -> u32 {
    if value < u64::from(FINE) {
        return value as u32;
    }
    let octave = value.ilog2() - FINE.ilog2();
    octave * FINE + (value >> octave) as u32
}

/// The least value of a class.
fn start(class: u32) -> u64 {
    if class < 2 * FINE {
        return class.into();
    }
    let octave = class / FINE - 1;
    u64::try_from(u128::from(class - octave * FINE) << octave).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_in_its_class(value: u64, small in 0..100_000_u64) {
            for value in [value, small] {
                let class = class(value);
                prop_assert!(start(class) <= value);
                prop_assert!(class == super::class(u64::MAX) || value < start(class + 1));
                prop_assert!(value - start(class) <= value / u64::from(FINE));
            }
        }

        #[test]
        fn quantiles_are_right_within_a_class(values in prop::collection::vec(1..1_000_000_u64, 1..200), share in 0.0..1.0) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let at = |place: f64| sorted[(place as usize).min(sorted.len() - 1)] as f64;
            let place = share * sorted.len() as f64;
            let found = histogram.quantile(share).unwrap();
            prop_assert!(found >= at((place - 1.0).max(0.0)) * 0.96 && found <= at(place) * 1.04, "{}", found);
        }
    }

    #[test]
    fn small_numbers_are_exact() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        [7, 9, 9, 9].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(
            (histogram.count(), histogram.quantile(0.2), histogram.quantile(0.5)),
            (4, Some(7.0), Some(9.0))
        );
        assert_eq!([6.0, 8.0, 9.0].map(|limit| histogram.mean_up_to(limit)), [None, Some(7.0), Some(8.5)]);
    }
}
