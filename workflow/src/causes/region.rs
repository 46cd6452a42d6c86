//! Which work lies between a collective operation and the one before it.

use falloff_postprocess::{ScopeKind, Tree};

use super::charge::{Charges, Work, charge};
use super::classify::Classified;
use super::ledger::Ledger;
use super::waits::Waiting;

/// Part of the waiting, as a fraction, that work within a function must explain if its callers are not to be looked at.
const EXPLAINED: f64 = 0.8;

/// Charges what is waited in a meeting to the work before it.
///
/// Samples have no order in time, so the order is taken from the source: work lies before the first meeting whose call is on
/// its line or below, in the innermost function around the meeting whose work explains the waiting; in a loop the work after
/// the last meeting lies before the first one.
pub(super) fn charge_meeting(
    waiting: &Waiting,
    ledger: &Ledger,
    tree: &Tree,
    classified: &Classified,
    period: f64,
) -> Charges {
    let late: Vec<bool> = (0..waiting.waits.len() as u32).map(|who| waiting.last.contains(&who)).collect();
    let mut best = Charges { places: Vec::new(), rest: waiting.low() };
    let around = std::iter::successors(tree.caller(waiting.place), |frame| tree.caller(*frame));
    for frame in around.filter(|context| tree.kind(*context).is_frame() || *context == 0) {
        let work = work_before(waiting.place, frame, ledger, tree, classified);
        let charges = charge(&waiting.waits, &late, &work, period);
        if charges.rest < best.rest {
            best = charges;
        }
        if best.explained() >= EXPLAINED * waiting.low() {
            break;
        }
    }
    best
}

/// The work below `frame` that lies before the meeting.
fn work_before(meeting: u32, frame: u32, ledger: &Ledger, tree: &Tree, classified: &Classified) -> Vec<Work> {
    let range = frame..tree.end(frame);
    let meetings: Vec<Step> = ledger
        .operations
        .places_within(range.clone())
        .filter(|operation| classified.activity(*operation).is_meeting())
        .map(|operation| Step::of(operation, frame, tree))
        .collect();
    let own = Step::of(meeting, frame, tree);
    let before = |place: &u32| {
        let step = Step::of(*place, frame, tree);
        step.line.is_none() || own.line.is_none() || step.next(&meetings) == own.line
    };
    let places = ledger.work.places_within(range).filter(before);
    places.map(|place| Work { place, seconds: ledger.work.at(place) }).collect()
}

/// Where a context lies in the code of a function above it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Line of the call in the function; none for the function's own code.
    line: Option<u32>,
    /// Outermost loop of the function around it.
    within: Option<u32>,
}

impl Step {
    fn of(context: u32, frame: u32, tree: &Tree) -> Step {
        let mut step = Step { line: None, within: None };
        for above in std::iter::successors(Some(context), |c| tree.parent(*c)).take_while(|c| *c != frame) {
            let scope = tree.scope(above);
            if scope.kind == ScopeKind::Loop {
                step.within = Some(above);
            } else {
                step = Step { line: scope.call_line, within: None };
            }
        }
        step
    }

    /// Line of the meeting that comes next.
    fn next(&self, meetings: &[Step]) -> Option<u32> {
        let after =
            meetings.iter().filter_map(|m| m.line).filter(|line| self.line.is_some_and(|own| *line >= own));
        let again = meetings.iter().filter(|m| m.within.is_some() && m.within == self.within);
        after.min().or_else(|| again.filter_map(|m| m.line).min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::{Cost, Frames, Participant, RunCosts};
    use falloff_postprocess::{Scope, TreeBuilder};

    fn call(name: &str, line: u32) -> Scope {
        Scope { call_line: Some(line), ..Scope::new(ScopeKind::Function, name) }
    }

    #[test]
    fn each_meeting_is_charged_to_the_work_before_it() {
        // In a loop: first (10), barrier (11), second (12), barrier (13), third (14); before it: setup (5).
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &call("main", 0));
        let setup = builder.child(main, &call("setup", 5));
        let steps =
            builder.child(main, &Scope { line: Some(9), ..Scope::new(ScopeKind::Loop, "loop at a.c:9") });
        let parts = [("first", 10), ("MPI_Barrier", 11), ("second", 12), ("MPI_Barrier", 13), ("third", 14)]
            .map(|(name, line)| builder.child(steps, &call(name, line)));
        let (tree, place) = builder.finish();
        let seconds = [
            (setup, [0.5, 0.5]),
            (parts[0], [3.0, 1.0]),
            (parts[1], [0.1, 2.1]),
            (parts[2], [1.0, 5.0]),
            (parts[3], [4.2, 0.2]),
            (parts[4], [1.0, 1.0]),
        ];
        let cost = |(context, seconds): &(u32, [f64; 2])| {
            [0u32, 1].map(|who| Cost {
                context: place[*context as usize],
                participant: Some(who),
                seconds: seconds[who as usize],
                ..Cost::default()
            })
        };
        let mut costs: Vec<Cost> = seconds.iter().flat_map(cost).collect();
        costs.sort_by_key(|cost| (cost.context, cost.participant));
        let participants = (0..2).map(|number| Participant { number, ..Participant::default() }).collect();
        let costs = RunCosts { costs, participants, ..RunCosts::default() };
        let classified = Classified::new(&tree, &Frames::known());
        let ledger = Ledger::new(&costs, &tree, &classified);
        let charged = |meeting: u32| {
            let waiting = Waiting::of(place[meeting as usize], &ledger.operations);
            charge_meeting(&waiting, &ledger, &tree, &classified, 0.0)
        };
        let close = |found: &Charges, wanted: (u32, f64)| {
            assert_eq!(found.places.len(), 1, "{found:?}");
            assert_eq!(found.places[0].0, place[wanted.0 as usize]);
            assert!((found.places[0].1 - wanted.1).abs() < 1e-9 && found.rest.abs() < 1e-9, "{found:?}");
        };
        close(&charged(parts[1]), (parts[0], 2.0));
        close(&charged(parts[3]), (parts[2], 4.0));
        let third = Step::of(place[parts[4] as usize], place[main as usize], &tree);
        let meetings = [1, 3].map(|p| Step::of(place[parts[p] as usize], place[main as usize], &tree));
        assert_eq!((third.line, third.next(&meetings)), (Some(14), Some(11)));
    }
}
