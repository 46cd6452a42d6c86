//! The waterfall: what each part takes from the speed-up, and what would bound it next.

use crate::error::{Error, Result};

/// A time that the parts may exceed the whole by: rounding.
const ROUNDING: f64 = 1e-9;

/// One part's place in the speed-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Which part, as an index into those given; `None` is all that none of them covers.
    pub part: Option<usize>,
    /// Its mean time over the processes, seconds.
    pub seconds: f64,
    /// B = T/f, its bound of the speed-up; infinite if it takes no time.
    pub bound: f64,
    /// Its share of the time: S/B. All shares add up to 1.
    pub share: f64,
    /// Speed-up with this part removed altogether: 1 / (1/S − 1/B).
    pub without: f64,
    /// The part that bounds the speed-up then, as an index into the steps, and its bound; `None` if it is the only one.
    pub next: Option<(usize, f64)>,
}

/// 1/S = Σ 1/B over parts that partition the run, those that bound most first.
///
/// The parts' times are means over the processes, so that they add up to the run time. With S = T/t, t the run time, and B = T/f,
/// 1/S = t/T = Σ f/T = Σ 1/B.
#[derive(Clone, Debug, PartialEq)]
pub struct Waterfall {
    /// S = T/t.
    pub speedup: f64,
    /// The parts and the rest, by bound.
    pub steps: Vec<Step>,
}

impl Waterfall {
    /// From the time of the reference run, of this run, and of its parts, which do not overlap; all in seconds.
    ///
    /// Two phases of Lulesh at 24 threads take 43.84 and 64.29 s, of a program that takes 882.48 s sequentially, at a speed-up of
    /// 8.08. Everything else together would allow 811:
    ///
    /// ```
    /// use falloff_models::Waterfall;
    /// let waterfall = Waterfall::new(882.48, 882.48 / 8.08, &[43.84, 64.29])?;
    /// let rest = waterfall.steps.iter().find(|step| step.part.is_none()).unwrap();
    /// assert!((rest.bound - 811.2).abs() < 0.1);
    /// let first = waterfall.steps[0];
    /// assert_eq!((first.part, first.next.unwrap().0), (Some(1), 1));
    /// assert!((first.without - 1.0 / (1.0 / 8.08 - 64.29 / 882.48)).abs() < 1e-9);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// A time is negative, one of a whole run is zero, or the parts take longer than the run.
    pub fn new(reference: f64, run: f64, parts: &[f64]) -> Result<Waterfall> {
        let action = "split the speed-up";
        for (name, value) in [("the reference time", reference), ("the run time", run)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Range { action, name, value, range: "positive" });
            }
        }
        if let Some(value) = parts.iter().find(|part| part.is_nan() || **part < 0.0) {
            return Err(Error::Range {
                action,
                name: "the time of a part",
                value: *value,
                range: "0 or more",
            });
        }
        let sum: f64 = parts.iter().sum();
        if sum > run * (1.0 + ROUNDING) {
            let name = "the time of all parts";
            return Err(Error::Range { action, name, value: sum, range: "no more than the run time" });
        }
        let rest = (run - sum).max(0.0);
        let rest = if rest < ROUNDING * run { 0.0 } else { rest };
        let all =
            parts.iter().enumerate().map(|(part, seconds)| (Some(part), *seconds)).chain([(None, rest)]);
        let mut steps: Vec<Step> = all
            .map(|(part, seconds)| Step {
                part,
                seconds,
                bound: reference / seconds,
                share: seconds / run,
                without: reference / (run - seconds).max(0.0),
                next: None,
            })
            .collect();
        steps.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let bounds: Vec<f64> = steps.iter().map(|step| step.bound).collect();
        for (at, step) in steps.iter_mut().enumerate() {
            let other = usize::from(at == 0);
            step.next = bounds.get(other).filter(|bound| bound.is_finite()).map(|bound| (other, *bound));
        }
        Ok(Waterfall { speedup: reference / run, steps })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_next_is_the_tightest_of_the_others() {
        let waterfall = Waterfall::new(100.0, 20.0, &[2.0, 10.0, 5.0]).unwrap();
        assert_eq!(waterfall.speedup, 5.0);
        let order: Vec<_> = waterfall.steps.iter().map(|step| step.part).collect();
        assert_eq!(order, [Some(1), Some(2), None, Some(0)]);
        assert_eq!(waterfall.steps[0].next, Some((1, 20.0)));
        assert_eq!(waterfall.steps[3].next, Some((0, 10.0)));
        assert_eq!(waterfall.steps[0].without, 10.0);
    }

    #[test]
    fn a_single_part_has_no_next() {
        let waterfall = Waterfall::new(10.0, 5.0, &[5.0]).unwrap();
        assert_eq!(waterfall.steps[0].next, None);
        assert_eq!((waterfall.steps[0].without, waterfall.steps[1].bound), (f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn parts_beyond_the_whole_are_refused() {
        let error = Waterfall::new(10.0, 5.0, &[4.0, 4.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed to split the speed-up: the time of all parts = 8 must be no more than the run time"
        );
        assert!(Waterfall::new(10.0, 0.0, &[]).is_err());
        assert!(Waterfall::new(10.0, 1.0, &[f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn bounds_hold_and_add_up(
            parts in proptest::collection::vec(0.001f64..100.0, 1..12),
            rest in 0.0f64..50.0,
            reference in 0.1f64..1e5,
        ) {
            let run = parts.iter().sum::<f64>() + rest;
            let waterfall = Waterfall::new(reference, run, &parts).unwrap();
            let least = waterfall.steps.iter().map(|step| step.bound).fold(f64::INFINITY, f64::min);
            prop_assert!(waterfall.speedup <= least * (1.0 + 1e-12));
            let sum: f64 = waterfall.steps.iter().map(|step| 1.0 / step.bound).sum();
            prop_assert!((sum * waterfall.speedup - 1.0).abs() < 1e-8);
            let shares: f64 = waterfall.steps.iter().map(|step| step.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-8);
            for (at, step) in waterfall.steps.iter().enumerate() {
                if let Some((next, bound)) = step.next {
                    prop_assert!(next != at && step.without <= bound * (1.0 + 1e-9));
                }
            }
        }
    }
}
