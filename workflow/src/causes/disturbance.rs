//! Events that tell of disturbances: page faults, migrations, context switches.

use super::accounts::Accounts;
use crate::scoring::Comparison;

/// Events of one kind at both scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturbance {
    /// Metric that counts them.
    pub name: &'static str,
    /// Mean number of the runs at the base.
    pub base: f64,
    /// Mean number of the runs at the compared scale.
    pub at: f64,
    /// Frame in whose own code most of the growth happens; `None` if there is no growth.
    pub place: Option<u32>,
}

/// All kinds that were counted at both scales.
pub(super) fn disturbances(accounts: &Accounts, comparison: &Comparison) -> Vec<Disturbance> {
    let names = accounts.runs.first().map(|run| run.events.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let of = |name: &'static str| {
        let (base, at) =
            (mean(accounts, comparison.base.scale, name), mean(accounts, comparison.at.scale, name));
        let grown = (0u32..).zip(at.iter().zip(&base)).map(|(frame, (at, base))| (frame, at - base));
        let most = grown.filter(|(_, more)| *more > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        let place = most.map(|(frame, _)| frame).filter(|frame| *frame != 0);
        Disturbance { name, base: base.iter().sum(), at: at.iter().sum(), place }
    };
    names.into_iter().flatten().map(of).collect()
}

/// Mean number of events in every frame's own code at a scale.
fn mean(accounts: &Accounts, scale: u32, name: &str) -> Vec<f64> {
    let mut sums = vec![0.0; accounts.tree.len()];
    let count = accounts.accounts_of(scale).count().max(1) as f64;
    for run in accounts.accounts_of(scale) {
        let events = run.events.iter().filter(|(known, _)| *known == name).flat_map(|(_, events)| events);
        events.for_each(|(context, number)| {
            sums[accounts.classified.frame(*context) as usize] += number / count
        });
    }
    sums
}
