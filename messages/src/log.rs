//! Where the calls of a run come from.

use crate::{Call, Communicator};

/// A thread of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Number among all ranks of the run.
    pub rank: u32,
    /// Number among the rank's threads.
    pub thread: u32,
}

/// The logs of all ranks of a run, read forwards, each at its own pace.
pub trait Log {
    /// Threads that made calls; what follows numbers them in this order. Threads of a rank stand together, ranks ascend from 0
    /// without a gap: a rank without a log has one location that ends at once.
    fn locations(&self) -> &[Location];

    /// Communicators and windows. The first is that of all ranks.
    fn communicators(&self) -> &[Communicator];

    /// Names of the functions that were called.
    fn functions(&self) -> &[&str];

    /// Reads the next call of a location; false at the end of its log.
    ///
    /// # Errors
    /// What is in the log cannot be read.
    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken>;

    /// Whether a location's log ends where its rank ended, and not where it was killed or where room ran out.
    fn is_whole(&self, location: usize) -> bool;
}

/// A log cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Broken {
    /// Which file, and where in it.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}
