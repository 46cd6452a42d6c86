//! Sharing a whole number among several.

use std::cmp::Reverse;

/// Parts of `value` in the ratio of the weights, all alike if these are all 0. The parts are whole and add up to
/// `value`: what rounding down leaves goes by one to the largest remainders, of equal ones to the first.
pub(super) fn share(value: u64, weights: &[u64]) -> Vec<u64> {
    let total: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    if total == 0 {
        return if weights.is_empty() { Vec::new() } else { share(value, &vec![1; weights.len()]) };
    }
    let product = |weight: &u64| u128::from(value) * u128::from(*weight);
    // A part is at most the value.
    let mut parts: Vec<u64> = weights.iter().map(|w| (product(w) / total) as u64).collect();
    let left = value - parts.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|i| Reverse(product(&weights[*i]) % total));
    for place in order.into_iter().take(left as usize) {
        parts[place] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_left_goes_to_the_largest_remainders() {
        assert_eq!(share(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(share(10, &[50, 0, 100]), [3, 0, 7]);
        assert_eq!(share(3, &[0, 0]), [2, 1]);
        assert_eq!(share(u64::MAX, &[u64::MAX, u64::MAX]), [1 << 63, (1 << 63) - 1]);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_in_proportion(
            value in any::<u64>(),
            weights in prop::collection::vec(prop_oneof![Just(0), 0u64..100, any::<u64>()], 1..8),
        ) {
            let parts = share(value, &weights);
            prop_assert_eq!(parts.iter().map(|p| u128::from(*p)).sum::<u128>(), u128::from(value));
            let total: u128 = weights.iter().map(|w| u128::from(*w)).sum();
            for (part, weight) in parts.iter().zip(&weights) {
                let product = u128::from(value) * u128::from(*weight);
                if let Some(exact) = product.checked_div(total) {
                    prop_assert!((exact..=exact + 1).contains(&u128::from(*part)));
                    prop_assert!(*weight > 0 || *part == 0);
                }
            }
        }
    }
}
