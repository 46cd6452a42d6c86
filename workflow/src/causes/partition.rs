//! The excess of a run by cause: parts that sum to the whole.

use std::collections::BTreeMap;

use falloff_postprocess::Tree;

use super::activity::Activity;
use super::classify::Classified;
use super::ledger::Ledger;
use crate::scoring::{Comparison, Loss, MIN_SAMPLES, Scaling};

/// How far the growth of work may be from the growth of the processor count and still be the same work done again.
const SAME_GROWTH: f64 = 0.15;
/// Largest over mean work up to which all participants are said to do the same.
const EVEN: f64 = 1.25;

/// Why a run spends more than it was expected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The program's own work grows.
    ComputeGrowth,
    /// Every processor does the same work again.
    Replicated,
    /// Waiting for the last in an operation in which all meet: the part that must be waiting, see [`super::wait_bounds`].
    MeetingWait,
    /// The rest of the time in such operations: transfer, and waiting for those who are late by turns.
    MeetingRest,
    /// Messages between two processes, waiting and transfer.
    PointToPoint,
    /// Access to the memory of other processes.
    OneSided,
    /// Threads waiting for each other.
    ThreadBarrier,
    /// Waiting for locks.
    Lock,
    /// Files and pipes.
    Io,
    /// Sleeping and polling outside of any operation.
    Sleep,
    /// Run-time libraries' own business.
    Runtime,
    /// Ready to run, without a processor.
    Preemption,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 12] = [
        Cause::ComputeGrowth,
        Cause::Replicated,
        Cause::MeetingWait,
        Cause::MeetingRest,
        Cause::PointToPoint,
        Cause::OneSided,
        Cause::ThreadBarrier,
        Cause::Lock,
        Cause::Io,
        Cause::Sleep,
        Cause::Runtime,
        Cause::Preemption,
    ];

    /// The word in JSON and CSV.
    pub fn word(self) -> &'static str {
        match self {
            Cause::ComputeGrowth => "compute_growth",
            Cause::Replicated => "replicated_work",
            Cause::MeetingWait => "collective_waiting",
            Cause::MeetingRest => "collective_rest",
            Cause::PointToPoint => "point_to_point",
            Cause::OneSided => "one_sided",
            Cause::ThreadBarrier => "thread_synchronisation",
            Cause::Lock => "lock",
            Cause::Io => "io",
            Cause::Sleep => "sleep",
            Cause::Runtime => "runtime",
            Cause::Preemption => "preemption",
        }
    }

    /// What a report calls it.
    pub fn title(self) -> &'static str {
        match self {
            Cause::ComputeGrowth => "more of the program's own work",
            Cause::Replicated => "the same work done again on every processor",
            Cause::MeetingWait => "waiting for the last in collectives (at least)",
            Cause::MeetingRest => "collectives: transfer, and waiting by turns",
            Cause::PointToPoint => "point-to-point messages and waiting for them",
            Cause::OneSided => "one-sided communication",
            Cause::ThreadBarrier => "threads waiting for each other",
            Cause::Lock => "waiting for locks",
            Cause::Io => "files and pipes",
            Cause::Sleep => "sleeping and polling",
            Cause::Runtime => "run-time libraries: starting, ending, administration",
            Cause::Preemption => "ready to run, without a processor",
        }
    }

    /// What the legend of a figure calls it.
    pub fn short(self) -> &'static str {
        match self {
            Cause::ComputeGrowth => "more own work",
            Cause::Replicated => "same work on every processor",
            Cause::MeetingWait => "waiting in collectives, at least",
            Cause::MeetingRest => "rest of collectives",
            Cause::PointToPoint => "point-to-point messages",
            Cause::OneSided => "one-sided communication",
            Cause::ThreadBarrier => "threads waiting",
            Cause::Lock => "locks",
            Cause::Io => "files and pipes",
            Cause::Sleep => "sleeping and polling",
            Cause::Runtime => "run-time libraries",
            Cause::Preemption => "without a processor",
        }
    }

    fn of(activity: Activity) -> Option<Cause> {
        match activity {
            Activity::PointToPoint => Some(Cause::PointToPoint),
            Activity::OneSided => Some(Cause::OneSided),
            Activity::ThreadBarrier => Some(Cause::ThreadBarrier),
            Activity::Lock => Some(Cause::Lock),
            Activity::Io => Some(Cause::Io),
            Activity::Sleep => Some(Cause::Sleep),
            Activity::Runtime => Some(Cause::Runtime),
            Activity::Compute
            | Activity::AllToAll
            | Activity::OneToAll
            | Activity::AllToOne
            | Activity::Barrier => None,
        }
    }
}

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

