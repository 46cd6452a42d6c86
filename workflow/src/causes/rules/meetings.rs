//! Operations in which all meet: imbalance, serial sections, and what the operations themselves cost.

use std::collections::BTreeSet;

use super::super::amounts::Amounts;
use super::super::cause::Cause;
use super::super::charge::Charges;
use super::super::diagnosis::{Evidence, Ground, Rule};
use super::super::law::law;
use super::super::region::charge_meeting;
use super::super::waits::Waiting;
use super::case::{Case, WORTH_A_WORD};
use super::drafts::{Draft, Drafts};

/// Part of the waiting, as a fraction, for which a place is named.
pub(super) const WORTH_NAMING: f64 = 0.1;
/// Part of the time in an operation, as a fraction, that is spent on data, for its cost to be its own.
const BUSY: f64 = 0.5;
/// Standard deviations of sampling by which times differ for good.
const SIGNIFICANT: f64 = 3.0;

/// Looks at every collective call path.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    let places = |cause| case.of_cause(cause).map(|(place, _)| place);
    let meetings: BTreeSet<u32> = places(Cause::MeetingWait).chain(places(Cause::MeetingRest)).collect();
    for meeting in meetings {
        let mut amounts = Amounts::default();
        for cause in [Cause::MeetingWait, Cause::MeetingRest] {
            case.cells.get(&(cause, meeting)).into_iter().for_each(|cell| amounts.add_part(cell, 1.0));
        }
        if amounts.excess(case.comparison) < WORTH_A_WORD {
            continue;
        }
        let waiting = Waiting::of(meeting, &case.at.operations);
        let draft = Draft { evidence: evidence(case, &waiting), ..Draft::measured(&amounts) };
        if waiting.is_persistent() && differs(case, &waiting) {
            charge(case, &waiting, &draft, drafts);
        } else {
            let (rule, place, draft) = by_turns(case, &waiting, draft);
            drafts.add(rule, place, draft);
        }
    }
}

fn evidence(case: &Case, waiting: &Waiting) -> Evidence {
    let whole = case.comparison.whole_at;
    let last = |ledger: &&&super::super::ledger::Ledger| {
        let last = Waiting::of(waiting.place, &ledger.operations).last;
        last.iter().any(|who| waiting.last.contains(who))
    };
    Evidence {
        wait_bounds: Some((waiting.low() / whole, waiting.high / whole)),
        last_in: Some((case.sides.at.iter().filter(last).count(), case.sides.at.len())),
        ..Evidence::default()
    }
}

/// Whether the times of the participants differ by more than sampling makes them.
fn differs(case: &Case, waiting: &Waiting) -> bool {
    let mean = waiting.high / waiting.count.max(1) as f64;
    let most = waiting.waits.iter().copied().fold(0.0, f64::max);
    most > SIGNIFICANT * (case.period * mean).sqrt()
}

/// The same ones come last: their work is what the others wait for.
fn charge(case: &Case, waiting: &Waiting, draft: &Draft, drafts: &mut Drafts) {
    let charges: Charges =
        charge_meeting(waiting, &case.at, case.accounts.tree, &case.accounts.classified, case.period);
    let low = waiting.low();
    let mut rest = low;
    for (task, seconds) in charges.places.iter().filter(|(_, seconds)| *seconds >= WORTH_NAMING * low) {
        rest -= seconds;
        let alone = case.alone(*task);
        let rule = if alone.is_some() { Rule::SerialSection } else { Rule::LoadImbalance };
        let draft = Draft {
            amounts: draft.amounts.part(seconds / low),
            waits_in: Some(waiting.place),
            participants: alone.map_or_else(|| waiting.last.clone(), |who| vec![who]),
            ..draft.clone()
        };
        drafts.add(rule, *task, draft);
    }
    if rest > WORTH_NAMING * low {
        let draft = Draft {
            amounts: draft.amounts.part(rest / low),
            ground: Ground::Inferred,
            participants: waiting.last.clone(),
            ..draft.clone()
        };
        drafts.add(Rule::CollectiveWaiting, waiting.place, draft);
    }
}

/// All spend about as long there: the operation itself takes it, or they are late by turns.
fn by_turns(case: &Case, waiting: &Waiting, draft: Draft) -> (Rule, u32, Draft) {
    let place = waiting.place;
    let sites = sites(case, place);
    let least: Vec<(u32, f64)> =
        case.accounts.scales().into_iter().map(|n| (n, least(case, n, place))).collect();
    let evidence = Evidence { law: law(&least), sites: Some(sites.len()), ..draft.evidence };
    let draft = Draft { evidence, ..draft };
    if busy(case, place) >= BUSY {
        (Rule::CollectiveCost, place, Draft { ground: Ground::Measured, ..draft })
    } else if differs(case, waiting) {
        (Rule::RandomImbalance, place, Draft { ground: Ground::Inferred, ..draft })
    } else if sites.len() > 1 {
        (Rule::ManySmallCollectives, sites[0], Draft { ground: Ground::Inferred, ..draft })
    } else {
        (Rule::RandomImbalance, place, Draft { ground: Ground::Guessed, ..draft })
    }
}

/// Calls of the same operation in the same function.
fn sites(case: &Case, meeting: u32) -> Vec<u32> {
    let tree = case.accounts.tree;
    let caller = |context: u32| tree.caller(context);
    let name = &tree.scope(meeting).name;
    let Some(around) = caller(meeting) else { return vec![meeting] };
    let places = case.at.operations.places_within(around..tree.end(around));
    let same = |place: &u32| caller(*place) == Some(around) && tree.scope(*place).name == *name;
    places.filter(same).collect()
}

/// Part of the time in an operation in which something is done there, as a fraction.
fn busy(case: &Case, meeting: u32) -> f64 {
    let classified = &case.accounts.classified;
    let within = || (meeting..case.accounts.tree.end(meeting)).map(|c| (c, case.at.own[c as usize]));
    let all: f64 = within().map(|(_, seconds)| seconds).sum();
    // The operation's own code is that of its entry and of its waiting loop, if its library has no names.
    let idle = |context: u32| classified.is_idle(context) || classified.frame(context) == meeting;
    let busy: f64 = within().filter(|(context, _)| !idle(*context)).map(|(_, seconds)| seconds).sum();
    if all > 0.0 { busy / all } else { 0.0 }
}

/// The least time of a participant in an operation at a scale, seconds, mean over its runs.
fn least(case: &Case, scale: u32, meeting: u32) -> f64 {
    let runs = case.accounts.of(scale);
    let of_run = |ledger: &&super::super::ledger::Ledger| {
        let times = ledger.times(meeting);
        let least = times.into_iter().map(|(_, time)| time).reduce(f64::min);
        least.unwrap_or(0.0)
    };
    runs.iter().map(of_run).sum::<f64>() / runs.len().max(1) as f64
}
