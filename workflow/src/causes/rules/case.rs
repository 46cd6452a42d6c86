//! What rules look at.

use super::super::accounts::{Accounts, Sides};
use super::super::amounts::Amounts;
use super::super::cause::Cause;
use super::super::costs::Participant;
use super::super::ledger::Ledger;
use super::super::partition::Cells;
use super::super::spread::Spread;
use crate::scoring::Comparison;

/// Smallest loss, as a fraction of the run, that is a diagnosis.
pub(super) const WORTH_A_WORD: f64 = 0.001;

/// Two scales of a sweep, and the mean run of each.
pub(in super::super) struct Case<'a> {
    pub accounts: &'a Accounts<'a>,
    pub comparison: &'a Comparison<'a>,
    pub sides: &'a Sides<'a>,
    /// What both spent by cause and place.
    pub cells: &'a Cells,
    pub base: Ledger,
    pub at: Ledger,
    /// Those who take part at the compared scale.
    pub participants: &'a [Participant],
    pub ranked: bool,
    /// Seconds between samples of the mean run at the compared scale.
    pub period: f64,
}

impl<'a> Case<'a> {
    /// Takes the means. `None` if a scale has no run.
    pub fn new(
        accounts: &'a Accounts<'a>,
        comparison: &'a Comparison<'a>,
        sides: &'a Sides<'a>,
        cells: &'a Cells,
    ) -> Option<Case<'a>> {
        let most = accounts.accounts_of(comparison.at.scale).max_by_key(|run| run.participants.len())?;
        Some(Case {
            accounts,
            comparison,
            sides,
            cells,
            base: mean(&sides.base),
            at: mean(&sides.at),
            participants: &most.participants,
            ranked: most.ranked,
            period: comparison.period / sides.at.len().max(1) as f64,
        })
    }

    /// Places with their amounts of a cause.
    pub fn of_cause(&self, cause: Cause) -> impl Iterator<Item = (u32, &'a Amounts)> + use<'a> {
        let cells: &'a Cells = self.cells;
        cells.range((cause, 0)..=(cause, u32::MAX)).map(|((_, place), amounts)| (*place, amounts))
    }

    /// Those of them that cost enough for a diagnosis.
    pub fn losses(&self, cause: Cause) -> impl Iterator<Item = (u32, &'a Amounts)> + use<'a> {
        let comparison: &'a Comparison<'a> = self.comparison;
        self.of_cause(cause).filter(move |(_, amounts)| amounts.excess(comparison) >= WORTH_A_WORD)
    }

    /// The numbers of participants.
    pub fn numbers(&self, indices: impl IntoIterator<Item = u32>) -> Vec<u32> {
        indices.into_iter().filter_map(|index| Some(self.participants.get(index as usize)?.number)).collect()
    }

    /// The one who alone has work at a task, if it is one of several.
    pub fn alone(&self, task: u32) -> Option<u32> {
        alone(&self.at.work.at(task))
    }
}

/// Largest share of what one has that the others together may have of work that it does alone.
const ALONE: f64 = 0.05;

/// The only one with an amount worth naming, by index, of several.
pub(super) fn alone(seconds: &[f64]) -> Option<u32> {
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let rest = seconds.iter().sum::<f64>() - most;
    let who = seconds.iter().position(|s| *s == most)?;
    (seconds.len() > 1 && most > 0.0 && rest <= ALONE * most).then_some(who as u32)
}

/// The mean run.
fn mean(ledgers: &[&Ledger]) -> Ledger {
    let spread =
        |of: fn(&Ledger) -> &Spread| Spread::mean(&ledgers.iter().map(|l| of(l)).collect::<Vec<_>>());
    let column = |of: fn(&Ledger) -> &Vec<f64>| {
        let mut mean = vec![0.0; ledgers.first().map_or(0, |l| of(l).len())];
        for ledger in ledgers {
            mean.iter_mut().zip(of(ledger)).for_each(|(sum, s)| *sum += s / ledgers.len() as f64);
        }
        mean
    };
    let counters = |which: usize| {
        let spreads: Option<Vec<&Spread>> =
            ledgers.iter().map(|l| Some(&l.counters.as_ref()?[which])).collect();
        spreads.map(|spreads| Spread::mean(&spreads))
    };
    Ledger {
        own: column(|l| &l.own),
        preempted: column(|l| &l.preempted),
        work: spread(|l| &l.work),
        operations: spread(|l| &l.operations),
        frames: spread(|l| &l.frames),
        counters: counters(0).zip(counters(1)).map(|(instructions, cycles)| [instructions, cycles]),
        ..Ledger::default()
    }
}
