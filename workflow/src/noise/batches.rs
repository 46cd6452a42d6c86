//! A measurement cut into parts that follow each other, whose scatter says how sure the whole is.

/// Parts of a measurement. Disturbances last from one piece of work to the next, so single pieces say nothing of how sure a
/// mean is; parts that are much longer than the disturbances do (the method of batch means).
pub(super) const BATCHES: usize = 20;

/// What `of` gives for each of the parts of equal length; fewer than 20 where there are fewer values.
pub(super) fn batches<T>(values: &[T], of: impl Fn(&[T]) -> f64) -> Vec<f64> {
    let parts = BATCHES.min(values.len());
    let end = |part: usize| part * values.len() / parts;
    (0..parts).map(|part| of(&values[end(part)..end(part + 1)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_are_in_one_part() {
        let values: Vec<f64> = (0..47).map(f64::from).collect();
        let sums = batches(&values, |part| part.iter().sum());
        assert_eq!((sums.len(), sums.iter().sum::<f64>()), (20, 47.0 * 23.0));
        assert_eq!(batches(&values[..3], |part| part.len() as f64), [1.0; 3]);
        assert!(batches(&values[..0], |_| 1.0).is_empty());
    }
}
