//! Threads that wait for each other.

use super::super::activity::Activity;
use super::super::amounts::Amounts;
use super::super::cause::Cause;
use super::super::charge::{Work, charge};
use super::super::diagnosis::{Ground, Rule};
use super::case::{Case, alone};
use super::drafts::{Draft, Drafts};
use super::meetings::WORTH_NAMING;

/// Looks at barriers and joins of threads. Threads reach one barrier by different call paths, so all of them are one wait;
/// in a program of ranks, which threads wait for which is not looked into.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    let mut amounts = Amounts::default();
    let mut largest: Option<(u32, f64)> = None;
    for (place, cell) in case.of_cause(Cause::ThreadBarrier) {
        if case.ranked {
            drafts.add(Rule::ThreadWaiting, place, Draft::measured(cell));
            continue;
        }
        amounts.add_part(cell, 1.0);
        let excess = cell.excess(case.comparison);
        if largest.is_none_or(|(_, most)| excess > most) {
            largest = Some((place, excess));
        }
    }
    let Some((largest, _)) = largest else { return };
    let waits = waits(case);
    let all: f64 = waits.iter().sum();
    let work: Vec<Work> =
        case.at.work.places().map(|place| Work { place, seconds: case.at.work.at(place) }).collect();
    // Whoever has most work at a place makes the others wait there.
    let charges = charge(&waits, &vec![true; waits.len()], &work, case.period);
    let mut rest = all;
    for (task, seconds) in charges.places.iter().filter(|(_, seconds)| *seconds >= WORTH_NAMING * all) {
        rest -= seconds;
        let of_task = case.at.work.at(*task);
        let most = of_task.iter().copied().fold(0.0, f64::max);
        let who = (0u32..).zip(&of_task).filter(|(_, s)| **s >= 0.9 * most).map(|(who, _)| who).collect();
        let draft = Draft {
            amounts: amounts.part(seconds / all),
            ground: Ground::Inferred,
            waits_in: Some(largest),
            participants: who,
            ..Draft::measured(&amounts)
        };
        let serial = alone(&of_task).is_some();
        drafts.add(if serial { Rule::SerialSection } else { Rule::LoadImbalance }, *task, draft);
    }
    if rest > WORTH_NAMING * all {
        drafts.add(Rule::ThreadWaiting, largest, Draft::measured(&amounts.part(rest / all)));
    }
}

/// What each thread waits.
fn waits(case: &Case) -> Vec<f64> {
    let operations = &case.at.operations;
    let mut waits = vec![0.0; operations.participants()];
    let classified = &case.accounts.classified;
    for place in operations.places().filter(|p| classified.activity(*p) == Activity::ThreadBarrier) {
        waits.iter_mut().zip(operations.at(place)).for_each(|(sum, seconds)| *sum += seconds);
    }
    waits
}
