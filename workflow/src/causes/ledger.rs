//! What one run spent, by participant and by operation.

use std::collections::{BTreeMap, BTreeSet};

use falloff_postprocess::Tree;
use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::classify::Classified;
use super::efficiency::{Counters, Useful};
use super::waits::wait_bounds;
use crate::scoring::{PREEMPTED, Run, SECONDS_PER_NS, TIME, participant_keys};

/// Costs of a run over the contexts of the sweep's tree, in seconds.
pub(super) struct Ledger {
    /// Own cost of every context, without the time in which threads were ready to run but had no processor.
    pub own: Vec<f64>,
    /// That time, over all contexts; 0 for metrics that do not hold it.
    pub preempted: f64,
    /// For each frame of the program's own work, what each participant spent there.
    pub frames: FxHashMap<u32, BTreeMap<u32, f64>>,
    /// For each operation in which all meet, by its context, what each participant that takes part spent there.
    pub meetings: BTreeMap<u32, BTreeMap<u32, f64>>,
    /// Its own work and all it spent.
    pub useful: Useful,
}

impl Ledger {
    /// Reads a run whose contexts have their places in the tree by `map`. `frame_of` has the innermost frame of every context.
    /// Costs are multiplied by the `weight` of their context. `None` if the metric was not measured.
    pub fn new(
        run: &Run,
        map: &[u32],
        tree: &Tree,
        classified: &Classified,
        frame_of: &[u32],
        metric: &str,
        weight: impl Fn(u32) -> f64,
    ) -> Option<Ledger> {
        let database = &run.database;
        let index = |name: &str| database.metrics().iter().position(|m| m.name == name).map(|at| at as u32);
        let cost = index(metric)?;
        let lost = if metric == TIME { index(PREEMPTED) } else { None };
        let counted = index("instructions").zip(index("cycles"));
        let keys = participant_keys(database.locations());
        let mut ledger = Ledger {
            own: vec![0.0; tree.len()],
            preempted: 0.0,
            frames: FxHashMap::default(),
            meetings: BTreeMap::new(),
            useful: Useful::default(),
        };
        let mut seen: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut useful: BTreeMap<u32, f64> = BTreeMap::new();
        let mut counters = Counters { instructions: 0.0, cycles: 0.0 };
        for value in database.values() {
            let context = map[value.context as usize];
            let amount = weight(context) * database.metrics()[value.metric as usize].in_unit(value.exclusive);
            if let Some((instructions, cycles)) =
                counted.filter(|_| classified.activity(context) == Activity::Compute)
            {
                counters.instructions += if value.metric == instructions { amount } else { 0.0 };
                counters.cycles += if value.metric == cycles { amount } else { 0.0 };
            }
            let seconds = match value.metric {
                metric if metric == cost => amount * SECONDS_PER_NS,
                metric if Some(metric) == lost => {
                    ledger.preempted += amount * SECONDS_PER_NS;
                    -amount * SECONDS_PER_NS
                }
                _ => continue,
            };
            ledger.own[context as usize] += seconds;
            ledger.useful.whole += if value.metric == cost { seconds } else { 0.0 };
            let Some(participant) = keys[value.location as usize] else { continue };
            seen.entry(participant).or_default().insert(context);
            useful.entry(participant).or_default();
            let meeting = classified.operation(context).filter(|_| classified.activity(context).is_meeting());
            if let Some(meeting) = meeting {
                *ledger.meetings.entry(meeting).or_default().entry(participant).or_default() += seconds;
            } else if classified.activity(context) == Activity::Compute {
                *useful.entry(participant).or_default() += seconds;
                let frame = frame_of[context as usize];
                *ledger.frames.entry(frame).or_default().entry(participant).or_default() += seconds;
            }
        }
        ledger.add_who_came_last(tree, &seen);
        ledger.useful.useful = useful.into_values().collect();
        ledger.useful.counters = counted.map(|_| counters);
        Some(ledger)
    }

    /// Who always comes last may have no sample in a meeting. Who runs the function that meets takes part in the meeting.
    fn add_who_came_last(&mut self, tree: &Tree, seen: &BTreeMap<u32, BTreeSet<u32>>) {
        for (meeting, times) in &mut self.meetings {
            let Some(caller) = tree.caller(*meeting).filter(|caller| *caller != 0) else { continue };
            let around = caller..tree.end(caller);
            for (participant, contexts) in seen {
                if contexts.range(around.clone()).next().is_some() {
                    times.entry(*participant).or_default();
                }
            }
        }
    }

    /// What must be waiting in a meeting, and all the time in it.
    pub fn waiting(&self, meeting: u32) -> (f64, f64) {
        let times: Vec<f64> =
            self.meetings.get(&meeting).into_iter().flat_map(|t| t.values().copied()).collect();
        (wait_bounds(&times, 0.0).low, times.iter().sum())
    }
}
