//! A visitor that tells the nodes and edges of the graph one after the other, as they come.

use std::io;

use rustc_hash::FxHashSet;

use super::window::Window;
use crate::{
    Call, Collective, CommId, Completion, Location, Log, MatchError, Matched, Mode, Op, Options, Outcome,
    Receive, Send, Visitor, lead,
};

/// Something cannot be written, or not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place that is written to refuses.
    #[error("failed to write the graph: {0}")]
    Write(#[from] io::Error),
    /// The log cannot be matched.
    #[error(transparent)]
    Match(#[from] MatchError),
}

/// What was written, and what became of matching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Calls in the window.
    pub calls: u64,
    /// Messages of which both sides are in the window.
    pub messages: u64,
    /// Of the whole log.
    pub outcome: Outcome,
}

/// A call, as the nodes of its beginning and end are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Whose.
    pub location: usize,
    /// How many calls its location made before.
    pub index: u64,
    /// Beginning and end.
    pub enter: u64,
    pub leave: u64,
}

/// A message with the calls that it began and ended in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub from: Step,
    pub to: Step,
    pub bytes: u64,
    pub tag: i32,
}

/// What writes nodes and edges down. The calls at both ends of an edge are told before it.
pub(super) trait Sink {
    /// A call, and the one before it of its location if that is in the window too.
    fn call(
        &mut self,
        step: Step,
        location: Location,
        function: &str,
        before: Option<Step>,
    ) -> io::Result<()>;
    /// A message.
    fn message(&mut self, message: &Message) -> io::Result<()>;
    /// A send that ends in a call had to wait for the call that began to receive.
    fn waited(&mut self, receive: Step, send: Step) -> io::Result<()>;
    /// A collective operation, before its first edge.
    fn hub(&mut self, collective: &Collective) -> io::Result<()>;
    /// A call enters a collective operation.
    fn joins(&mut self, step: Step, collective: &Collective) -> io::Result<()>;
    /// A collective operation completes in a call.
    fn completes(&mut self, collective: &Collective, step: Step) -> io::Result<()>;
}

/// Leads a sink through the window of a log.
pub(super) fn walk<L: Log + ?Sized>(log: &mut L, window: &Window, sink: impl Sink) -> Result<Written, Error> {
    let locations = log.locations().to_vec();
    let mut walk = Walk {
        names: log.functions().iter().map(|name| (*name).to_owned()).collect(),
        calls: vec![0; locations.len()],
        last: vec![None; locations.len()],
        hubs: FxHashSet::default(),
        window,
        locations,
        sink,
        written: Written::default(),
        failed: Ok(()),
    };
    let outcome = lead(log, &mut walk, &Options::default())?;
    walk.failed?;
    Ok(Written { outcome, ..walk.written })
}

struct Walk<'a, S> {
    names: Vec<String>,
    /// Calls so far, by location.
    calls: Vec<u64>,
    /// The last call if it was in the window, by location.
    last: Vec<Option<Step>>,
    /// Collective operations that have been told.
    hubs: FxHashSet<(CommId, u64)>,
    window: &'a Window,
    locations: Vec<Location>,
    sink: S,
    written: Written,
    failed: io::Result<()>,
}

impl<S: Sink> Walk<'_, S> {
    /// The call, if it is in the window.
    fn step(&self, location: usize, call: &Call) -> Option<Step> {
        let step = Step { location, index: self.calls[location], enter: call.enter, leave: call.leave };
        self.window.holds(self.locations[location], call).then_some(step)
    }

    /// Writes unless something failed before.
    fn write(&mut self, write: impl FnOnce(&mut S) -> io::Result<()>) {
        if self.failed.is_ok() {
            self.failed = write(&mut self.sink);
        }
    }

    /// Writes an edge to or from a collective operation, which is told before its first.
    fn write_at_hub(&mut self, collective: &Collective, write: impl FnOnce(&mut S) -> io::Result<()>) {
        if self.hubs.insert((collective.comm, collective.sequence)) {
            self.write(|sink| sink.hub(collective));
        }
        self.write(write);
    }
}

impl<S: Sink> Visitor for Walk<'_, S> {
    type Sent = Option<Step>;
    type Posted = Option<Step>;
    type Joined = ();

    fn enter(&mut self, location: usize, call: &Call) {
        let Some(step) = self.step(location, call) else { return };
        self.written.calls += 1;
        let (at, before) = (self.locations[location], self.last[location]);
        if self.failed.is_ok() {
            let name = self.names.get(usize::from(call.function)).map_or("?", String::as_str);
            self.failed = self.sink.call(step, at, name, before);
        }
    }

    fn sent(&mut self, location: usize, call: &Call, _: &Send) -> Option<Step> {
        self.step(location, call)
    }

    fn posted(&mut self, location: usize, call: &Call, _: &Receive) -> Option<Step> {
        self.step(location, call)
    }

    fn joined(&mut self, location: usize, call: &Call, collective: &Collective) {
        if let Some(step) = self.step(location, call) {
            self.write_at_hub(collective, |sink| sink.joins(step, collective));
        }
    }

    fn received(&mut self, location: usize, call: &Call, message: &Matched<Option<Step>, Option<Step>>) {
        if let Some((from, to)) = message.sent.zip(self.step(location, call)) {
            self.written.messages += 1;
            let message = Message { from, to, bytes: message.send.bytes, tag: message.send.tag };
            self.write(|sink| sink.message(&message));
        }
    }

    fn send_completed(
        &mut self,
        location: usize,
        call: &Call,
        _: &Send,
        _: Option<Step>,
        posted: Option<Option<Step>>,
    ) {
        if let Some((receive, send)) = posted.flatten().zip(self.step(location, call)) {
            self.write(|sink| sink.waited(receive, send));
        }
    }

    fn collective_completed(
        &mut self,
        location: usize,
        call: &Call,
        collective: &Collective,
        _: &[(u32, ())],
    ) {
        if let Some(step) = self.step(location, call) {
            self.write_at_hub(collective, |sink| sink.completes(collective, step));
        }
    }

    fn other(&mut self, _: usize, _: &Call, _: &Op, _: Option<&Completion>) {}

    fn leave(&mut self, location: usize, call: &Call) {
        self.last[location] = self.step(location, call);
        self.calls[location] += 1;
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        send.mode == Mode::Synchronous
    }
}
