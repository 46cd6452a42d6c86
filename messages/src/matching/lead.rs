//! Leads a visitor through all calls of a log.

use super::{
    Error, Options, Outcome, Place,
    collectives::Collectives,
    messages::Messages,
    operations::{Id, NONE, Operation, Origin, Side},
    reader::{Reader, message},
};
use crate::{Call, Completion, Log, Matched, Mode, Op, Visitor, members::Members};
use std::collections::{BTreeSet, VecDeque};

/// A location lets others on after so many calls.
const TURN: usize = 64;

/// A rank that is ahead of others by so many messages and operations goes on only when no other can.
const AHEAD_MAX: usize = 64;

/// Leads a visitor through all calls of a log, each operation after what it waited for.
///
/// A message belongs to the first receive it fits, receives to the first message that fits, both in the order of their posts;
/// clocks play no part. A receive from any source is known by its completion, for which its rank's log is read ahead. Where a log
/// ends early, or logs do not fit together, as much is matched as can be, and the [`Outcome`] tells what is left.
///
/// ```
/// use falloff_messages::{Call, Collective, MemoryLog, Op, Operation, Options, lead};
/// # use falloff_messages::{Completion, Matched, Receive, Send, Visitor};
/// # struct Nobody;
/// # impl Visitor for Nobody {
/// #     type Sent = ();
/// #     type Posted = ();
/// #     type Joined = ();
/// #     fn enter(&mut self, _: usize, _: &Call) {}
/// #     fn sent(&mut self, _: usize, _: &Call, _: &Send) {}
/// #     fn posted(&mut self, _: usize, _: &Call, _: &Receive) {}
/// #     fn joined(&mut self, _: usize, _: &Call, _: &Collective) {}
/// #     fn received(&mut self, _: usize, _: &Call, _: &Matched<(), ()>) {}
/// #     fn send_completed(&mut self, _: usize, _: &Call, _: &Send, _: (), _: Option<()>) {}
/// #     fn collective_completed(&mut self, _: usize, _: &Call, _: &Collective, _: &[(u32, ())]) {}
/// #     fn other(&mut self, _: usize, _: &Call, _: &Op, _: Option<&Completion>) {}
/// #     fn leave(&mut self, _: usize, _: &Call) {}
/// #     fn is_synchronous(&self, _: &Send) -> bool { false }
/// # }
/// let mut log = MemoryLog::new(2);
/// let function = log.function("MPI_Barrier");
/// for rank in 0..2 {
///     let barrier = Collective {
///         post: 0, operation: Operation::Barrier, comm: Default::default(), sequence: 0, root: None, sent: 0, received: 0,
///     };
///     let completion = Op::Complete(Completion { post: 0, from: None, tag: None, bytes: 0, void: false });
///     log.push(rank, Call { function, ops: vec![Op::Collective(barrier), completion], ..Call::default() });
/// }
/// let outcome = lead(&mut log, &mut Nobody, &Options::default())?;
/// assert!(outcome.is_whole());
/// assert_eq!((outcome.calls, outcome.collectives), (2, 1));
/// # Ok::<(), falloff_messages::MatchError>(())
/// ```
///
/// # Errors
/// A log cannot be read, or more waits for its other side than [`Options::live_max`].
pub fn lead<L: Log + ?Sized, V: Visitor>(
    log: &mut L,
    visitor: &mut V,
    options: &Options,
) -> Result<Outcome, Error> {
    let members = Members::new(log);
    let live_max = options.live_max.unwrap_or(usize::MAX);
    let reader = Reader::new(log, live_max);
    let (ranks, locations) = (reader.ranks(), reader.locations());
    let mut leader = Leader {
        messages: Messages::new(ranks),
        collectives: Collectives::new(members, ranks),
        reader,
        visitor,
        states: vec![State::default(); locations],
        ready: (0..locations).collect(),
        ahead: VecDeque::new(),
        releasable: BTreeSet::new(),
        turned_down: vec![Vec::new(); ranks],
        outcome: Outcome::default(),
        live_max,
        random: options.shuffled,
    };
    leader.begin()?;
    loop {
        leader.run_all()?;
        if !leader.pass_broken() && !leader.release() {
            break;
        }
    }
    leader.tell_rest();
    Ok(leader.outcome)
}

pub(super) struct Leader<'a, L: Log + ?Sized, V: Visitor> {
    pub(super) reader: Reader<'a, L>,
    pub(super) visitor: &'a mut V,
    pub(super) messages: Messages<V>,
    pub(super) collectives: Collectives<V>,
    pub(super) states: Vec<State>,
    /// Locations that can go on.
    pub(super) ready: VecDeque<usize>,
    /// Locations that could, but are ahead of others.
    ahead: VecDeque<usize>,
    /// Locations that wait for the receive of a standard send.
    pub(super) releasable: BTreeSet<usize>,
    /// By rank: locations that wait for another thread of it.
    turned_down: Vec<Vec<usize>>,
    pub(super) outcome: Outcome,
    live_max: usize,
    /// State of the generator that draws who is next, if that is drawn.
    random: Option<u64>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The visitor was told of the current call.
    pub(super) has_entered: bool,
    /// Why it cannot go on.
    pub(super) wait: Option<Wait>,
    /// What it waits for will not come; it passes.
    pub(super) passes: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Wait {
    Message(Id),
    Receiver(Id),
    Members(u64),
    Thread,
}

