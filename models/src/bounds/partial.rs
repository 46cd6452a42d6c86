//! Partial bounds: how fast a program could be at most, were a part of it all that is left.

use crate::error::{Error, Result};
use crate::interval::Interval;

/// How long a part of a program takes at some processor count, seen in three ways.
///
/// Only code in the timeline of a process counts (no helper threads), and wall time, not CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartTimes {
    /// Mean over the processes, seconds.
    pub average: Interval,
    /// That of the process that spends most in it, seconds.
    pub largest: Interval,
    /// From the first process that enters to the last that leaves, summed over instances, seconds; only if instances do not overlap.
    pub span: Option<Interval>,
}

/// Bounds of the speed-up by one part, in order: S ≤ span ≤ largest ≤ average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialBounds {
    /// From the mean over the processes.
    pub average: Interval,
    /// From the process that spends most in the part.
    pub largest: Interval,
    /// From the time that any process spends in it.
    pub span: Option<Interval>,
}

/// B = T/f: the speed-up over a run of `reference` seconds is no more than this while one part takes `part` seconds.
///
/// Besnard et al., Partial Speedup Bounds with MPI_Section, equation 6: S ≤ Σⱼ fⱼ(n₀, 1) / fᵢ(n₀, p). If the reference is
/// not a sequential run but one of p₀ processors, it bounds the speed-up over that run.
///
/// Their halo exchange takes 3025.44 s over 64 processes, of a program that takes 5589.84 s sequentially:
///
/// ```
/// use falloff_models::{Interval, partial_bound};
/// let bound = partial_bound(Interval::exact(5589.84), Interval::exact(3025.44 / 64.0))?;
/// assert!((bound.value - 118.247).abs() < 1e-3);
/// # Ok::<(), falloff_models::Error>(())
/// ```
///
/// # Errors
/// The reference is no positive time, or the part a negative one.
pub fn partial_bound(reference: Interval, part: Interval) -> Result<Interval> {
    let action = "bound the speed-up";
    if !(reference.value > 0.0 && reference.value.is_finite()) {
        return Err(Error::Range {
            action,
            name: "the reference time",
            value: reference.value,
            range: "positive",
        });
    }
    if part.value.is_nan() || part.value < 0.0 {
        return Err(Error::Range { action, name: "the part's time", value: part.value, range: "0 or more" });
    }
    Ok(reference.over(part))
}

impl PartialBounds {
    /// The three bounds of a part against a run of `reference` seconds.
    ///
    /// # Errors
    /// As [`partial_bound`].
    pub fn new(reference: Interval, part: &PartTimes) -> Result<PartialBounds> {
        Ok(PartialBounds {
            average: partial_bound(reference, part.average)?,
            largest: partial_bound(reference, part.largest)?,
            span: part.span.map(|span| partial_bound(reference, span)).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 6 of the paper, whose bounds at 80 and 144 processes do not follow from its times.
    #[test]
    fn halo_exchange_of_a_convolution() {
        for (p, halo, wanted) in [
            (64.0, 3025.44, 118.247),
            (80.0, 1288.64, 347.023),
            (112.0, 1822.38, 343.541),
            (128.0, 14135.56, 50.617),
            (144.0, 2716.03, 296.365),
        ] {
            let bound = partial_bound(Interval::exact(5589.84), Interval::exact(halo / p)).unwrap();
            assert!((bound.value - wanted).abs() < 1e-3, "{p}: {}", bound.value);
        }
    }

    #[test]
    fn lulesh() {
        for (part, wanted) in [(43.84 + 64.29, 8.1613), (64.29, 13.7266), (43.84, 20.1296)] {
            let bound = partial_bound(Interval::exact(882.48), Interval::exact(part)).unwrap();
            assert!((bound.value - wanted).abs() < 5e-4, "{}", bound.value);
        }
    }

    #[test]
    fn the_three_are_in_order() {
        let part = PartTimes {
            average: Interval::around(2.0, 0.1),
            largest: Interval::around(3.0, 0.1),
            span: Some(Interval::around(4.0, 0.1)),
        };
        let bounds = PartialBounds::new(Interval::around(120.0, 6.0), &part).unwrap();
        assert_eq!((bounds.average.value, bounds.largest.value), (60.0, 40.0));
        assert_eq!(bounds.span.unwrap().value, 30.0);
        assert!(
            (bounds.average.low - 114.0 / 2.1).abs() < 1e-12
                && (bounds.average.high - 126.0 / 1.9).abs() < 1e-12
        );
    }

    #[test]
    fn a_part_without_time_bounds_nothing() {
        assert_eq!(partial_bound(Interval::exact(1.0), Interval::exact(0.0)).unwrap().value, f64::INFINITY);
        assert_eq!(
            partial_bound(Interval::exact(0.0), Interval::exact(1.0)).unwrap_err().to_string(),
            "failed to bound the speed-up: the reference time = 0 must be positive"
        );
        assert!(partial_bound(Interval::exact(1.0), Interval::exact(f64::NAN)).is_err());
    }
}
