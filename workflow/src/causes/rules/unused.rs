//! Uneven work whose waiting the metric does not hold.

use super::super::amounts::Amounts;
use super::super::diagnosis::{Evidence, Ground, Rule};
use super::super::replicated::{EVEN, is_even};
use super::case::Case;
use super::drafts::{Draft, Drafts};

/// Smallest share of the run's cost, as a fraction, for which uneven work is named.
const WORTH_BALANCING: f64 = 0.05;

/// Looks at every task of which nothing was said, except perhaps that it grows. It costs nothing that is in the metric, and is told by the processor time
/// that the others could have used.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    let whole = case.comparison.whole_at;
    let known = drafts.places_beyond_growth();
    for task in case.at.work.places().filter(|task| !known.contains(task)) {
        let seconds = case.at.work.at(task);
        let all: f64 = seconds.iter().sum();
        let most = seconds.iter().copied().fold(0.0, f64::max);
        if seconds.len() < 2 || all < WORTH_BALANCING * whole || is_even(&seconds) {
            continue;
        }
        let alone = case.alone(task);
        let late = (0u32..).zip(&seconds).filter(|(_, s)| **s * EVEN >= most).map(|(who, _)| who);
        let draft = Draft {
            ground: Ground::Measured,
            participants: late.collect(),
            evidence: Evidence {
                unused: Some((most * seconds.len() as f64 - all) / whole),
                ..Evidence::default()
            },
            ..Draft::measured(&Amounts::default())
        };
        drafts.add(if alone.is_some() { Rule::SerialSection } else { Rule::LoadImbalance }, task, draft);
    }
}
