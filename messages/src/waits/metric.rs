//! What time was spent on: trees of metrics.

/// What nanoseconds are counted for. Values are exclusive: each nanosecond of a location's time stands at one metric below
/// [`Metric::Time`] and nowhere else in that tree, so that a metric with all below it is the sum of them.
///
/// The other trees look at the same waiting again: who brought it about ([`Metric::DelayCost`]), where it came from
/// ([`Metric::Origin`]), what became of it ([`Metric::Effect`]), and what the run's length hung on ([`Metric::CriticalPath`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Metric {
    /// All time from a location's first call to its last.
    Time,
    /// Outside MPI.
    Computation,
    /// Inside MPI; by itself what neither begins nor completes anything, as asking for one's rank or testing in vain.
    Mpi,
    /// Messages between two.
    PointToPoint,
    /// Receiving what had not been sent yet.
    LateSender,
    /// Late sender, while a message that was sent before by the same sender was received only afterwards.
    WrongOrderSameSource,
    /// Late sender, while a message that was sent before by another was received only afterwards.
    WrongOrderOtherSource,
    /// Sending with the receive, which had not begun yet.
    LateReceiver,
    /// Everything else of messages.
    Transfer,
    /// Operations of all of a communicator.
    Collective,
    /// At a barrier, for the last to come.
    BarrierWait,
    /// At a barrier, after the first has left it.
    BarrierCompletion,
    /// In an operation in which each needs all, for the last to come.
    NToNWait,
    /// In an operation in which each needs all, after the first has left it.
    NToNCompletion,
    /// For the root to give.
    LateBroadcast,
    /// At the root, for the last that gives.
    EarlyReduce,
    /// For the last of those that come before in the order of ranks.
    EarlyScan,
    /// Everything else of collective operations.
    CollectiveRest,
    /// Reading and writing others' memory.
    OneSided,
    /// At a fence, for the last to come.
    FenceWait,
    /// For a target to open its memory.
    LatePost,
    /// For the last of those who access one's memory.
    EarlyWait,
    /// For another to give up a lock.
    LockContention,
    /// Everything else of one-sided transfers.
    OneSidedRest,
    /// Beginning and ending MPI, making and giving up communicators, windows and files.
    Management,
    /// There, for the last to come.
    ManagementWait,
    /// What waiting costs, at the place that brought it about: of all waiting but late posts, early waits and locks, of which it is
    /// not known well enough for whom they waited.
    DelayCost,
    /// Computation that made others wait for this location.
    ShortTerm,
    /// Time in MPI that made others wait for this location.
    ShortTermCommunication,
    /// Computation that made others wait, who then made others wait.
    LongTerm,
    /// Time in MPI that made others wait, who then made others wait.
    LongTermCommunication,
    /// Waiting, by where it came from.
    Origin,
    /// Because of what another did.
    DirectWait,
    /// Because another had waited.
    IndirectWait,
    /// Waiting, by what became of it.
    Effect,
    /// It made others wait in turn.
    PropagatingWait,
    /// Nobody waited because of it.
    TerminalWait,
    /// What the run's length hung on.
    CriticalPath,
    /// Computation on the critical path.
    CriticalComputation,
    /// Time in MPI on the critical path.
    CriticalMpi,
}

/// Metric, what it is part of, its name, and what it says.
type Row = (Metric, Option<Metric>, &'static str, &'static str);

use Metric::*;

