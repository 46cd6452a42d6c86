//! What a run spent, by context and participant: what causes are computed from.

use std::collections::BTreeMap;

use falloff_postprocess::Database;

use crate::scoring::{PREEMPTED, Run, SECONDS_PER_NS, TIME, participant_keys};

/// Counts of events that tell of disturbances, where they were measured.
const EVENTS: [&str; 5] = ["page-faults", "minor-faults", "major-faults", "migrations", "context-switches"];

/// Costs of one run over the contexts of the sweep's tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCosts {
    /// Processor count.
    pub scale: u32,
    /// Which repetition it is, from 1.
    pub repetition: u32,
    /// Who takes part: ranks, or threads of a program without ranks.
    pub participants: Vec<Participant>,
    /// Whether they are ranks.
    pub ranked: bool,
    /// Costs, by context and participant.
    pub costs: Vec<Cost>,
    /// Whether instructions and cycles were counted.
    pub counted: bool,
    /// For each kind of event that was counted, how many there were in each context.
    pub events: BTreeMap<&'static str, Vec<(u32, f64)>>,
}

/// One who takes part in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participant {
    /// Number of the rank, or of the thread.
    pub number: u32,
    /// Host that it runs on.
    pub host: String,
}

/// Own cost of one context at one participant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Context of the sweep's tree.
    pub context: u32,
    /// Index into the participants; `None` for what belongs to no participant.
    pub participant: Option<u32>,
    /// The scored metric, seconds.
    pub seconds: f64,
    /// The part of it in which it was ready to run, but had no processor, seconds.
    pub preempted: f64,
    /// Instructions, if counted.
    pub instructions: f64,
    /// Cycles, if counted.
    pub cycles: f64,
}

impl RunCosts {
    /// Reads a run whose contexts have their places in the tree by `map`. `None` if the metric was not measured.
    pub(crate) fn of(run: &Run, map: &[u32], metric: &str) -> Option<RunCosts> {
        let database = &run.database;
        let index = |name: &str| database.metrics().iter().position(|m| m.name == name).map(|at| at as u32);
        let cost = index(metric)?;
        let lost = if metric == TIME { index(PREEMPTED) } else { None };
        let counted = index("instructions").zip(index("cycles"));
        let events: Vec<(u32, &'static str)> =
            EVENTS.into_iter().filter_map(|name| Some((index(name)?, name))).collect();
        let (participants, keys) = participants(database);
        let mut costs = RunCosts {
            scale: run.scale,
            repetition: run.repetition,
            participants,
            ranked: database.locations().iter().any(|l| l.rank.is_some()),
            costs: Vec::new(),
            counted: counted.is_some(),
            events: events.iter().map(|(_, name)| (*name, Vec::new())).collect(),
        };
        for value in database.values() {
            let context = map[value.context as usize];
            let amount = database.metrics()[value.metric as usize].in_unit(value.exclusive);
            let none = Cost { context, participant: keys[value.location as usize], ..Cost::default() };
            let (instructions, cycles) = counted.unzip();
            match value.metric {
                m if m == cost => costs.costs.push(Cost { seconds: amount * SECONDS_PER_NS, ..none }),
                m if Some(m) == lost => costs.costs.push(Cost { preempted: amount * SECONDS_PER_NS, ..none }),
                m if Some(m) == instructions => costs.costs.push(Cost { instructions: amount, ..none }),
                m if Some(m) == cycles => costs.costs.push(Cost { cycles: amount, ..none }),
                m => {
                    if let Some((_, name)) = events.iter().find(|(event, _)| *event == m) {
                        costs.events.entry(name).or_default().push((context, amount));
                    }
                }
            }
        }
        costs.join();
        Some(costs)
    }

    /// Puts the costs into order and adds up those of one context and participant.
    fn join(&mut self) {
        self.costs.sort_by_key(|cost| (cost.context, cost.participant));
        self.costs.dedup_by(|next, kept| {
            let same = (next.context, next.participant) == (kept.context, kept.participant);
            if same {
                kept.seconds += next.seconds;
                kept.preempted += next.preempted;
                kept.instructions += next.instructions;
                kept.cycles += next.cycles;
            }
            same
        });
    }
}

/// Those who take part, and which of them each location belongs to.
fn participants(database: &Database) -> (Vec<Participant>, Vec<Option<u32>>) {
    let keys = participant_keys(database.locations());
    let mut known: BTreeMap<u32, Participant> = BTreeMap::new();
    for (key, location) in keys.iter().zip(database.locations()) {
        if let Some(number) = *key {
            known.entry(number).or_insert_with(|| Participant { number, host: location.host.clone() });
        }
    }
    let place: BTreeMap<u32, u32> = known.keys().copied().zip(0..).collect();
    let keys = keys.into_iter().map(|key| place.get(&key?).copied()).collect();
    (known.into_values().collect(), keys)
}
