//! The excess of a run by cause: parts that sum to the whole.

use std::collections::BTreeMap;

use super::accounts::{Accounts, Charge};
use super::amounts::{Amounts, Side};
use super::cause::Cause;
use super::charge::Charges;
use super::ledger::Ledger;
use super::waits::Waiting;
use crate::scoring::{Comparison, Loss};

/// One cause with its part of the excess.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseLoss {
    /// The cause.
    pub cause: Cause,
    /// Its work at both scales, and its part of the excess of the whole run.
    pub loss: Loss,
    /// Contexts of the calling context view (functions and operations) that lose by it, with their parts, largest first.
    pub places: Vec<(u32, f64)>,
}

/// What both scales spent by cause and place: a frame of own work or an operation, 0 for no place.
pub(super) type Cells = BTreeMap<(Cause, u32), Amounts>;

/// Splits the cost of the runs of a comparison by cause and place; `replicated` says of which tasks the work is done again.
///
/// A context's cost belongs to the cause of its activity. The time in meetings is split by the lower bound of waiting. Coarfa
/// et al., ICS'07, rank call paths by excess; this gives each path's share its reason.
/// Waiting counts where `charge` says.
pub(super) fn cells(
    accounts: &Accounts,
    comparison: &Comparison,
    replicated: &[bool],
    charge: Charge,
) -> Cells {
    let mut cells = Cells::new();
    for (side, scale) in [(Side::Base, comparison.base.scale), (Side::At, comparison.at.scale)] {
        for (number, run) in accounts.accounts_of(scale).enumerate() {
            let mut put = |cause: Cause, place: u32, seconds: f64| {
                cells.entry((cause, place)).or_default().add(side, number, seconds);
            };
            let charges = if charge == Charge::Cause { &run.charges[..] } else { &[] };
            share_out(&run.ledger, charges, accounts, replicated, &mut put);
        }
    }
    cells
}

/// Gives every second of a run to a cause.
fn share_out(
    ledger: &Ledger,
    charges: &[(u32, Charges)],
    accounts: &Accounts,
    replicated: &[bool],
    put: &mut impl FnMut(Cause, u32, f64),
) {
    let Accounts { tree, classified, .. } = accounts;
    let mut in_meetings: BTreeMap<u32, f64> = BTreeMap::new();
    for context in 0..tree.len() as u32 {
        let seconds = ledger.own[context as usize];
        if seconds == 0.0 {
            continue;
        }
        let operation = classified.operation(context);
        match Cause::of(classified.activity(context)) {
            Some(cause) => put(cause, classified.place(context), seconds),
            None => match operation {
                Some(meeting) => *in_meetings.entry(meeting).or_default() += seconds,
                None => {
                    let task = classified.task(context);
                    let again = replicated[task as usize];
                    put(if again { Cause::Replicated } else { Cause::ComputeGrowth }, task, seconds);
                }
            },
        }
    }
    for (meeting, seconds) in in_meetings {
        let waiting = Waiting::of(meeting, &ledger.operations).low().min(seconds);
        put(Cause::MeetingRest, meeting, seconds - waiting);
        let charged = charges.iter().find(|(charged, _)| *charged == meeting);
        let places = charged.map_or(&[][..], |(_, charges)| &charges.places);
        places.iter().for_each(|(task, seconds)| put(Cause::MeetingWait, *task, *seconds));
        put(Cause::MeetingWait, meeting, waiting - places.iter().map(|(_, seconds)| seconds).sum::<f64>());
    }
    let preempted: f64 = ledger.preempted.iter().sum();
    if preempted != 0.0 {
        put(Cause::Preemption, 0, preempted);
    }
}

/// The excess by cause, largest first. The parts sum to the excess of the whole run, but for rounding.
pub(super) fn partition(cells: &Cells, comparison: &Comparison) -> Vec<CauseLoss> {
    let mut sums: BTreeMap<Cause, Amounts> = BTreeMap::new();
    let mut places: BTreeMap<Cause, Vec<(u32, f64)>> = BTreeMap::new();
    for ((cause, place), amounts) in cells {
        sums.entry(*cause).or_default().add_part(amounts, 1.0);
        let part = amounts.excess(comparison);
        if *place != 0 && part > 0.0 {
            places.entry(*cause).or_default().push((*place, part));
        }
    }
    let mut losses: Vec<CauseLoss> = sums
        .into_iter()
        .map(|(cause, amounts)| {
            let mut places = places.remove(&cause).unwrap_or_default();
            places.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            CauseLoss { cause, loss: amounts.loss(comparison), places }
        })
        .collect();
    losses.sort_by(|a, b| b.loss.excess.total_cmp(&a.loss.excess));
    losses
}
