//! Messages between two processes: heuristics, since samples do not show who waits for whom.

use super::super::cause::Cause;
use super::super::correlation::rank_correlation;
use super::super::diagnosis::{Evidence, Ground, Rule};
use super::super::replicated::is_even;
use super::case::Case;
use super::drafts::{Draft, Drafts};

/// Rank correlation of work and waiting below which those with less work are said to wait for those with more.
const OPPOSED: f64 = -0.5;
/// Share of the mean time in messages, as a fraction, that the one for whom all wait spends there at most.
const SELDOM: f64 = 0.1;

/// Looks at every call path of messages.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    let work = case.at.work.within(0..u32::MAX);
    for (place, cell) in case.losses(Cause::PointToPoint) {
        let waits = case.at.operations.at(place);
        let correlation = rank_correlation(&work, &waits).filter(|_| !is_even(&work) && !is_even(&waits));
        let (least, mean) = (
            waits.iter().copied().fold(f64::INFINITY, f64::min),
            waits.iter().sum::<f64>() / waits.len() as f64,
        );
        let quick = (0u32..).zip(&waits).filter(|(_, wait)| **wait <= SELDOM * mean).map(|(who, _)| who);
        let quick: Vec<u32> = quick.collect();
        let (rule, participants) = match correlation {
            Some(c) if c < OPPOSED && quick.len() == 1 && waits.len() > 2 && least <= SELDOM * mean => {
                (Rule::SerialMessages, quick)
            }
            Some(c) if c < OPPOSED => (Rule::LatePartner, most(&work)),
            _ => (Rule::MessageCost, Vec::new()),
        };
        let even = is_even(&waits);
        let draft = Draft {
            ground: if rule == Rule::MessageCost && !even { Ground::Guessed } else { Ground::Inferred },
            participants,
            evidence: Evidence { correlation, ..Evidence::default() },
            ..Draft::measured(cell)
        };
        drafts.add(rule, place, draft);
    }
}

/// The one with most work.
fn most(work: &[f64]) -> Vec<u32> {
    (0u32..).zip(work).max_by(|a, b| a.1.total_cmp(b.1)).map(|(who, _)| who).into_iter().collect()
}
