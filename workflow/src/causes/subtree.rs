//! Efficiencies of parts of the program: call paths with all that they call.

use falloff_postprocess::Tree;

use super::accounts::Sides;
use super::efficiency::{Efficiencies, Useful, efficiencies};
use super::ledger::Ledger;
use crate::scoring::Comparison;

/// Smallest share of the work at the compared scale, as a fraction, from which a call path has efficiencies.
const WORTH_SHOWING: f64 = 0.01;

/// Efficiencies of one call path with all that it calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Subtree {
    /// Its context.
    pub context: u32,
    /// Its share of the work at the compared scale, as a fraction.
    pub share: f64,
    /// At the compared scale against the base, its own time in place of the whole run's.
    pub efficiencies: Efficiencies,
    /// Its parallel efficiency at the base.
    pub parallel_base: f64,
}

/// Efficiencies of all call paths with at least 1 % of the work, in the order of the tree; those without work of the program's
/// own at one of the scales have none.
pub(super) fn subtrees(tree: &Tree, comparison: &Comparison, sides: &Sides) -> Vec<Subtree> {
    let rho = comparison.scaling.rho(comparison.base.scale, comparison.at.scale);
    let (base, at) = (inclusive(tree, &sides.base), inclusive(tree, &sides.at));
    let share = |context: u32| at[context as usize] / comparison.whole_at;
    let of = |context: u32| {
        let useful = |ledgers: &[&Ledger], whole: &[f64]| Useful {
            useful: mean_useful(ledgers.iter().map(|l| l.frames.within(context..tree.end(context)))),
            whole: whole[context as usize],
            counters: None,
        };
        let (base, at) = (useful(&sides.base, &base), useful(&sides.at, &at));
        let parallel_base = base.useful.iter().sum::<f64>() / base.whole;
        let efficiencies = efficiencies(&base, &at, rho)?;
        Some(Subtree { context, share: share(context), efficiencies, parallel_base })
    };
    let large = |context: &u32| tree.kind(*context).is_frame() && share(*context) >= WORTH_SHOWING;
    (1..tree.len() as u32).filter(large).filter_map(of).collect()
}

/// Mean cost of every context with all below it, seconds.
fn inclusive(tree: &Tree, ledgers: &[&Ledger]) -> Vec<f64> {
    let mut mean = vec![0.0; tree.len()];
    for ledger in ledgers {
        for (sum, (own, lost)) in mean.iter_mut().zip(ledger.own.iter().zip(&ledger.preempted)) {
            *sum += (own + lost) / ledgers.len() as f64;
        }
    }
    tree.inclusive(&mean)
}

/// The mean of repetitions, participant by participant from the one with least work to the one with most: which one it is
/// may change from run to run.
pub(super) fn mean_useful(runs: impl ExactSizeIterator<Item = Vec<f64>>) -> Vec<f64> {
    let count = runs.len().max(1) as f64;
    let mut mean = Vec::new();
    for mut run in runs {
        run.sort_by(|a, b| b.total_cmp(a));
        mean.resize(run.len().max(mean.len()), 0.0);
        mean.iter_mut().zip(run).for_each(|(sum, seconds)| *sum += seconds / count);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_of_each_run_are_compared() {
        let runs = vec![vec![1.0, 3.0], vec![5.0, 1.0]];
        assert_eq!(mean_useful(runs.into_iter()), [4.0, 1.0]);
        assert!(mean_useful(Vec::new().into_iter()).is_empty());
    }
}
