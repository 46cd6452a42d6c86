//! The experimentally determined serial fraction.

use super::speedups::checked;
use crate::error::Result;

/// e(p) = (1/S − 1/p) / (1 − 1/p) for each pair (p, S) with p above 1 (Karp and Flatt, CACM 33, 1990). If it stays the same, it is the
/// serial fraction; if it rises, an overhead grows with the processors.
///
/// ```
/// use falloff_models::karp_flatt;
/// let serial = karp_flatt(&[2.0, 64.0].map(|p| (p, 100.0 / (2.0 + 98.0 / p))))?;
/// assert!(serial.iter().all(|(_, e)| (e - 0.02).abs() < 1e-12));
/// # Ok::<(), falloff_models::Error>(())
/// ```
///
/// # Errors
/// There is no count above 1, a count is below 1, or a speed-up is not positive.
pub fn karp_flatt(speedups: &[(f64, f64)]) -> Result<Vec<(f64, f64)>> {
    let above = checked("find the serial fraction", speedups)?;
    Ok(above.into_iter().map(|(p, speedup)| (p, (1.0 / speedup - 1.0 / p) / (1.0 - 1.0 / p))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fractions(time: impl Fn(f64) -> f64) -> Vec<f64> {
        let speedups = [2.0, 4.0, 8.0, 64.0].map(|p| (p, time(1.0) / time(p)));
        karp_flatt(&speedups).unwrap().into_iter().map(|(_, e)| e).collect()
    }

    #[test]
    fn constant_without_overhead_rising_with_it() {
        for e in fractions(|p| 2.0 + 98.0 / p) {
            assert!((e - 0.02).abs() < 1e-12);
        }
        let rising = fractions(|p| 2.0 + 98.0 / p + 0.1 * p.log2());
        for (e, wanted) in rising.iter().zip([0.0220, 0.02267, 0.02343, 0.0261]) {
            assert!((e - wanted).abs() < 1e-5, "{e} {wanted}");
        }
    }
}
