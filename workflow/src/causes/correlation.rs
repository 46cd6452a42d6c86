//! Spearman's rank correlation.

/// Spearman's rank correlation of two lists of the same length; ties share their mean rank. `None` if one list has a single
/// value, or none.
///
/// ```
/// use falloff_workflow::causes::rank_correlation;
/// let (work, waits) = ([1.0, 2.0, 3.0, 9.0], [0.8, 0.4, 0.3, 0.0]);
/// assert_eq!(rank_correlation(&work, &waits), Some(-1.0));
/// assert_eq!(rank_correlation(&work, &[1.0; 4]), None);
/// ```
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let spread = product(&a, &a) * product(&b, &b);
    (spread > 0.0).then(|| product(&a, &b) / spread.sqrt())
}

/// Ranks from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let same = values.iter().filter(|other| *other == value).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[2.0, 1.0, 2.0, 5.0]), [2.5, 1.0, 2.5, 4.0]);
        let found = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((found - 0.948_683).abs() < 1e-6, "{found}");
        assert_eq!(rank_correlation(&[], &[]), None);
    }
}
