//! What a timeline is made of. Times are nanoseconds of the ranks' clocks.

use crate::waits::{CallTime, Metric};
use crate::{Location, Operation, Outcome, Transfer};

/// A run in a window of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// All threads of the run that made calls.
    pub locations: Vec<Location>,
    /// The threads that are looked at, in the order of the log.
    pub lanes: Vec<Lane>,
    /// Names of functions, by their numbers.
    pub functions: Vec<String>,
    /// Messages that at least one call of the window sent, asked for or received.
    pub messages: Vec<Message>,
    /// Collective operations that at least one call of the window entered.
    pub meetings: Vec<Meeting>,
    /// One-sided transfers.
    pub reaches: Vec<Reach>,
    /// What became of matching the whole log.
    pub outcome: Outcome,
}

/// A thread with its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Whose it is, an index into [`Timeline::locations`].
    pub location: usize,
    /// When its last call before the window ended.
    pub before: Option<u64>,
    /// When its first call after the window began.
    pub after: Option<u64>,
    /// Its calls in the window.
    pub calls: Vec<Bar>,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Which function, an index into [`Timeline::functions`].
    pub function: u16,
    /// The call path that made it, as the log numbers them.
    pub context: u32,
    /// When it began.
    pub enter: u64,
    /// When it ended.
    pub leave: u64,
    /// What its time is counted for.
    pub time: CallTime,
}

impl Bar {
    /// How long it waited, from its beginning on, nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.time.wait.map_or(0, |(_, ns)| ns)
    }

    /// What it waited for.
    pub fn pattern(&self) -> Option<Metric> {
        self.time.wait.map(|(metric, _)| metric)
    }
}

/// A place in a lane, in or out of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Whose, an index into [`Timeline::locations`].
    pub location: usize,
    /// Which of the lane's calls; `None` for one that is not in the window.
    pub call: Option<u32>,
    /// When.
    pub time: u64,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The call that began to send, at its beginning.
    pub sent: End,
    /// The call that asked for it, at its beginning.
    pub posted: End,
    /// The call that completed the receive, at its end.
    pub received: End,
    /// With which tag.
    pub tag: i32,
    /// How many bytes were sent.
    pub bytes: u64,
}

/// A collective operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// What is done.
    pub operation: Operation,
    /// The rank of the run that gives or gets, for operations that have one.
    pub root: Option<u32>,
    /// How many ranks take part.
    pub size: usize,
    /// Calls of the window that entered it.
    pub members: Vec<Member>,
}

/// A call that enters a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Whose, an index into [`Timeline::locations`].
    pub location: usize,
    /// Which of the lane's calls.
    pub call: u32,
    /// Bytes that it gives.
    pub sent: u64,
    /// Bytes that it gets.
    pub received: u64,
}

/// A call that reaches into the memory of another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Whose, an index into [`Timeline::locations`].
    pub location: usize,
    /// Which of the lane's calls.
    pub call: u32,
    /// What it does.
    pub transfer: Transfer,
}
