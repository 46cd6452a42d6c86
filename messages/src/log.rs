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

    /// Names of the functions that were called, by their numbers.
    fn functions(&self) -> Vec<&str>;

    /// Reads the next call of a location; false at the end of its log.
    ///
    /// # Errors
    /// What is in the log cannot be read.
    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken>;

    /// The call in which a location's log ends, with what is known of it, once its end has been read; `None` if none was under way.
    fn last(&self, location: usize) -> Option<&Call>;

    /// Whether a location's log ends where its rank ended, and not where it was killed or where room ran out.
    fn is_whole(&self, location: usize) -> bool;

    /// Which clock the times of a location are of, a number of the log's own: locations of one host have one.
    fn clock(&self, location: usize) -> u32;
}

impl<L: Log + ?Sized> Log for Box<L> {
    fn locations(&self) -> &[Location] {
        (**self).locations()
    }

    fn communicators(&self) -> &[Communicator] {
        (**self).communicators()
    }

    fn functions(&self) -> Vec<&str> {
        (**self).functions()
    }

    fn last(&self, location: usize) -> Option<&Call> {
        (**self).last(location)
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        (**self).next(location, call)
    }

    fn is_whole(&self, location: usize) -> bool {
        (**self).is_whole(location)
    }

    fn clock(&self, location: usize) -> u32 {
        (**self).clock(location)
    }
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
