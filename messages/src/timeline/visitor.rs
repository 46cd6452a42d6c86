//! A visitor that keeps what happens in a window, with what each call waited for.

use rustc_hash::FxHashMap;

use super::picture::{Bar, End, Lane, Meeting, Member, Message, Reach, Timeline};
use crate::graph::Window;
use crate::members::Members;
use crate::waits::{self, Moment, SamePaths, Waits};
use crate::{
    Call, Collective, CommId, Completion, Location, Log, MatchError, Matched, Op, Options, Receive, Send,
    Visitor, lead,
};

/// There is no timeline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log cannot be matched.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The window has more calls than are wanted.
    #[error("the window has {calls} calls, and {most} at most can be shown")]
    TooMany {
        /// Calls in the window.
        calls: u64,
        /// Calls that are wanted at most.
        most: u64,
    },
}

/// What happened in a window of a log, if that is not more than `most` calls.
///
/// # Errors
/// The log cannot be matched, or there are more calls.
pub fn timeline<L: Log + ?Sized>(
    log: &mut L,
    window: &Window,
    options: waits::Options,
    most: u64,
) -> Result<Timeline, Error> {
    let locations = log.locations().to_vec();
    let functions: Vec<String> = log.functions().iter().map(|name| (*name).to_owned()).collect();
    let lane = |location: usize| Lane { location, before: None, after: None, calls: Vec::new() };
    let mut keeper = Keeper {
        waits: Waits::new(&locations, &log.functions(), SamePaths, options),
        lanes: (0..locations.len()).map(lane).collect(),
        locations,
        members: Members::new(log),
        window,
        most,
        calls: 0,
        messages: Vec::new(),
        meetings: Vec::new(),
        places: FxHashMap::default(),
        reaches: Vec::new(),
    };
    let outcome = lead(log, &mut keeper, &Options::default())?;
    if keeper.calls > most {
        return Err(Error::TooMany { calls: keeper.calls, most });
    }
    keeper.mark_window_waits();
    Ok(keeper.finish(functions, outcome))
}

struct Keeper<'a> {
    waits: Waits<SamePaths>,
    locations: Vec<Location>,
    /// By location, those that are not looked at as well.
    lanes: Vec<Lane>,
    members: Members,
    window: &'a Window,
    most: u64,
    /// In the window, also beyond what is kept.
    calls: u64,
    messages: Vec<Message>,
    meetings: Vec<Meeting>,
    /// Where each meeting is.
    places: FxHashMap<(CommId, u64), usize>,
    reaches: Vec<Reach>,
}

impl Keeper<'_> {
    /// The place of the call that a location is in.
    fn end(&self, location: usize, call: &Call, time: u64) -> End {
        let is_kept = self.calls <= self.most && self.window.holds(self.locations[location], call);
        let number = self.lanes[location].calls.len() as u32;
        End { location, call: is_kept.then_some(number), time }
    }

    /// Marks calls that waited for others' memory.
    fn mark_window_waits(&mut self) {
        for ((location, _, enter), wait) in self.waits.window_waits() {
            let calls = &mut self.lanes[location as usize].calls;
            let first = calls.partition_point(|call| call.enter < enter);
            if let Some(call) = calls.get_mut(first).filter(|call| call.enter == enter && wait.1 > 0) {
                call.time.wait.get_or_insert(wait);
            }
        }
    }

    /// What was kept, in an order that does not depend on that of the walk. Only lanes that are looked at are left; places keep
    /// their locations.
    fn finish(mut self, functions: Vec<String>, outcome: crate::Outcome) -> Timeline {
        let (ranks, locations) = (&self.window.ranks, &self.locations);
        let is_chosen =
            |location: usize| ranks.as_ref().is_none_or(|ranks| ranks.contains(&locations[location].rank));
        self.lanes.retain(|lane| is_chosen(lane.location));
        let place = |end: &End| (end.location, end.time, end.call);
        self.messages.sort_by_key(|m| (place(&m.sent), place(&m.received), place(&m.posted), m.tag, m.bytes));
        let of_member = |member: &Member| (member.location, member.call);
        self.meetings.iter_mut().for_each(|meeting| meeting.members.sort_by_key(of_member));
        self.meetings.sort_by_cached_key(|m| m.members.iter().map(of_member).collect::<Vec<_>>());
        self.reaches.sort_by_key(|reach| (reach.location, reach.call));
        Timeline {
            locations: self.locations,
            lanes: self.lanes,
            functions,
            messages: self.messages,
            meetings: self.meetings,
            reaches: self.reaches,
            outcome,
        }
    }
}

