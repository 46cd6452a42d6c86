//! What became of matching.

use super::blocked::{Blocked, join};
use crate::{CommId, Operation};
use std::fmt;

/// How many of each kind are told in full; of the rest the number.
const TOLD: usize = 20;

/// What became of matching: how much was matched, and what not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Calls that were led through to their end.
    pub calls: u64,
    /// Messages that met their receive.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Collective operations that all members entered.
    pub collectives: u64,
    /// Receives and sends that were cancelled or failed.
    pub void: u64,
    /// Messages that no receive was found for.
    pub unmatched_sends: u64,
    /// Receives that no message was found for.
    pub unmatched_receives: u64,
    /// Receives from any source, or with any tag, whose log does not tell what they received.
    pub unresolved: u64,
    /// Completions of operations that the log does not tell the beginning of.
    pub strays: u64,
    /// Collective operations that some members never entered.
    pub incomplete_collectives: u64,
    /// Standard sends that were taken to wait for their receive, and then not, because all would have waited for ever.
    pub released: u64,
    /// Operations passed without their other side, because the log of a rank they waited for ends before.
    pub breaks: u64,
    /// Collective operations that not all entered as the same.
    pub mismatched_collectives: u64,
    /// The first of those.
    pub mismatches: Vec<Mismatch>,
    /// Some of the unmatched.
    pub unmatched: Vec<Unmatched>,
    /// Where each location waits that could not go on, also in the call in which its log ends.
    pub blocked: Vec<Blocked>,
    /// Calls in which logs end: what ranks were in when they were killed, or when room ran out.
    pub cut: Vec<Place>,
    /// Ranks that wait for one another in a ring, each for the next and the last for the first; empty if there is none.
    pub cycle: Vec<u32>,
    /// The most calls, messages and members of collective operations that waited for their other side at a time.
    pub live_peak: usize,
}

/// A call in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whose.
    pub rank: u32,
    /// Which thread of the rank.
    pub thread: u32,
    /// How many calls came before it in that thread's log.
    pub call: u64,
    /// What was called.
    pub function: String,
    /// Section that was open.
    pub section: u16,
    /// The call path, as the log numbers them.
    pub context: u32,
}

/// An operation that members of a communicator did not enter as the same, or that somebody else entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The communicator.
    pub comm: CommId,
    /// Which operation on it.
    pub sequence: u64,
    /// Whether those that entered are members.
    pub is_member: bool,
    /// The first who entered each of the different operations, with operation and root.
    pub sides: Vec<(Place, Operation, Option<u32>)>,
}

/// A send or receive without its other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The call that began it.
    pub place: Place,
    /// Whether it is a send.
    pub is_send: bool,
    /// The rank on the other side, `None` for any.
    pub peer: Option<u32>,
    /// The tag, `None` for any.
    pub tag: Option<i32>,
    /// The communicator.
    pub comm: CommId,
}

impl Outcome {
    /// Whether all that the logs tell found its other side, and no log ends in a call. Released sends and cancelled operations do not count against it.
    pub fn is_whole(&self) -> bool {
        self.unmatched_sends == 0
            && self.unmatched_receives == 0
            && self.unresolved == 0
            && self.strays == 0
            && self.incomplete_collectives == 0
            && self.breaks == 0
            && self.mismatched_collectives == 0
            && self.blocked.is_empty()
            && self.cut.is_empty()
    }

    pub(super) fn mismatch(&mut self, mismatch: Mismatch) {
        self.mismatched_collectives += 1;
        let key = |m: &Mismatch| (m.comm, m.sequence, m.sides.first().map(|(place, ..)| place.rank));
        let at = self.mismatches.partition_point(|known| key(known) < key(&mismatch));
        self.mismatches.insert(at, mismatch);
        self.mismatches.truncate(TOLD);
    }

    pub(super) fn unmatched(&mut self, is_send: bool, unmatched: impl FnOnce() -> Unmatched) {
        *(if is_send { &mut self.unmatched_sends } else { &mut self.unmatched_receives }) += 1;
        if self.unmatched.len() < TOLD {
            self.unmatched.push(unmatched());
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { calls, messages, bytes, collectives, .. } = self;
        writeln!(
            f,
            "{calls} calls, {messages} messages of {bytes} bytes, {collectives} collective operations"
        )?;
        for (count, what) in [
            (self.void, "operations were cancelled"),
            (
                self.released,
                "standard sends did not wait for their receives, or all would have waited for ever",
            ),
            (self.breaks, "operations were passed because the log of a rank they waited for ends before"),
            (self.strays, "completions of operations that no call of the log began"),
            (self.unresolved, "receives from any source of which the log does not tell what they received"),
            (self.unmatched_sends, "sends without a receive"),
            (self.unmatched_receives, "receives without a send"),
            (self.incomplete_collectives, "collective operations that not all members entered"),
            (self.mismatched_collectives, "collective operations that not all entered as the same"),
        ] {
            if count > 0 {
                writeln!(f, "{count} {what}")?;
            }
        }
        if !self.cycle.is_empty() {
            writeln!(f, "ranks {} wait for one another in a ring", join(&self.cycle))?;
        }
        for mismatch in &self.mismatches {
            writeln!(f, "{mismatch}")?;
        }
        for unmatched in &self.unmatched {
            writeln!(f, "{unmatched}")?;
        }
        for blocked in &self.blocked {
            writeln!(f, "{blocked}")?;
        }
        let is_told = |place: &&Place| self.blocked.iter().any(|blocked| blocked.place == **place);
        for place in self.cut.iter().filter(|place| !is_told(place)) {
            writeln!(f, "{place}: the log ends in this call")?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { rank, thread, call, function, section, context } = self;
        write!(f, "rank {rank}")?;
        if *thread > 0 {
            write!(f, " thread {thread}")?;
        }
        write!(f, ", call {call} ({function}, call path {context}")?;
        if *section > 0 {
            write!(f, ", section {section}")?;
        }
        write!(f, ")")
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} on communicator {}", self.sequence, self.comm.0)?;
        for (number, (place, operation, root)) in self.sides.iter().enumerate() {
            write!(f, "{} {place}: {operation:?}", if number == 0 { ":" } else { ", but" })?;
            if let Some(root) = root {
                write!(f, " with root {root}")?;
            }
        }
        if !self.is_member {
            write!(f, ", which is no member")?;
        }
        Ok(())
    }
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_send { "no receive of a message to" } else { "no message from" };
        let peer = self.peer.map_or("any rank".to_string(), |peer| format!("rank {peer}"));
        let tag = self.tag.map_or("any tag".to_string(), |tag| format!("tag {tag}"));
        write!(f, "{}: {what} {peer} with {tag} on communicator {}", self.place, self.comm.0)
    }
}
