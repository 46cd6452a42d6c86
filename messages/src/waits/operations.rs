//! How collective operations make their members wait for one another.

use super::Metric;
use crate::Operation;

/// How an operation makes its members wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// Waiting in it, if there is a rule for it.
    pub(super) wait: Option<Metric>,
    /// Staying in it after the first has left it.
    pub(super) completion: Option<Metric>,
    /// Everything else.
    pub(super) rest: Metric,
    /// Each member needs all others.
    pub(super) is_n_to_n: bool,
    /// It may be done without waiting for anybody: only times tell whether members did wait.
    pub(super) is_loose: bool,
}

impl Manner {
    /// How an operation makes its members wait.
    ///
    /// Communicators and windows may be given up, MPI ended, and fences passed that end nothing, without the others. Who the
    /// neighbours in a topology are is not known, nor whether MPI begins together.
    pub(super) fn of(operation: Operation) -> Self {
        let to_or_from_one = Self {
            wait: None,
            completion: None,
            rest: Metric::CollectiveRest,
            is_n_to_n: false,
            is_loose: false,
        };
        let n_to_n = Self { is_n_to_n: true, ..to_or_from_one };
        let management = Self { rest: Metric::Management, is_loose: true, ..n_to_n };
        match operation {
            Operation::Barrier => Self {
                wait: Some(Metric::BarrierWait),
                completion: Some(Metric::BarrierCompletion),
                ..n_to_n
            },
            Operation::AllReduce | Operation::AllGather | Operation::AllToAll | Operation::ReduceScatter => {
                Self { wait: Some(Metric::NToNWait), completion: Some(Metric::NToNCompletion), ..n_to_n }
            }
            Operation::Broadcast | Operation::Scatter => {
                Self { wait: Some(Metric::LateBroadcast), ..to_or_from_one }
            }
            Operation::Reduce | Operation::Gather => {
                Self { wait: Some(Metric::EarlyReduce), ..to_or_from_one }
            }
            Operation::Scan | Operation::ExclusiveScan => {
                Self { wait: Some(Metric::EarlyScan), ..to_or_from_one }
            }
            Operation::Neighbours => to_or_from_one,
            Operation::Make | Operation::Finalise => {
                Self { wait: Some(Metric::ManagementWait), ..management }
            }
            Operation::Fence => {
                Self { wait: Some(Metric::FenceWait), rest: Metric::OneSidedRest, ..management }
            }
            Operation::Initialise => Self { is_n_to_n: false, ..management },
        }
    }
}
