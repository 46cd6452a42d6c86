//! Why a run spends more than it was expected to.

use super::activity::Activity;

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

    /// The cause of all time of an activity; none for own work and for operations in which all meet, which have several.
    pub(super) fn of(activity: Activity) -> Option<Cause> {
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
