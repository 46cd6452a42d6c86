//! Sharing out whole nanoseconds.

/// Shares out `total` in proportion to `weights`, so that the parts are whole and add up to it. Without any weight nothing is
/// shared out.
///
/// One after the other gets its part of what is left, rounded down.
///
/// ```
/// use falloff_messages::waits::split;
/// assert_eq!(split(10, [1, 1, 1]), [3, 3, 4]);
/// assert_eq!(split(10, [0, 0]), [0, 0]);
/// ```
pub fn split(total: u64, weights: impl IntoIterator<Item = u64> + Clone) -> Vec<u64> {
    let mut weight_left: u128 = weights.clone().into_iter().map(u128::from).sum();
    let mut left = total;
    let part = |weight: u64| {
        let part = (u128::from(left) * u128::from(weight)).checked_div(weight_left).unwrap_or(0) as u64;
        left -= part;
        weight_left -= u128::from(weight);
        part
    };
    weights.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_proportional_and_add_up(total: u64, weights in prop::collection::vec(any::<u64>(), 1..8)) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let parts = split(total, weights.iter().copied());
            prop_assert_eq!(parts.iter().sum::<u64>(), total);
            let sum: f64 = weights.iter().map(|weight| *weight as f64).sum();
            for (part, weight) in parts.iter().zip(weights) {
                let exact = total as f64 * (weight as f64 / sum);
                prop_assert!((*part as f64 - exact).abs() <= 1.0 + total as f64 * 1e-12);
            }
        }
    }
}
