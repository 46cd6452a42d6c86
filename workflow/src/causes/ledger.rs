//! What one run spent, by what it was spent on.

use falloff_postprocess::Tree;

use super::activity::Activity;
use super::classify::Classified;
use super::costs::{Cost, RunCosts};
use super::efficiency::{Counters, Useful};
use super::spread::Spread;

/// Work of a function, as a fraction of the time in a meeting below it, up to which it is taken to only wrap the meeting.
const WRAPPER: f64 = 0.1;

/// Costs of a run over the contexts of the sweep's tree, in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// Own cost of every context, without the time in which threads were ready to run but had no processor.
    pub own: Vec<f64>,
    /// That time.
    pub preempted: Vec<f64>,
    /// The program's own work at each task, see [`Classified::task`].
    pub work: Spread,
    /// Time in each operation by its context, and in each frame of a run-time library outside of operations. Who takes part in
    /// a meeting has an entry, of zero if need be.
    pub operations: Spread,
    /// Its own work and all it spent.
    pub useful: Useful,
    /// The program's own work at each context's frame.
    pub frames: Spread,
    /// Instructions and cycles of each task, if counted.
    pub counters: Option<[Spread; 2]>,
}

impl Ledger {
    /// Sorts the costs of a run.
    pub fn new(costs: &RunCosts, tree: &Tree, classified: &Classified) -> Ledger {
        let participants = costs.participants.len();
        let (mut own, mut preempted) = (vec![0.0; tree.len()], vec![0.0; tree.len()]);
        let (mut work, mut frames, mut operations) = (Vec::new(), Vec::new(), Vec::new());
        let (mut instructions, mut cycles) = (Vec::new(), Vec::new());
        let mut whole = 0.0;
        for cost in &costs.costs {
            let (context, seconds) = (cost.context, cost.seconds - cost.preempted);
            own[context as usize] += seconds;
            preempted[context as usize] += cost.preempted;
            whole += cost.seconds;
            let Some(who) = cost.participant else { continue };
            if classified.activity(context) == Activity::Compute {
                let task = classified.task(context);
                work.push((task, who, seconds));
                frames.push((classified.frame(context), who, seconds));
                instructions.push((task, who, cost.instructions));
                cycles.push((task, who, cost.cycles));
            } else {
                operations.push((classified.place(context), who, seconds));
            }
        }
        operations.extend(who_came_last(&costs.costs, tree, classified, &operations));
        let spread = |entries| Spread::new(participants, entries);
        let work = spread(work);
        let counters = costs.counted.then(|| [spread(instructions), spread(cycles)]);
        let total = |spread: &Spread| spread.within(0..u32::MAX).iter().sum();
        Ledger {
            useful: Useful {
                useful: work.within(0..u32::MAX),
                whole,
                counters: counters.as_ref().map(|[instructions, cycles]| Counters {
                    instructions: total(instructions),
                    cycles: total(cycles),
                }),
            },
            own,
            preempted,
            work,
            operations: spread(operations),
            frames: spread(frames),
            counters,
        }
    }

    /// Times of those who take part in an operation, with their indices.
    pub fn times(&self, operation: u32) -> Vec<(u32, f64)> {
        times(&self.operations, operation)
    }
}

/// Times of those who take part in an operation, with their indices.
pub(super) fn times(operations: &Spread, operation: u32) -> Vec<(u32, f64)> {
    let present = operations.present(operation..operation + 1);
    (0..)
        .zip(operations.at(operation))
        .zip(present)
        .filter(|(_, present)| *present)
        .map(|(time, _)| time)
        .collect()
}

/// Who always comes last may have no sample in a meeting. Who runs the function that meets takes part in the meeting; of
/// functions that do little else than meet, it is the one that calls them.
fn who_came_last(
    costs: &[Cost],
    tree: &Tree,
    classified: &Classified,
    operations: &[(u32, u32, f64)],
) -> Vec<(u32, u32, f64)> {
    let within = |context: u32| {
        let from = costs.partition_point(|cost| cost.context < context);
        &costs[from..costs.partition_point(|cost| cost.context < tree.end(context))]
    };
    let seconds = |costs: &[Cost], is_meant: &dyn Fn(&Cost) -> bool| -> f64 {
        costs.iter().filter(|cost| is_meant(cost)).map(|cost| cost.seconds - cost.preempted).sum()
    };
    let mut meetings: Vec<u32> = operations
        .iter()
        .map(|(operation, ..)| *operation)
        .filter(|operation| classified.activity(*operation).is_meeting())
        .collect();
    meetings.dedup();
    let mut found = Vec::new();
    for meeting in meetings {
        let inside = seconds(within(meeting), &|_| true);
        let is_work = |cost: &Cost| classified.operation(cost.context).is_none();
        let works = |caller: &u32| seconds(within(*caller), &is_work) > WRAPPER * inside;
        let callers = || {
            std::iter::successors(tree.caller(meeting), |c| tree.caller(*c)).take_while(|caller| *caller != 0)
        };
        let Some(caller) = callers().find(works).or_else(|| callers().next()) else { continue };
        found.extend(within(caller).iter().filter_map(|c| Some((meeting, c.participant?, 0.0))));
    }
    found
}