impl Visitor for Keeper<'_> {
    type Sent = (End, Moment);
    type Posted = (End, Moment);
    type Joined = Moment;

    fn enter(&mut self, location: usize, call: &Call) {
        self.waits.enter(location, call);
        let lane = &mut self.lanes[location];
        if self.window.holds(self.locations[location], call) {
            self.calls += 1;
        } else if call.leave < self.window.from {
            lane.before = Some(call.leave);
        } else {
            lane.after.get_or_insert(call.enter);
        }
    }

    fn sent(&mut self, location: usize, call: &Call, send: &Send) -> (End, Moment) {
        (self.end(location, call, call.enter), self.waits.sent(location, call, send))
    }

    fn posted(&mut self, location: usize, call: &Call, receive: &Receive) -> (End, Moment) {
        (self.end(location, call, call.enter), self.waits.posted(location, call, receive))
    }

    fn joined(&mut self, location: usize, call: &Call, collective: &Collective) -> Moment {
        if let Some(number) = self.end(location, call, call.enter).call {
            let size = self.members.count(collective.comm);
            let place = *self.places.entry((collective.comm, collective.sequence)).or_insert_with(|| {
                self.meetings.push(Meeting {
                    operation: collective.operation,
                    root: collective.root,
                    size,
                    members: Vec::new(),
                });
                self.meetings.len() - 1
            });
            self.meetings[place].members.push(Member {
                location,
                call: number,
                sent: collective.sent,
                received: collective.received,
            });
        }
        self.waits.joined(location, call, collective)
    }

    fn received(&mut self, location: usize, call: &Call, message: &Matched<(End, Moment), (End, Moment)>) {
        let received = self.end(location, call, call.leave);
        let ((sent, sent_at), (posted, posted_at)) = (message.sent, message.posted);
        if [sent, posted, received].iter().any(|end| end.call.is_some()) {
            let Send { tag, bytes, .. } = message.send;
            self.messages.push(Message { sent, posted, received, tag, bytes });
        }
        let message = Matched {
            send: message.send,
            sender: message.sender,
            sent: sent_at,
            receive: message.receive,
            posted: posted_at,
        };
        self.waits.received(location, call, &message);
    }

    fn send_completed(
        &mut self,
        location: usize,
        call: &Call,
        send: &Send,
        sent: (End, Moment),
        posted: Option<(End, Moment)>,
    ) {
        self.waits.send_completed(location, call, send, sent.1, posted.map(|(_, moment)| moment));
    }

    fn collective_completed(
        &mut self,
        location: usize,
        call: &Call,
        collective: &Collective,
        all: &[(u32, Moment)],
    ) {
        self.waits.collective_completed(location, call, collective, all);
    }

    fn other(&mut self, location: usize, call: &Call, op: &Op, completion: Option<&Completion>) {
        if let (Op::Transfer(transfer), Some(number)) = (op, self.end(location, call, call.enter).call) {
            self.reaches.push(Reach { location, call: number, transfer: *transfer });
        }
        self.waits.other(location, call, op, completion);
    }

    fn leave(&mut self, location: usize, call: &Call) {
        self.waits.leave(location, call);
        if self.end(location, call, call.leave).call.is_some() {
            let time = self.waits.call_time(location);
            let Call { function, context, enter, leave, .. } = *call;
            self.lanes[location].calls.push(Bar { function, context, enter, leave, time });
        }
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        self.waits.is_synchronous(send)
    }
}
