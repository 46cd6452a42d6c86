//! What a log tells: calls of MPI, each with what it began and what it completed.

pub use falloff_format::events::{Mode, Operation, Synchronisation, TransferKind};

use crate::CommId;

/// One call of MPI by a program, outermost where MPI calls itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Which function, an index into [`crate::Log::functions`].
    pub function: u16,
    /// Section that was open, as the log numbers them; 0 for none.
    pub section: u16,
    /// The call path that made the call, a number of the log's own, unique within a rank.
    pub context: u32,
    /// When it began: nanoseconds of the rank's own clock.
    pub enter: u64,
    /// When it ended.
    pub leave: u64,
    /// What it began and completed, in this order. A blocking operation is begun and completed by the same call.
    pub ops: Vec<Op>,
}

/// One thing that a call did.
///
/// Operations are numbered in the order in which their rank began them, over all its threads: `post` below. Persistent requests
/// begin a new operation at each start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Begins to send.
    Send(Send),
    /// Begins to receive.
    Receive(Receive),
    /// Enters a collective operation.
    Collective(Collective),
    /// One-sided transfer.
    Transfer(Transfer),
    /// Synchronises a window where that is no collective operation.
    Synchronise {
        /// The window, as communicators are numbered.
        window: CommId,
        /// How.
        how: Synchronisation,
    },
    /// Completes an operation begun by this call or an earlier one of the same rank.
    Complete(Completion),
}

/// A message sets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// Number of the operation in its rank.
    pub post: u64,
    /// How it completes.
    pub mode: Mode,
    /// To which rank of the run.
    pub to: u32,
    /// With which tag.
    pub tag: i32,
    /// Within which communicator.
    pub comm: CommId,
    /// How many bytes.
    pub bytes: u64,
}

/// A message is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// Number of the operation in its rank.
    pub post: u64,
    /// From which rank of the run, `None` for any.
    pub from: Option<u32>,
    /// With which tag, `None` for any.
    pub tag: Option<i32>,
    /// Within which communicator.
    pub comm: CommId,
}

/// All of a communicator do something together: what is n-th on it by one member is n-th by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Number of the operation in its rank.
    pub post: u64,
    /// What they do.
    pub operation: Operation,
    /// Within which communicator.
    pub comm: CommId,
    /// Which of the operations on that communicator this is, from 0.
    pub sequence: u64,
    /// The rank of the run that gives or gets, for operations that have one. Between two groups, those who stand beside the root
    /// and take no part do not say who it is.
    pub root: Option<u32>,
    /// Bytes that this rank gives.
    pub sent: u64,
    /// Bytes that this rank gets.
    pub received: u64,
}

/// One-sided: only the one side calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What is done.
    pub kind: TransferKind,
    /// In which window, as communicators are numbered.
    pub window: CommId,
    /// With whose memory.
    pub target: u32,
    /// How many bytes.
    pub bytes: u64,
}

/// An operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Number of the operation in its rank.
    pub post: u64,
    /// From which rank of the run a message came; of receives only.
    pub from: Option<u32>,
    /// The tag it had; of receives only.
    pub tag: Option<i32>,
    /// Bytes that came; of receives only.
    pub bytes: u64,
    /// It was cancelled or failed: nothing was matched.
    pub void: bool,
}
