//! Work that every participant does again.

use falloff_postprocess::Tree;

use super::accounts::Sides;
use super::spread::Spread;
use crate::scoring::{Comparison, MIN_SAMPLES, Scaling};

/// How far the growth of work may be from the growth of the processor count and still be the same work done again.
pub(super) const SAME_GROWTH: f64 = 0.15;
/// Largest over mean work up to which all participants are said to do the same.
pub(super) const EVEN: f64 = 1.25;

/// The tasks whose own work grows as the processor count does, evenly on all participants; under strong scaling only.
pub(super) fn replicated(tree: &Tree, comparison: &Comparison, sides: &Sides) -> Vec<bool> {
    let mut found = vec![false; tree.len()];
    let growth = f64::from(comparison.at.scale) / f64::from(comparison.base.scale);
    if comparison.scaling != Scaling::Strong || growth <= 1.0 + SAME_GROWTH {
        return found;
    }
    let mean =
        |side: &[&super::ledger::Ledger]| Spread::mean(&side.iter().map(|l| &l.work).collect::<Vec<_>>());
    let (base, at) = (mean(&sides.base), mean(&sides.at));
    for task in at.places() {
        let (before, after): (f64, f64) = (base.at(task).iter().sum(), at.at(task).iter().sum());
        let enough = after >= MIN_SAMPLES as f64 * comparison.period && before > 0.0;
        if enough && (after / before / growth - 1.0).abs() <= SAME_GROWTH {
            found[task as usize] = sides.at.iter().all(|ledger| is_even(&ledger.work.at(task)));
        }
    }
    found
}

/// Whether all participants have about as much.
pub(super) fn is_even(seconds: &[f64]) -> bool {
    let most = seconds.iter().copied().fold(0.0, f64::max);
    most * seconds.len() as f64 <= EVEN * seconds.iter().sum::<f64>()
}