impl<L: Log + ?Sized, V: Visitor> Leader<'_, L, V> {
    /// Threads of a rank begin in the order of their first calls, so that the visitor sees the rank's first call first.
    fn begin(&mut self) -> Result<(), Error> {
        for rank in 0..self.reader.ranks() as u32 {
            let locations = self.reader.locations_of(rank);
            if locations.len() == 1 {
                continue;
            }
            let mut first = Vec::new();
            for location in locations {
                if self.reader.load(location)? {
                    first.push((self.reader.current(location).enter, location));
                }
            }
            first.sort_unstable();
            for (_, location) in first {
                self.visitor.enter(location, self.reader.current(location));
                self.states[location].has_entered = true;
            }
        }
        Ok(())
    }

    /// Advances locations until none can go on.
    fn run_all(&mut self) -> Result<(), Error> {
        while let Some(location) = self.next() {
            if self.run(location)? {
                let rank = self.reader.rank(location);
                let ahead = self.messages.ahead(rank) + self.collectives.ahead(rank);
                if ahead < AHEAD_MAX { &mut self.ready } else { &mut self.ahead }.push_back(location);
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<usize> {
        if let Some(state) = &mut self.random {
            // A linear congruential generator is random enough to mix an order up (Knuth's MMIX).
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let place = (*state >> 33) as usize % self.ready.len().max(1);
            if !self.ready.is_empty() {
                return self.ready.swap_remove_back(place);
            }
        }
        self.ready.pop_front().or_else(|| self.ahead.pop_front())
    }

    /// Lets a location on by some calls; whether it can go on still.
    fn run(&mut self, location: usize) -> Result<bool, Error> {
        for _ in 0..TURN {
            if !self.reader.load(location)? {
                self.wake_threads(location);
                return Ok(false);
            }
            if !self.states[location].has_entered {
                self.visitor.enter(location, self.reader.current(location));
                self.states[location].has_entered = true;
            }
            while let Some(&op) = self.reader.current(location).ops.get(self.reader.op(location)) {
                if let Some(wait) = self.step(location, &op)? {
                    self.states[location].wait = Some(wait);
                    return Ok(false);
                }
                self.reader.advance(location);
                self.wake();
                self.wake_threads(location);
            }
            self.visitor.leave(location, self.reader.current(location));
            self.states[location].has_entered = false;
            self.reader.finish(location);
            self.outcome.calls += 1;
            self.wake_threads(location);
            self.check_slack(location)?;
        }
        Ok(true)
    }

    /// Does an operation of the current call, unless it has to wait.
    fn step(&mut self, location: usize, op: &Op) -> Result<Option<Wait>, Error> {
        let rank = self.reader.rank(location);
        if let Some((post, comm)) = message(op)
            && self.reader.locations_of(rank).len() > 1
        {
            let leave = self.reader.current(location).leave;
            if self.reader.is_preceded(location, post, comm, leave)? {
                self.turned_down[rank as usize].push(location);
                return Ok(Some(Wait::Thread));
            }
        }
        let call = self.reader.current(location);
        let origin = origin(location, self.reader.finished(location), call);
        match op {
            Op::Send(send) => {
                let is_synchronous = self.visitor.is_synchronous(send);
                let sent = self.visitor.sent(location, call, send);
                let side = Side::Send { send: *send, sent, is_synchronous, is_matched: false, posted: None };
                let operation = Operation { rank, origin, next: NONE, is_open: true, waiter: None, side };
                self.messages.send(operation, send, &mut self.reader, &mut self.outcome)?;
            }
            Op::Receive(receive) => {
                let posted = self.visitor.posted(location, call, receive);
                let side = Side::Receive { receive: *receive, posted, message: None };
                let operation = Operation { rank, origin, next: NONE, is_open: true, waiter: None, side };
                self.messages.receive(operation, receive, &mut self.reader, &mut self.outcome)?;
            }
            Op::Collective(collective) => {
                let joined = self.visitor.joined(location, call, collective);
                let (reader, outcome) = (&self.reader, &mut self.outcome);
                let place = |rank, origin| place(reader, rank, origin);
                self.collectives.join(rank, collective, joined, origin, place, outcome);
            }
            Op::Complete(completion) => {
                let wait = self.complete(location, rank, op, completion)?;
                if wait.is_none() {
                    self.reader.forget(location, completion.post);
                }
                return Ok(wait);
            }
            Op::Transfer(_) | Op::Synchronise { .. } => self.visitor.other(location, call, op, None),
        }
        Ok(None)
    }

    fn complete(
        &mut self,
        location: usize,
        rank: u32,
        op: &Op,
        completion: &Completion,
    ) -> Result<Option<Wait>, Error> {
        let post = completion.post;
        if let Some(id) = self.messages.open(rank, post) {
            return self.complete_message(location, rank, id, completion);
        }
        let Some(membership) = self.collectives.open(rank, post) else {
            let leave = self.reader.current(location).leave;
            if self.reader.is_begun_elsewhere(location, post, leave)? {
                self.turned_down[rank as usize].push(location);
                return Ok(Some(Wait::Thread));
            }
            self.outcome.strays += 1;
            self.visitor.other(location, self.reader.current(location), op, Some(completion));
            return Ok(None);
        };
        let collective = membership.collective;
        let call = self.reader.current(location);
        if completion.void || self.states[location].passes {
            self.passed(location, &Op::Collective(collective), completion);
        } else if let Some(needed) = self.collectives.complete(location, rank, post) {
            self.visitor.collective_completed(location, call, &collective, needed);
        } else {
            return Ok(Some(Wait::Members(post)));
        }
        self.collectives.close(rank, post);
        Ok(None)
    }

    fn complete_message(
        &mut self,
        location: usize,
        rank: u32,
        id: Id,
        completion: &Completion,
    ) -> Result<Option<Wait>, Error> {
        let post = completion.post;
        if self.messages.operations.get(id).is_some_and(|operation| operation.is_unknown()) {
            self.messages.complete_any(rank, completion, &mut self.reader, &mut self.outcome)?;
        }
        let passes = self.states[location].passes;
        let Some(operation) = self.messages.operations.get_mut(id) else { return Ok(None) };
        let call = self.reader.current(location);
        let is_lost = passes || completion.void || operation.is_unknown();
        let given_up = match &operation.side {
            Side::Receive { receive, posted, message: Some((send, sender, sent)) } => {
                let (sent, posted) = (sent.clone(), posted.clone());
                let matched = Matched { send: *send, sender: *sender, sent, receive: *receive, posted };
                self.visitor.received(location, call, &matched);
                None
            }
            Side::Send { send, sent, is_matched, is_synchronous, posted } => {
                if !is_matched && is_lost {
                    Some(Op::Send(*send))
                } else if *is_matched || !is_synchronous {
                    self.visitor.send_completed(location, call, send, sent.clone(), posted.clone());
                    None
                } else {
                    operation.waiter = Some(location as u32);
                    if send.mode != Mode::Synchronous {
                        self.releasable.insert(location);
                    }
                    return Ok(Some(Wait::Receiver(id)));
                }
            }
            Side::Receive { receive, .. } if is_lost => Some(Op::Receive(*receive)),
            Side::Receive { .. } => {
                operation.waiter = Some(location as u32);
                return Ok(Some(Wait::Message(id)));
            }
        };
        match given_up {
            Some(op) => {
                self.messages.drop(rank, post, id);
                self.passed(location, &op, completion);
            }
            None => drop(self.messages.close(rank, post, id)),
        }
        Ok(None)
    }

    /// An operation ends without its other side.
    fn passed(&mut self, location: usize, op: &Op, completion: &Completion) {
        let passes = std::mem::take(&mut self.states[location].passes);
        self.outcome.breaks += u64::from(passes);
        self.outcome.void += u64::from(completion.void);
        self.visitor.other(location, self.reader.current(location), op, Some(completion));
    }

    /// Lets those on that waited for what has happened.
    fn wake(&mut self) {
        for woken in [&mut self.messages.woken, &mut self.collectives.woken] {
            for location in woken.drain(..) {
                if self.states[location].wait.take().is_some() {
                    self.ready.push_back(location);
                    self.releasable.remove(&location);
                }
            }
        }
    }

    /// Lets other threads of a location's rank on.
    fn wake_threads(&mut self, location: usize) {
        for other in self.turned_down[self.reader.rank(location) as usize].drain(..) {
            self.states[other].wait = None;
            self.ready.push_back(other);
        }
    }

    fn check_slack(&mut self, location: usize) -> Result<(), Error> {
        let live = self.reader.live + self.messages.operations.live + self.collectives.live;
        self.outcome.live_peak = self.outcome.live_peak.max(live);
        if live > self.live_max {
            let (rank, calls) = (self.reader.rank(location), self.reader.finished(location));
            return Err(Error::Slack { live_max: self.live_max, rank, calls });
        }
        Ok(())
    }
}

pub(super) fn origin(location: usize, call_number: u64, call: &Call) -> Origin {
    let Call { function, section, context, .. } = *call;
    Origin { location: location as u32, call: call_number, function, section, context }
}

pub(super) fn place<L: Log + ?Sized>(reader: &Reader<L>, rank: u32, origin: Origin) -> Place {
    let log = reader.log();
    Place {
        rank,
        thread: log.locations().get(origin.location as usize).map_or(0, |location| location.thread),
        call: origin.call,
        function: log.functions().get(origin.function as usize).map_or("?", |name| name).to_string(),
        section: origin.section,
        context: origin.context,
    }
}