/// The runs of the two scales, in the order of the comparison's columns.
pub(super) struct Sides<'a> {
    pub base: Vec<&'a Ledger>,
    pub at: Vec<&'a Ledger>,
}

/// Splits the excess of a comparison by cause, largest first. The parts sum to the excess of the whole run, but for rounding.
///
/// A context's cost belongs to the cause of its activity. Own work that grows as the processors do, evenly on all of them, is
/// `Replicated`; the time in meetings is split by the lower bound of waiting. Coarfa et al., ICS'07, rank call paths by
/// excess; this gives each path's share its reason.
pub(super) fn partition(
    tree: &Tree,
    classified: &Classified,
    frame_of: &[u32],
    comparison: &Comparison,
    sides: &Sides,
) -> Vec<CauseLoss> {
    let replicated = replicated(frame_of, classified, comparison, sides);
    let column_count = comparison.base.cost.iter().chain(&comparison.at.cost).max().map_or(0, |c| c + 1);
    let mut values: BTreeMap<Cause, Vec<f64>> = BTreeMap::new();
    // (cause, place) by column
    let mut places: BTreeMap<(Cause, u32), [f64; 2]> = BTreeMap::new();
    let columns = [(&comparison.base.cost, &sides.base), (&comparison.at.cost, &sides.at)];
    for (side, (columns, ledgers)) in columns.into_iter().enumerate() {
        let share = 1.0 / ledgers.len().max(1) as f64;
        for (column, ledger) in columns.iter().zip(ledgers) {
            let mut put = |cause: Cause, place: u32, seconds: f64| {
                values.entry(cause).or_insert_with(|| vec![0.0; column_count])[*column] += seconds;
                if place != 0 {
                    places.entry((cause, place)).or_default()[side] += seconds * share;
                }
            };
            let mut in_meetings: BTreeMap<u32, f64> = BTreeMap::new();
            for context in 0..tree.len() as u32 {
                let seconds = ledger.own[context as usize];
                if seconds == 0.0 {
                    continue;
                }
                let place = classified.operation(context).unwrap_or(frame_of[context as usize]);
                match Cause::of(classified.activity(context)) {
                    Some(cause) => put(cause, place, seconds),
                    None if classified.operation(context).is_some() => {
                        *in_meetings.entry(place).or_default() += seconds
                    }
                    None if replicated[place as usize] => put(Cause::Replicated, place, seconds),
                    None => put(Cause::ComputeGrowth, place, seconds),
                }
            }
            for (meeting, seconds) in in_meetings {
                let waiting = ledger.waiting(meeting).0.min(seconds);
                put(Cause::MeetingWait, meeting, waiting);
                put(Cause::MeetingRest, meeting, seconds - waiting);
            }
            if ledger.preempted != 0.0 {
                put(Cause::Preemption, 0, ledger.preempted);
            }
        }
    }
    let rho = comparison.scaling.rho(comparison.base.scale, comparison.at.scale);
    let mut losses: Vec<CauseLoss> = values
        .into_iter()
        .map(|(cause, values)| {
            let part = |[base, at]: [f64; 2]| (at - rho * base) / comparison.whole_at;
            let range = (cause, 0)..=(cause, u32::MAX);
            let mut places: Vec<(u32, f64)> =
                places.range(range).map(|((_, place), sides)| (*place, part(*sides))).collect();
            places.retain(|(_, part)| *part > 0.0);
            places.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            CauseLoss { cause, loss: comparison.loss(&values), places }
        })
        .collect();
    losses.sort_by(|a, b| b.loss.excess.total_cmp(&a.loss.excess));
    losses
}

