//! A run's log whose contexts are those of the merged tree.

use std::sync::Arc;
use std::thread;

use falloff_messages::{Broken, Call, Communicator, Location, Log, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ahead::Ahead;
use super::run_log::RunLog;

/// Of a log of fewer bytes the calls are read when they are needed.
const SHORT: usize = 1 << 20;

/// By node of the measurement file and section (0 where sections are no part of paths), the context of the merged tree.
pub(super) type Contexts = FxHashMap<(u32, u16), u32>;

/// Where one location's calls were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Where {
    /// Contexts of the merged tree.
    pub contexts: Contexts,
    /// By number of a section in the measurement file, its number in the run.
    pub sections: FxHashMap<u16, u16>,
}

/// How often a call path called, and what it moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub calls: u64,
    pub sent: u64,
    pub received: u64,
}

/// A run's log whose calls have the contexts of the merged tree. It is read on a thread of its own, if it is not short.
pub struct PlacedLog {
    reading: Reading,
    /// What reads it, once it is read from.
    ahead: Option<Ahead>,
    /// By location and context, if what is read is counted.
    traffic: Option<FxHashMap<(u32, u32), Traffic>>,
}

/// Reads a log and gives its calls their contexts.
#[derive(Clone)]
struct Reading {
    log: RunLog,
    /// By location.
    places: Arc<Vec<Where>>,
    /// Whether sections are part of paths.
    by_section: bool,
    /// By location, the place of the last call.
    last: Vec<Place>,
    /// Calls are read ahead.
    goes_ahead: bool,
}

/// A node of a measurement file and a section, and context and section of the run.
type Place = Option<((u32, u16), (u32, u16))>;

impl PlacedLog {
    /// A log that has not been read from.
    pub(super) fn new(log: RunLog, places: Arc<Vec<Where>>, by_section: bool) -> PlacedLog {
        let last = vec![None; places.len()];
        let goes_ahead = log.bytes() >= SHORT && thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        PlacedLog {
            reading: Reading { log, places, by_section, last, goes_ahead },
            ahead: None,
            traffic: None,
        }
    }

    /// The same, counting what is read.
    pub(super) fn counting(self) -> PlacedLog {
        PlacedLog { traffic: Some(FxHashMap::default()), ..self }
    }

    /// What was read, by location and context, in order.
    pub(super) fn traffic(self) -> Vec<((u32, u32), Traffic)> {
        let mut traffic: Vec<_> = self.traffic.into_iter().flatten().collect();
        traffic.sort_unstable_by_key(|(key, _)| *key);
        traffic
    }

    /// Contexts that called.
    pub(super) fn calls(&self) -> FxHashSet<u32> {
        self.reading.places.iter().flat_map(|of| of.contexts.values().copied()).collect()
    }

    fn count(&mut self, location: usize, call: &Call) {
        let Some(traffic) = &mut self.traffic else { return };
        let traffic = traffic.entry((location as u32, call.context)).or_default();
        traffic.calls += 1;
        for op in &call.ops {
            match op {
                Op::Send(send) => traffic.sent = traffic.sent.saturating_add(send.bytes),
                Op::Complete(completion) => {
                    traffic.received = traffic.received.saturating_add(completion.bytes);
                }
                Op::Collective(collective) => {
                    traffic.sent = traffic.sent.saturating_add(collective.sent);
                    traffic.received = traffic.received.saturating_add(collective.received);
                }
                Op::Transfer(transfer) => traffic.sent = traffic.sent.saturating_add(transfer.bytes),
                Op::Receive(_) | Op::Synchronise { .. } => {}
            }
        }
    }
}

impl Log for PlacedLog {
    fn locations(&self) -> &[Location] {
        self.reading.locations()
    }

    fn communicators(&self) -> &[Communicator] {
        self.reading.communicators()
    }

    fn functions(&self) -> Vec<&str> {
        self.reading.functions()
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        if self.reading.goes_ahead && self.ahead.is_none() {
            self.ahead = Ahead::begin(self.reading.clone()).ok();
            // Without another thread it is read here.
            self.reading.goes_ahead = self.ahead.is_some();
        }
        let is_there = match &mut self.ahead {
            Some(ahead) => ahead.next(location, call)?,
            None => self.reading.next(location, call)?,
        };
        if is_there {
            self.count(location, call);
        }
        Ok(is_there)
    }

    fn last(&self, location: usize) -> Option<&Call> {
        match &self.ahead {
            Some(ahead) => ahead.last(location),
            None => self.reading.last(location),
        }
    }

    fn is_whole(&self, location: usize) -> bool {
        self.reading.is_whole(location)
    }

    fn clock(&self, location: usize) -> u32 {
        self.reading.clock(location)
    }
}

impl Log for Reading {
    fn locations(&self) -> &[Location] {
        self.log.locations()
    }

    fn communicators(&self) -> &[Communicator] {
        self.log.communicators()
    }

    fn functions(&self) -> Vec<&str> {
        self.log.functions()
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        if !self.log.next(location, call)? {
            return Ok(false);
        }
        let key = (call.context, call.section);
        let place = match self.last[location] {
            Some((known, place)) if known == key => place,
            _ => {
                let of = &self.places[location];
                let section = if self.by_section { call.section } else { 0 };
                let context = of.contexts.get(&(call.context, section)).copied().unwrap_or(0);
                let place = (context, of.sections.get(&call.section).copied().unwrap_or(0));
                self.last[location] = Some((key, place));
                place
            }
        };
        (call.context, call.section) = place;
        Ok(true)
    }

    fn last(&self, location: usize) -> Option<&Call> {
        self.log.last(location)
    }

    fn is_whole(&self, location: usize) -> bool {
        self.log.is_whole(location)
    }

    fn clock(&self, location: usize) -> u32 {
        self.log.clock(location)
    }
}
