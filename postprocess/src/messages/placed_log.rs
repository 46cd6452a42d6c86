//! A run's log whose contexts are those of the merged tree.

use std::sync::Arc;

use falloff_messages::{Broken, Call, Communicator, Location, Log, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::run_log::RunLog;

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

/// A run's log whose calls have the contexts of the merged tree, and which counts what is read. A clone is at its own place.
#[derive(Clone)]
pub struct PlacedLog {
    log: RunLog,
    /// By location.
    places: Arc<Vec<Where>>,
    /// Whether sections are part of paths.
    by_section: bool,
    /// By location and context.
    traffic: FxHashMap<(u32, u32), Traffic>,
}

impl PlacedLog {
    /// A log that has not been read from.
    pub(super) fn new(log: RunLog, places: Arc<Vec<Where>>, by_section: bool) -> PlacedLog {
        PlacedLog { log, places, by_section, traffic: FxHashMap::default() }
    }

    /// What was read, by location and context, in order.
    pub(super) fn traffic(self) -> Vec<((u32, u32), Traffic)> {
        let mut traffic: Vec<_> = self.traffic.into_iter().collect();
        traffic.sort_unstable_by_key(|(key, _)| *key);
        traffic
    }

    /// Contexts that called.
    pub(super) fn calls(&self) -> FxHashSet<u32> {
        self.places.iter().flat_map(|of| of.contexts.values().copied()).collect()
    }

    fn count(&mut self, location: usize, call: &Call) {
        let traffic = self.traffic.entry((location as u32, call.context)).or_default();
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
        let section = if self.by_section { call.section } else { 0 };
        let of = &self.places[location];
        call.context = of.contexts.get(&(call.context, section)).copied().unwrap_or(0);
        call.section = of.sections.get(&call.section).copied().unwrap_or(0);
        self.count(location, call);
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
