//! A location on the walk through its calls.

use super::{Metric, Moment};

/// How many late messages of a location are remembered to see whether they came in the wrong order.
const LATE_MAX: usize = 100;

/// A location, with the call that it is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) rank: u32,
    pub(super) begin: Option<u64>,
    pub(super) end: u64,
    pub(super) open: Open,
    /// Late messages, by when they were sent.
    pub(super) late: Vec<Late>,
}

/// A call under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) path: u32,
    pub(super) enter: u64,
    pub(super) leave: u64,
    /// Nothing is waited for in it.
    pub(super) is_test: bool,
    /// Where its time is counted that is neither waiting nor completion.
    pub(super) rest: Option<Metric>,
    pub(super) longest: Option<Candidate>,
    pub(super) completion: Option<(Metric, u64)>,
    /// Its wait is on record.
    pub(super) has_met: bool,
}

/// Something that a call waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) metric: Metric,
    pub(super) ns: u64,
    pub(super) cause: Moment,
    /// Who sent the message, if it was one.
    pub(super) sender: u32,
}

/// A message that was waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    pub(super) sent: u64,
    pub(super) sender: u32,
    pub(super) path: u32,
    pub(super) ns: u64,
}

impl Thread {
    /// Counts time of the call that is nothing special for `rest`, unless it is counted already.
    pub(super) fn belongs(&mut self, rest: Metric) {
        self.open.rest.get_or_insert(rest);
    }

    /// The call waited. Of several waits the longest counts, once.
    pub(super) fn waited(&mut self, wait: Candidate) {
        if wait.ns > self.open.longest.map_or(0, |longest| longest.ns) {
            self.open.longest = Some(wait);
        }
    }

    /// Takes out the late messages that were sent after one which is received now: they came in the wrong order.
    pub(super) fn out_of_order(&mut self, sent: u64) -> impl Iterator<Item = Late> {
        let first = self.late.partition_point(|message| message.sent <= sent);
        self.late.drain(first..)
    }

    /// Remembers that the message of a wait was late.
    pub(super) fn remember(&mut self, wait: Candidate) {
        let message = Late { sent: wait.cause.enter, sender: wait.sender, path: self.open.path, ns: wait.ns };
        self.late.insert(self.late.partition_point(|other| other.sent <= message.sent), message);
        if self.late.len() > LATE_MAX {
            self.late.remove(0);
        }
    }
}