const TABLE: [Row; 40] = [
    (Time, None, "time", "from a location's first call of MPI to the end of its last"),
    (Computation, Some(Time), "computation", "outside MPI"),
    (Mpi, Some(Time), "MPI", "in MPI"),
    (PointToPoint, Some(Mpi), "point-to-point", "messages between two"),
    (LateSender, Some(PointToPoint), "late sender", "receiving what had not been sent yet"),
    (
        WrongOrderSameSource,
        Some(LateSender),
        "wrong order, same source",
        "an earlier message of the same sender was received afterwards",
    ),
    (
        WrongOrderOtherSource,
        Some(LateSender),
        "wrong order, other source",
        "another's earlier message was received afterwards",
    ),
    (LateReceiver, Some(PointToPoint), "late receiver", "sending before the receive had begun"),
    (Transfer, Some(PointToPoint), "transfer", "everything else of messages"),
    (Collective, Some(Mpi), "collective", "operations of all of a communicator"),
    (BarrierWait, Some(Collective), "wait at barrier", "for the last to come to a barrier"),
    (BarrierCompletion, Some(Collective), "barrier completion", "after the first has left a barrier"),
    (NToNWait, Some(Collective), "wait at n-to-n", "for the last to come where each needs all"),
    (NToNCompletion, Some(Collective), "n-to-n completion", "after the first has left where each needs all"),
    (LateBroadcast, Some(Collective), "late broadcast", "for the root to give"),
    (EarlyReduce, Some(Collective), "early reduce", "at the root, for the last that gives"),
    (EarlyScan, Some(Collective), "early scan", "for the last of the ranks before"),
    (CollectiveRest, Some(Collective), "collective, rest", "everything else of collective operations"),
    (OneSided, Some(Mpi), "one-sided", "reading and writing others' memory"),
    (FenceWait, Some(OneSided), "wait at fence", "for the last to come to a fence"),
    (LatePost, Some(OneSided), "late post", "for a target to open its memory"),
    (EarlyWait, Some(OneSided), "early wait", "for the last that accesses one's memory"),
    (LockContention, Some(OneSided), "lock contention", "for another to give up a lock"),
    (OneSidedRest, Some(OneSided), "one-sided, rest", "everything else of one-sided transfers"),
    (Management, Some(Mpi), "management", "beginning, ending, making and giving up"),
    (
        ManagementWait,
        Some(Management),
        "wait in management",
        "for the last to come where something is made or given up",
    ),
    (DelayCost, None, "delay cost", "waiting, at the place that brought it about"),
    (ShortTerm, Some(DelayCost), "short-term", "computation that others waited for"),
    (
        ShortTermCommunication,
        Some(DelayCost),
        "short-term, communication",
        "time in MPI that others waited for",
    ),
    (LongTerm, Some(DelayCost), "long-term", "computation that others waited for, for whom others waited"),
    (
        LongTermCommunication,
        Some(DelayCost),
        "long-term, communication",
        "time in MPI that others waited for, for whom others waited",
    ),
    (Origin, None, "waiting by origin", "waiting, by where it came from"),
    (DirectWait, Some(Origin), "direct", "because of what another did"),
    (IndirectWait, Some(Origin), "indirect", "because another had waited"),
    (Effect, None, "waiting by effect", "waiting, by what became of it"),
    (PropagatingWait, Some(Effect), "propagating", "made others wait in turn"),
    (TerminalWait, Some(Effect), "terminal", "nobody waited because of it"),
    (CriticalPath, None, "critical path", "what the run's length hung on"),
    (CriticalComputation, Some(CriticalPath), "critical computation", "computation on the critical path"),
    (CriticalMpi, Some(CriticalPath), "critical MPI", "time in MPI on the critical path"),
];

impl Metric {
    /// Unit of all values.
    pub const UNIT: &'static str = "ns";

    /// All metrics, each after what it is part of.
    pub fn all() -> impl DoubleEndedIterator<Item = Metric> {
        TABLE.iter().map(|row| row.0)
    }

    /// What this is part of; `None` for the root of a tree.
    pub fn parent(self) -> Option<Metric> {
        TABLE[self as usize].1
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// What it says, in a few words.
    pub fn description(self) -> &'static str {
        TABLE[self as usize].3
    }

    /// Whether it is `other` or part of it.
    ///
    /// ```
    /// use falloff_messages::waits::Metric;
    /// assert!(Metric::WrongOrderSameSource.is_within(Metric::Mpi));
    /// assert!(!Metric::LateSender.is_within(Metric::Collective));
    /// ```
    pub fn is_within(self, other: Metric) -> bool {
        self == other || self.parent().is_some_and(|parent| parent.is_within(other))
    }

    /// How many metrics it lies below the root of its tree.
    pub fn depth(self) -> usize {
        self.parent().map_or(0, |parent| parent.depth() + 1)
    }

    /// Whether it is waiting for another in a call of MPI: the patterns.
    pub fn is_wait(self) -> bool {
        matches!(
            self,
            LateSender
                | WrongOrderSameSource
                | WrongOrderOtherSource
                | LateReceiver
                | BarrierWait
                | NToNWait
                | LateBroadcast
                | EarlyReduce
                | EarlyScan
                | FenceWait
                | LatePost
                | EarlyWait
                | LockContention
                | ManagementWait
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_metrics_and_parents_come_first() {
        for (at, metric) in Metric::all().enumerate() {
            assert_eq!(metric as usize, at);
            assert!(metric.parent().is_none_or(|parent| (parent as usize) < at));
        }
    }

    #[test]
    fn names_tell_metrics_apart() {
        let names: std::collections::BTreeSet<_> = Metric::all().map(Metric::name).collect();
        assert_eq!(names.len(), TABLE.len());
    }
}
