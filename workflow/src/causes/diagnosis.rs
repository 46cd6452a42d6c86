//! What a loss looks like: one pattern at one place of the program.

use super::law::Law;
use crate::scoring::{FALSE_FINDINGS, Loss};

/// A pattern of lost scalability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// One participant works while the others wait.
    SerialSection,
    /// Every participant does the same work again.
    ReplicatedWork,
    /// Own work grows more than expected.
    WorkGrowth,
    /// The same instructions take longer where more processors are busy.
    MemoryBandwidth,
    /// The same participants always have more work than the others, who wait.
    LoadImbalance,
    /// Participants are late by turns.
    RandomImbalance,
    /// A collective operation itself takes longer with more participants.
    CollectiveCost,
    /// Several small collective operations where one would do.
    ManySmallCollectives,
    /// Waiting in a collective operation for work that the samples do not show.
    CollectiveWaiting,
    /// Waiting for a message of somebody who has more work.
    LatePartner,
    /// One participant works while the others wait for its messages.
    SerialMessages,
    /// Messages take everybody as long: latency or bandwidth.
    MessageCost,
    /// Access to the memory of other processes.
    OneSided,
    /// Threads wait for each other.
    ThreadWaiting,
    /// Threads wait for a lock.
    Lock,
    /// Files and pipes.
    Io,
    /// Sleeping and polling outside of any operation.
    Sleep,
    /// Run-time libraries' own business.
    Runtime,
    /// More threads are ready to run than there are processors for.
    Preemption,
}

impl Rule {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Rule::SerialSection => "serial_section",
            Rule::ReplicatedWork => "replicated_work",
            Rule::WorkGrowth => "work_growth",
            Rule::MemoryBandwidth => "memory_bandwidth",
            Rule::LoadImbalance => "load_imbalance",
            Rule::RandomImbalance => "random_imbalance",
            Rule::CollectiveCost => "collective_cost",
            Rule::ManySmallCollectives => "many_small_collectives",
            Rule::CollectiveWaiting => "collective_waiting",
            Rule::LatePartner => "late_partner",
            Rule::SerialMessages => "serial_messages",
            Rule::MessageCost => "message_cost",
            Rule::OneSided => "one_sided",
            Rule::ThreadWaiting => "thread_waiting",
            Rule::Lock => "lock",
            Rule::Io => "io",
            Rule::Sleep => "sleep",
            Rule::Runtime => "runtime",
            Rule::Preemption => "preemption",
        }
    }

    /// What reports call it.
    pub fn title(self) -> &'static str {
        match self {
            Rule::SerialSection => "serial section",
            Rule::ReplicatedWork => "replicated work",
            Rule::WorkGrowth => "growing work",
            Rule::MemoryBandwidth => "slower work",
            Rule::LoadImbalance => "load imbalance",
            Rule::RandomImbalance => "random imbalance",
            Rule::CollectiveCost => "collective cost",
            Rule::ManySmallCollectives => "many small collectives",
            Rule::CollectiveWaiting => "waiting in a collective",
            Rule::LatePartner => "late partner",
            Rule::SerialMessages => "serial messages",
            Rule::MessageCost => "cost of messages",
            Rule::OneSided => "one-sided communication",
            Rule::ThreadWaiting => "waiting threads",
            Rule::Lock => "lock",
            Rule::Io => "input and output",
            Rule::Sleep => "sleeping",
            Rule::Runtime => "run-time library",
            Rule::Preemption => "too few processors",
        }
    }
}

/// How the pattern is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// The measurement allows others as well.
    Guessed,
    /// By a rule that is right as a rule.
    Inferred,
    /// By what the time was spent on, or by a bound.
    Measured,
}

/// Numbers behind a diagnosis; those that do not apply are not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Work at the compared over work at the base scale.
    pub work_ratio: Option<f64>,
    /// Instructions at the compared scale over those that were expected.
    pub instructions: Option<f64>,
    /// Instructions per cycle at the compared scale over those at the base.
    pub per_cycle: Option<f64>,
    /// Bounds of what is waited, as fractions of the whole run.
    pub wait_bounds: Option<(f64, f64)>,
    /// In how many runs of how many the same participant comes last.
    pub last_in: Option<(usize, usize)>,
    /// How the least time of the participants grows with their number.
    pub law: Option<Law>,
    /// Calls of the same operation in one function.
    pub sites: Option<usize>,
    /// Rank correlation of work and waiting over the participants.
    pub correlation: Option<f64>,
    /// Processor time that the others could have used, as a fraction of the run, where the metric does not hold it.
    pub unused: Option<f64>,
}

/// A loss with its pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The pattern.
    pub rule: Rule,
    /// Context to look at: the work, or the operation.
    pub place: u32,
    /// The operation in which others wait for it.
    pub waits_in: Option<u32>,
    /// What it costs.
    pub loss: Loss,
    /// Share of false ones to expect among this and all diagnoses that are less likely to be chance.
    pub q_value: f64,
    /// How the pattern is known.
    pub ground: Ground,
    /// Numbers of the participants that it is about, if not all.
    pub participants: Vec<u32>,
    /// Whether participants are ranks; threads otherwise.
    pub ranked: bool,
    /// The numbers behind it.
    pub evidence: Evidence,
}

/// How sure a diagnosis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It may be something else, or nothing.
    Guess,
    /// Probably so.
    Likely,
    /// Told from zero in repeated runs, and its pattern measured.
    Sure,
}

impl Confidence {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Guess => "guess",
            Confidence::Likely => "likely",
            Confidence::Sure => "sure",
        }
    }
}

impl Diagnosis {
    /// How sure it is, with these good repetitions of both scales.
    pub fn confidence(&self, repetitions: (usize, usize)) -> Confidence {
        let unused = self.evidence.unused.is_some();
        let repeated = repetitions.0.min(repetitions.1) > 1;
        match self.ground {
            Ground::Guessed => Confidence::Guess,
            _ if !(self.loss.is_told_from_zero() || unused) => Confidence::Guess,
            Ground::Measured if repeated && (self.q_value < FALSE_FINDINGS || unused) => Confidence::Sure,
            _ => Confidence::Likely,
        }
    }
}
