//! Pairs of processor count and speed-up, checked.

use crate::error::{Error, Result};

/// The pairs (p, S) with p above 1, which are those that say anything.
pub(super) fn checked(action: &'static str, speedups: &[(f64, f64)]) -> Result<Vec<(f64, f64)>> {
    for (p, speedup) in speedups {
        if !(p.is_finite() && *p >= 1.0) {
            return Err(Error::Range { action, name: "p", value: *p, range: "1 or more" });
        }
        if !(speedup.is_finite() && *speedup > 0.0) {
            return Err(Error::Range { action, name: "the speed-up", value: *speedup, range: "positive" });
        }
    }
    let above: Vec<_> = speedups.iter().copied().filter(|(p, _)| *p > 1.0).collect();
    if above.is_empty() { Err(Error::TooFew { action, have: 0, need: 1 }) } else { Ok(above) }
}
