//! Values with divisors: the least common one, and the canonical form.

use super::metric::{Metric, Value};

/// Greatest common divisor; of 0 and another number it is that number.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple of divisors; `None` if it does not fit.
pub fn common_divisor(divisors: impl IntoIterator<Item = u64>) -> Option<u64> {
    divisors.into_iter().try_fold(1u64, |all, one| (all / gcd(all, one)).checked_mul(one))
}

/// Divides the values of every metric and its divisor by what divides them all.
pub fn reduce(metrics: &mut [Metric], values: &mut [Value]) {
    let mut common: Vec<u64> = metrics.iter().map(|m| m.divisor).collect();
    if common.iter().all(|divisor| *divisor == 1) {
        return;
    }
    for value in values.iter() {
        let common = &mut common[value.metric as usize];
        *common = gcd(*common, value.exclusive.unsigned_abs());
    }
    for (metric, common) in metrics.iter_mut().zip(&common) {
        metric.divisor /= common;
    }
    for value in values {
        // A divisor beyond 2^63 divides i64::MIN or nothing.
        value.exclusive = i64::try_from(common[value.metric as usize]).map_or(-1, |c| value.exclusive / c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Unit;

    #[test]
    fn divisors_have_a_least_common_multiple() {
        assert_eq!(common_divisor([]), Some(1));
        assert_eq!(common_divisor([4, 6, 1]), Some(12));
        assert_eq!(common_divisor([u64::MAX, u64::MAX - 1]), None);
    }

    #[test]
    fn every_metric_is_reduced_by_itself() {
        let metric = |divisor, name: &str| Metric { divisor, ..Metric::new(Unit::Count, name) };
        let value = |metric, exclusive| Value { context: 1, location: 0, metric, exclusive };
        let mut metrics = [metric(6, "a"), metric(4, "b"), metric(5, "nothing")];
        let mut values = [value(0, 3), value(0, -9), value(1, 3), value(1, 2)];
        reduce(&mut metrics, &mut values);
        assert_eq!(metrics.each_ref().map(|m| m.divisor), [2, 4, 1]);
        assert_eq!(values.map(|v| v.exclusive), [1, -3, 3, 2]);
        let mut least = [value(0, i64::MIN)];
        let mut metrics = [metric(1 << 63, "a")];
        reduce(&mut metrics, &mut least);
        assert_eq!((metrics[0].divisor, least[0].exclusive), (1, -1));
    }
}
