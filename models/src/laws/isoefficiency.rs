//! How much work keeps the efficiency.

use crate::error::{Error, Result};

/// The problem's work W that has the efficiency E on `p` processors: W = K·To(W, p) with K = E/(1 − E), for an overhead To(W, p) in the
/// unit of work (Grama, Gupta and Kumar, IEEE Parallel & Distributed Technology 1, 1993). `None` if no problem reaches it: the overhead
/// grows as fast as the work.
///
/// An overhead of p·log2 p on 16 processors needs W = 4·64 for 80 %:
///
/// ```
/// use falloff_models::isoefficiency;
/// let work = isoefficiency(0.8, 16.0, |_, p| p * p.log2())?.unwrap();
/// assert!((work - 256.0).abs() < 1e-9);
/// # Ok::<(), falloff_models::Error>(())
/// ```
///
/// # Errors
/// The efficiency is not between 0 and 1, or the overhead of a problem is negative or no number.
pub fn isoefficiency(efficiency: f64, p: f64, overhead: impl Fn(f64, f64) -> f64) -> Result<Option<f64>> {
    let action = "find the work that keeps the efficiency";
    if !(efficiency > 0.0 && efficiency < 1.0) {
        return Err(Error::Range {
            action,
            name: "the efficiency",
            value: efficiency,
            range: "between 0 and 1",
        });
    }
    let wanted = efficiency / (1.0 - efficiency);
    let enough = |work: f64| {
        let value = overhead(work, p);
        if value >= 0.0 {
            Ok(work >= wanted * value)
        } else {
            Err(Error::Range { action, name: "the overhead", value, range: "0 or more" })
        }
    };
    // Powers of two around the answer, then halving down to the last digit.
    let mut exponents = LEAST_EXPONENT..=LARGEST_EXPONENT;
    let first = exponents.find_map(|k| match enough(f64::from(k).exp2()) {
        Ok(false) => None,
        Ok(true) => Some(Ok(k)),
        Err(error) => Some(Err(error)),
    });
    let Some(first) = first.transpose()? else { return Ok(None) };
    if first == LEAST_EXPONENT {
        return Ok(Some(0.0));
    }
    let (mut low, mut high) = (f64::from(first - 1).exp2(), f64::from(first).exp2());
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = 0.5 * (low + high);
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}

/// Work below 2^−100 of its unit is none.
const LEAST_EXPONENT: i32 = -100;
/// Work above 2^200 of its unit is never done.
const LARGEST_EXPONENT: i32 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_overhead() {
        for (p, wanted) in [(4.0, 32.0), (16.0, 256.0), (64.0, 1536.0)] {
            let work = isoefficiency(0.8, p, |_, p| p * p.log2()).unwrap().unwrap();
            assert!((work / wanted - 1.0).abs() < 1e-12, "{p}: {work}");
        }
    }

    #[test]
    fn overhead_that_grows_with_the_work() {
        // W = 4·16·√W: W = 64² = 4096.
        let work = isoefficiency(0.8, 16.0, |w, p| p * w.sqrt()).unwrap().unwrap();
        assert!((work / 4096.0 - 1.0).abs() < 1e-12, "{work}");
        assert_eq!(isoefficiency(0.8, 16.0, |w, _| w).unwrap(), None);
    }

    #[test]
    fn extremes() {
        assert_eq!(isoefficiency(0.8, 1.0, |_, p| p.log2()).unwrap(), Some(0.0));
        assert!(isoefficiency(1.0, 4.0, |_, p| p).is_err());
        assert!(isoefficiency(0.5, 4.0, |_, _| f64::NAN).is_err());
    }
}
