//! Small logs as a whole in memory.

use crate::{Broken, Call, Communicator, Location, Log, Op};

/// A log whose calls are all in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    locations: Vec<Location>,
    communicators: Vec<Communicator>,
    functions: Vec<&'static str>,
    calls: Vec<Vec<Call>>,
    whole: Vec<bool>,
    /// Calls in which logs end, by location.
    last: Vec<Option<Call>>,
    /// Calls read so far, by location.
    read: Vec<usize>,
    /// By location, where they do not all have the first clock.
    clocks: Vec<u32>,
}

impl MemoryLog {
    /// One thread each of `ranks` ranks that have made no call yet, with a communicator of all of them.
    pub fn new(ranks: u32) -> MemoryLog {
        let mut log = MemoryLog::default();
        for rank in 0..ranks {
            log.add_location(rank);
        }
        log.add_communicator((0..ranks).collect());
        log
    }

    /// Another thread of a rank; the number of its location. Ranks must ascend from 0 without a gap.
    pub fn add_location(&mut self, rank: u32) -> usize {
        let thread = self.locations.iter().filter(|l| l.rank == rank).count() as u32;
        self.locations.push(Location { rank, thread });
        self.calls.push(Vec::new());
        self.whole.push(true);
        self.last.push(None);
        self.read.push(0);
        self.locations.len() - 1
    }

    /// Another communicator; its number.
    pub fn add_communicator(&mut self, members: Vec<u32>) -> u32 {
        self.add_intercommunicator(members, Vec::new())
    }

    /// A communicator between two groups; its number.
    pub fn add_intercommunicator(&mut self, members: Vec<u32>, others: Vec<u32>) -> u32 {
        self.communicators.push(Communicator { members, others });
        self.communicators.len() as u32 - 1
    }

    /// The number of a function, a new one if need be.
    pub fn function(&mut self, name: &'static str) -> u16 {
        let known = self.functions.iter().position(|&f| f == name);
        known.unwrap_or_else(|| {
            self.functions.push(name);
            self.functions.len() - 1
        }) as u16
    }

    /// Adds a call at the end of a location's log.
    pub fn push(&mut self, location: usize, call: Call) {
        self.calls[location].push(call);
    }

    /// What a location called.
    pub fn calls(&self, location: usize) -> &[Call] {
        &self.calls[location]
    }

    /// Ends a location's log in the call after `calls` calls, as if its rank had been killed there before anything was complete.
    pub fn cut(&mut self, location: usize, calls: usize) {
        let calls = calls.min(self.calls[location].len());
        if let Some(call) = self.calls[location].drain(calls..).next() {
            let begun = call.ops.into_iter().filter(|op| !matches!(op, Op::Complete(_)));
            self.last[location] = Some(Call { leave: call.enter, ops: begun.collect(), ..call });
        }
        self.whole[location] = false;
    }

    /// Gives locations clocks of their own numbers; all have the same if this is not called.
    pub fn set_clocks(&mut self, clocks: Vec<u32>) {
        self.clocks = clocks;
    }

    /// To be read from its beginning again.
    pub fn rewind(&mut self) {
        self.read.fill(0);
    }
}

impl Log for MemoryLog {
    fn locations(&self) -> &[Location] {
        &self.locations
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn functions(&self) -> Vec<&str> {
        self.functions.clone()
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        let Some(next) = self.calls[location].get(self.read[location]) else { return Ok(false) };
        self.read[location] += 1;
        call.clone_from(next);
        Ok(true)
    }

    fn last(&self, location: usize) -> Option<&Call> {
        self.last[location].as_ref()
    }

    fn is_whole(&self, location: usize) -> bool {
        self.whole[location]
    }

    fn clock(&self, location: usize) -> u32 {
        self.clocks.get(location).copied().unwrap_or(0)
    }
}