/// The frames whose own work every participant does again.
fn replicated(
    frame_of: &[u32],
    classified: &Classified,
    comparison: &Comparison,
    sides: &Sides,
) -> Vec<bool> {
    let mut found = vec![false; frame_of.len()];
    let growth = f64::from(comparison.at.scale) / f64::from(comparison.base.scale);
    if comparison.scaling != Scaling::Strong || growth <= 1.0 + SAME_GROWTH {
        return found;
    }
    let mean = |ledgers: &[&Ledger]| -> Vec<f64> {
        let mut work = vec![0.0; frame_of.len()];
        for ledger in ledgers {
            for (context, frame) in (0u32..).zip(frame_of) {
                if classified.activity(context) == Activity::Compute {
                    work[*frame as usize] += ledger.own[context as usize] / ledgers.len() as f64;
                }
            }
        }
        work
    };
    let (base, at) = (mean(&sides.base), mean(&sides.at));
    for frame in 0..frame_of.len() {
        let enough = at[frame] >= MIN_SAMPLES as f64 * comparison.period && base[frame] > 0.0;
        if enough && (at[frame] / base[frame] / growth - 1.0).abs() <= SAME_GROWTH {
            found[frame] = sides.at.iter().all(|ledger| is_even(ledger, frame as u32));
        }
    }
    found
}

fn is_even(ledger: &Ledger, frame: u32) -> bool {
    let participants = ledger.useful.useful.len() as f64;
    let Some(work) = ledger.frames.get(&frame) else { return false };
    let most = work.values().copied().fold(0.0, f64::max);
    most * participants <= EVEN * work.values().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::{Frames, Useful};
    use crate::scoring::ScaleColumns;
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    /// Seconds of `solve`, `copy` and `MPI_Barrier` for each participant.
    fn sides(runs: &[Vec<[f64; 3]>]) -> (Tree, Vec<Ledger>) {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
        let parts = ["solve", "copy", "MPI_Barrier"]
            .map(|name| builder.child(main, &Scope::new(ScopeKind::Function, name)));
        let (tree, place) = builder.finish();
        let ledgers = runs.iter().map(|participants| {
            let mut ledger = Ledger {
                own: vec![0.0; tree.len()],
                preempted: 0.5,
                frames: Default::default(),
                meetings: BTreeMap::new(),
                useful: Useful::default(),
            };
            for (participant, seconds) in (0u32..).zip(participants) {
                for (part, seconds) in parts.iter().zip(seconds) {
                    let context = place[*part as usize];
                    ledger.own[context as usize] += seconds;
                    let lists = if *part == parts[2] {
                        ledger.meetings.entry(context).or_default()
                    } else {
                        ledger.frames.entry(context).or_default()
                    };
                    lists.insert(participant, *seconds);
                }
                ledger.useful.useful.push(seconds[0] + seconds[1]);
                ledger.useful.whole += seconds.iter().sum::<f64>() + 0.5 / participants.len() as f64;
            }
            ledger
        });
        (tree.clone(), ledgers.collect())
    }

    #[test]
    fn causes_sum_to_the_excess() {
        // Shared work that grows a little, work done again on each, and a barrier where participant 1 comes last.
        let base = vec![[10.0, 1.0, 0.1]];
        let at = vec![[2.6, 1.0, 3.2], [5.6, 1.0, 0.2], [2.6, 1.0, 3.2], [2.6, 1.0, 3.2]];
        let (tree, ledgers) = sides(&[base, at]);
        let classified = Classified::new(&tree, &Frames::known());
        let frame_of: Vec<u32> = (0..tree.len() as u32).collect();
        let scale = |scale, column| ScaleColumns {
            scale,
            cost: vec![column],
            samples: vec![column + 1],
            wall_seconds: vec![1.0],
        };
        let (base, at) = (scale(1, 0), scale(4, 2));
        let comparison = Comparison {
            base: &base,
            at: &at,
            scaling: Scaling::Strong,
            period: 0.005,
            whole_base: ledgers[0].useful.whole,
            whole_at: ledgers[1].useful.whole,
        };
        let sides = Sides { base: vec![&ledgers[0]], at: vec![&ledgers[1]] };
        let found = partition(&tree, &classified, &frame_of, &comparison, &sides);
        let part =
            |cause: Cause| found.iter().find(|c| c.cause == cause).unwrap().loss.excess * comparison.whole_at;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(part(Cause::MeetingWait), 9.0);
        close(part(Cause::MeetingRest), 0.8 - 0.1);
        close(part(Cause::Replicated), 3.0);
        close(part(Cause::ComputeGrowth), 13.4 - 10.0);
        close(part(Cause::Preemption), 0.0);
        let sum: f64 = found.iter().map(|c| c.loss.excess).sum();
        close(sum, (comparison.whole_at - comparison.whole_base) / comparison.whole_at);
        assert_eq!(found[0].cause, Cause::MeetingWait);
        assert_eq!(&*tree.scope(found[0].places[0].0).name, "MPI_Barrier");
    }
}
