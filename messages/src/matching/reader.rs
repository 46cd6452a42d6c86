//! Calls of all locations, read as far ahead as it takes to know how a receive will end.

use super::{Error, by_post::ByPost};
use crate::{Call, Collective, CommId, Completion, Log, Op, Receive, Send};
use std::{collections::VecDeque, ops::Range};

pub(super) struct Reader<'l, L: Log + ?Sized> {
    log: &'l mut L,
    /// Locations of each rank.
    ranks: Vec<Range<usize>>,
    cursors: Vec<Cursor>,
    /// Completions that were noted and not yet reached, by rank and post.
    ends: Vec<ByPost<Completion>>,
    /// Calls to be used again.
    spare: Vec<Call>,
    /// Calls read and not yet finished.
    pub live: usize,
    /// How many those may be.
    live_max: usize,
}

/// Where the reading of a location is.
#[derive(Default)]
struct Cursor {
    rank: u32,
    /// Read and not yet finished; the first is the current one.
    calls: VecDeque<Call>,
    /// The current operation of the current call.
    op: usize,
    /// Of how many of the calls the completions were noted.
    noted: usize,
    /// Nothing is left to be read.
    ended: bool,
    /// Calls finished.
    finished: u64,
}

impl<'l, L: Log + ?Sized> Reader<'l, L> {
    pub fn new(log: &'l mut L, live_max: usize) -> Reader<'l, L> {
        let mut ranks: Vec<Range<usize>> = Vec::new();
        let mut cursors = Vec::new();
        for (number, location) in log.locations().iter().enumerate() {
            match ranks.get_mut(location.rank as usize) {
                Some(range) => range.end = number + 1,
                None => ranks.push(number..number + 1),
            }
            cursors.push(Cursor { rank: ranks.len() as u32 - 1, ..Cursor::default() });
        }
        let ends = ranks.iter().map(|_| ByPost::new()).collect();
        Reader { log, ranks, cursors, ends, spare: Vec::new(), live: 0, live_max }
    }

    pub fn log(&self) -> &L {
        self.log
    }

    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    pub fn locations(&self) -> usize {
        self.cursors.len()
    }

    /// Locations of a rank; none if there is no such rank.
    pub fn locations_of(&self, rank: u32) -> Range<usize> {
        self.ranks.get(rank as usize).cloned().unwrap_or(0..0)
    }

    pub fn rank(&self, location: usize) -> u32 {
        self.cursors[location].rank
    }

    /// How many calls of a location are finished, which is the number of the current one.
    pub fn finished(&self, location: usize) -> u64 {
        self.cursors[location].finished
    }

    /// Reads the current call unless it is there; false at the end of the log.
    pub fn load(&mut self, location: usize) -> Result<bool, Error> {
        Ok(!self.cursors[location].calls.is_empty() || self.read(location)?)
    }

    /// The current call, which has been loaded.
    pub fn current(&self, location: usize) -> &Call {
        &self.cursors[location].calls[0]
    }

    /// Index of the current operation in the current call.
    pub fn op(&self, location: usize) -> usize {
        self.cursors[location].op
    }

    /// The current operation is done.
    pub fn advance(&mut self, location: usize) {
        self.cursors[location].op += 1;
    }

    /// The current call is done.
    pub fn finish(&mut self, location: usize) {
        let cursor = &mut self.cursors[location];
        self.spare.extend(cursor.calls.pop_front());
        cursor.op = 0;
        cursor.noted = cursor.noted.saturating_sub(1);
        cursor.finished += 1;
        self.live -= 1;
    }

    /// Whether no location of a rank has anything left.
    pub fn has_ended(&self, rank: u32) -> bool {
        self.locations_of(rank).all(|location| {
            let cursor = &self.cursors[location];
            cursor.ended && cursor.calls.is_empty()
        })
    }

    /// How an operation of a rank ends, if its log tells: found by reading ahead.
    pub fn end_of(&mut self, rank: u32, post: u64) -> Result<Option<Completion>, Error> {
        loop {
            if let Some(end) = self.ends[rank as usize].get(post) {
                return Ok(Some(*end));
            }
            let Some(location) = self.earliest_unnoted(rank)? else { return Ok(None) };
            let cursor = &mut self.cursors[location];
            let begun = if cursor.noted == 0 { cursor.op } else { 0 };
            for op in &cursor.calls[cursor.noted].ops[begun..] {
                if let Op::Complete(completion) = op {
                    self.ends[rank as usize].insert(completion.post, *completion);
                }
            }
            cursor.noted += 1;
        }
    }

    /// The current operation, a completion, is being reached.
    pub fn forget(&mut self, location: usize, post: u64) {
        let cursor = &self.cursors[location];
        if cursor.noted > 0 {
            self.ends[cursor.rank as usize].remove(post);
        }
    }

    /// Whether another thread of the rank has still to begin a message of a communicator that is numbered below `post`, which
    /// belongs to a call that ended at `leave`. Collective operations have numbers of their own, and hold nobody up.
    pub fn is_preceded(
        &mut self,
        location: usize,
        post: u64,
        comm: CommId,
        leave: u64,
    ) -> Result<bool, Error> {
        self.is_ahead(location, leave, |op| {
            let next = message(op).filter(|(_, of)| *of == comm);
            next.map(|(next, _)| next < post)
        })
    }

    /// Whether another thread of the rank has still to begin the operation of this number, which a call completes that ended at
    /// `leave`.
    pub fn is_begun_elsewhere(&mut self, location: usize, post: u64, leave: u64) -> Result<bool, Error> {
        self.is_ahead(location, leave, |op| begins(op).filter(|next| *next >= post).map(|next| next == post))
    }

    /// Whether what lies ahead of another thread of the rank, in calls from before `leave`, is so: the first operation decides of
    /// which that can be told.
    fn is_ahead(
        &mut self,
        location: usize,
        leave: u64,
        decide: impl Fn(&Op) -> Option<bool>,
    ) -> Result<bool, Error> {
        for other in self.locations_of(self.rank(location)) {
            if other != location && self.is_ahead_of(other, leave, &decide)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_ahead_of(
        &mut self,
        location: usize,
        leave: u64,
        decide: &impl Fn(&Op) -> Option<bool>,
    ) -> Result<bool, Error> {
        let mut ahead = 0;
        loop {
            if ahead == self.cursors[location].calls.len() && !self.read(location)? {
                return Ok(false);
            }
            let cursor = &self.cursors[location];
            let call = &cursor.calls[ahead];
            if call.enter >= leave {
                return Ok(false);
            }
            let begun = if ahead == 0 { cursor.op } else { 0 };
            if let Some(is_so) = call.ops[begun..].iter().find_map(decide) {
                return Ok(is_so);
            }
            ahead += 1;
        }
    }

    /// Of the locations of a rank, the one whose next call with completions not noted began first.
    fn earliest_unnoted(&mut self, rank: u32) -> Result<Option<usize>, Error> {
        let mut earliest = None;
        for location in self.locations_of(rank) {
            let cursor = &self.cursors[location];
            if cursor.noted < cursor.calls.len() || self.read(location)? {
                let cursor = &self.cursors[location];
                let candidate = (cursor.calls[cursor.noted].enter, location);
                earliest = Some(earliest.map_or(candidate, |least| candidate.min(least)));
            }
        }
        Ok(earliest.map(|(_, location)| location))
    }

    fn read(&mut self, location: usize) -> Result<bool, Error> {
        let cursor = &mut self.cursors[location];
        if cursor.ended {
            return Ok(false);
        }
        let mut call = self.spare.pop().unwrap_or_default();
        if self.log.next(location, &mut call)? {
            if self.live >= self.live_max {
                let (rank, calls) = (cursor.rank, cursor.finished);
                return Err(Error::Slack { live_max: self.live_max, rank, calls });
            }
            cursor.calls.push_back(call);
            self.live += 1;
        } else {
            cursor.ended = true;
            self.spare.push(call);
        }
        Ok(!cursor.ended)
    }
}

/// Number and communicator of the message that this sends or receives, if it does.
pub(super) fn message(op: &Op) -> Option<(u64, CommId)> {
    match op {
        Op::Send(Send { post, comm, .. }) | Op::Receive(Receive { post, comm, .. }) => Some((*post, *comm)),
        _ => None,
    }
}

/// The number of the operation that this begins, if it begins one.
fn begins(op: &Op) -> Option<u64> {
    match op {
        Op::Send(Send { post, .. })
        | Op::Receive(Receive { post, .. })
        | Op::Collective(Collective { post, .. }) => Some(*post),
        Op::Transfer(_) | Op::Synchronise { .. } | Op::Complete(_) => None,
    }
}
