//! The calls of MPI in a window of time as blocks.

use falloff_messages::graph::Window;
use falloff_messages::timeline::{Bar, End, Lane, Timeline};
use falloff_messages::waits::Metric;
use falloff_postprocess::Tree;
use falloff_postprocess::views::Excerpt;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::block::Blocks;
use super::same_path::same_path;

/// Calls beyond which a page has no timeline: each takes about ten bytes, and the browser goes through them to draw.
pub const MOST_CALLS: u64 = 250_000;

/// A timeline, with where it is from.
pub struct TimelineOf {
    /// What happened.
    pub timeline: Timeline,
    /// In which window, by the ranks' clocks.
    pub window: Window,
    /// When the first call of the run began, by these.
    pub begin: u64,
    /// The tree whose contexts the calls have.
    pub tree: Tree,
}

/// What the head says of a timeline. Times are nanoseconds after the first call of the run.
#[derive(Serialize)]
pub(super) struct TimelineInfo<'a> {
    from_ns: u64,
    until_ns: u64,
    /// Rank and thread of all that made calls in the run.
    threads: Vec<(u32, u32)>,
    /// Which of these are looked at.
    lanes: Vec<usize>,
    functions: &'a [String],
    /// Words by the numbers that blocks have: what calls are for, what they wait for, and what is done together or with the memory of
    /// another.
    kinds: Vec<&'static str>,
    patterns: Vec<&'static str>,
    operations: Vec<String>,
    transfers: Vec<String>,
}

/// What calls are for.
const KINDS: [Metric; 5] =
    [Metric::PointToPoint, Metric::Collective, Metric::OneSided, Metric::Management, Metric::Mpi];

impl TimelineOf {
    /// Whether no call is in the window.
    pub fn is_empty(&self) -> bool {
        self.calls().next().is_none()
    }

    /// Adds its blocks to the page of an excerpt.
    pub(super) fn add<'a>(&'a self, blocks: &mut Blocks, excerpt: &Excerpt) -> TimelineInfo<'a> {
        let Timeline { locations, lanes, functions, .. } = &self.timeline;
        let numbers = Numbers::of(lanes);
        self.add_lanes(blocks);
        let patterns = self.add_calls(blocks, excerpt);
        self.add_messages(blocks, &numbers);
        let operations = self.add_meetings(blocks, &numbers);
        let transfers = self.add_reaches(blocks, &numbers);
        let until = lanes.iter().filter_map(end).max().unwrap_or(self.window.from);
        TimelineInfo {
            from_ns: self.after_begin(self.window.from),
            until_ns: self.after_begin(self.window.until.map_or(until, |asked| asked.min(until))),
            threads: locations.iter().map(|location| (location.rank, location.thread)).collect(),
            lanes: lanes.iter().map(|lane| lane.location).collect(),
            functions,
            kinds: KINDS.iter().map(|kind| kind.name()).collect(),
            patterns,
            operations,
            transfers,
        }
    }

    fn after_begin(&self, time: u64) -> u64 {
        time.saturating_sub(self.begin)
    }

    fn calls(&self) -> impl Iterator<Item = &Bar> + Clone {
        self.timeline.lanes.iter().flat_map(|lane| &lane.calls)
    }

    /// How many calls each lane has, and when its last call before the window ended and its first after it began: plus one, 0 if there
    /// was none.
    fn add_lanes(&self, blocks: &mut Blocks) {
        let lanes = &self.timeline.lanes;
        let moment = |time: Option<u64>| time.map_or(0, |time| self.after_begin(time) + 1);
        blocks.natural("timeline.calls", lanes.iter().map(|lane| lane.calls.len() as u64));
        blocks.natural("timeline.before", lanes.iter().map(|lane| moment(lane.before)));
        blocks.natural("timeline.after", lanes.iter().map(|lane| moment(lane.after)));
    }

    /// The calls, lane by lane: `gap` is from the end of the one before of the lane, from the first call of the run for the first.
    fn add_calls(&self, blocks: &mut Blocks, excerpt: &Excerpt) -> Vec<&'static str> {
        let gaps = self.timeline.lanes.iter().flat_map(|lane| {
            let ends = std::iter::once(self.begin).chain(lane.calls.iter().map(|call| call.leave));
            lane.calls.iter().zip(ends).map(|(call, end)| difference(call.enter, end))
        });
        let kind = |call: &Bar| {
            let of = |kind: &Metric| *kind == call.time.rest || Some(*kind) == call.time.rest.parent();
            KINDS.iter().position(of).unwrap_or(KINDS.len() - 1) as u64
        };
        let mut patterns = Words::default();
        let database = excerpt.database().tree();
        let mut rows: FxHashMap<u32, u64> = FxHashMap::default();
        let row = |context: u32| {
            let place = excerpt.place(same_path(&self.tree, context, database));
            place.map_or(0, u64::from)
        };
        blocks.natural("timeline.function", self.calls().map(|call| u64::from(call.function)));
        let contexts =
            self.calls().map(|call| *rows.entry(call.context).or_insert_with(|| row(call.context)));
        blocks.natural("timeline.context", contexts);
        blocks.whole("timeline.gap", gaps);
        blocks.natural("timeline.length", self.calls().map(|call| call.leave.saturating_sub(call.enter)));
        blocks.natural("timeline.kind", self.calls().map(kind));
        blocks.natural("timeline.wait", self.calls().map(Bar::wait_ns));
        let pattern = |call: &Bar| call.pattern().map_or(0, |metric| patterns.number(metric.name()));
        blocks.natural("timeline.pattern", self.calls().map(pattern));
        patterns.0
    }

    /// The messages. Where a call is not in the window its number is 0. `departure` is when it was sent, from that of the message
    /// before, and `way` how much later it was received.
    fn add_messages(&self, blocks: &mut Blocks, numbers: &Numbers) {
        let messages = &self.timeline.messages;
        let departures = std::iter::once(self.begin).chain(messages.iter().map(|message| message.sent.time));
        let departures = messages.iter().zip(departures).map(|(m, before)| difference(m.sent.time, before));
        blocks.natural("timeline.sent", messages.iter().map(|m| numbers.at(&m.sent)));
        blocks.natural("timeline.posted", messages.iter().map(|m| numbers.at(&m.posted)));
        blocks.natural("timeline.received", messages.iter().map(|m| numbers.at(&m.received)));
        blocks.natural("timeline.sender", messages.iter().map(|m| m.sent.location as u64));
        blocks.natural("timeline.receiver", messages.iter().map(|m| m.received.location as u64));
        blocks.whole("timeline.departure", departures);
        blocks.whole("timeline.way", messages.iter().map(|m| difference(m.received.time, m.sent.time)));
        blocks.whole("timeline.tag", messages.iter().map(|m| i64::from(m.tag)));
        blocks.natural("timeline.bytes", messages.iter().map(|m| m.bytes));
    }

    /// Collective operations, with the calls that enter each one after the other. Roots are plus one, 0 if there is none.
    fn add_meetings(&self, blocks: &mut Blocks, numbers: &Numbers) -> Vec<String> {
        let mut words = Words::default();
        let meetings = &self.timeline.meetings;
        let members = || meetings.iter().flat_map(|meeting| &meeting.members);
        let operations = meetings.iter().map(|m| words.number(format!("{:?}", m.operation)));
        blocks.natural("timeline.operation", operations);
        blocks
            .natural("timeline.root", meetings.iter().map(|m| m.root.map_or(0, |root| u64::from(root) + 1)));
        blocks.natural("timeline.size", meetings.iter().map(|m| m.size as u64));
        blocks.natural("timeline.members", meetings.iter().map(|m| m.members.len() as u64));
        blocks.natural("timeline.member", members().map(|m| numbers.of_call(m.location, m.call)));
        blocks.natural("timeline.given", members().map(|m| m.sent));
        blocks.natural("timeline.got", members().map(|m| m.received));
        words.0
    }

    /// One-sided transfers.
    fn add_reaches(&self, blocks: &mut Blocks, numbers: &Numbers) -> Vec<String> {
        let mut words = Words::default();
        let reaches = &self.timeline.reaches;
        let transfers = reaches.iter().map(|r| words.number(format!("{:?}", r.transfer.kind)));
        blocks.natural("timeline.transfer", transfers);
        blocks.natural("timeline.reaching", reaches.iter().map(|r| numbers.of_call(r.location, r.call)));
        blocks.natural("timeline.target", reaches.iter().map(|r| u64::from(r.transfer.target)));
        blocks.natural("timeline.reached", reaches.iter().map(|r| r.transfer.bytes));
        words.0
    }
}

/// When a lane's last call ended, or the first after the window began.
fn end(lane: &Lane) -> Option<u64> {
    lane.after.or_else(|| lane.calls.last().map(|call| call.leave))
}

/// How much later than another a time is.
fn difference(later: u64, earlier: u64) -> i64 {
    later.wrapping_sub(earlier) as i64
}

/// Numbers of calls, from 1, over all lanes.
struct Numbers {
    /// Number of the first call of each location, less one.
    first: FxHashMap<usize, u64>,
}

impl Numbers {
    fn of(lanes: &[Lane]) -> Numbers {
        let mut next = 0;
        let mut first = FxHashMap::default();
        for lane in lanes {
            first.insert(lane.location, next);
            next += lane.calls.len() as u64;
        }
        Numbers { first }
    }

    fn of_call(&self, location: usize, call: u32) -> u64 {
        self.first.get(&location).map_or(0, |first| first + u64::from(call) + 1)
    }

    fn at(&self, end: &End) -> u64 {
        end.call.map_or(0, |call| self.of_call(end.location, call))
    }
}

/// Words, each once.
#[derive(Default)]
struct Words<T>(Vec<T>);

impl<T: PartialEq> Words<T> {
    /// The number of a word, from 1.
    fn number(&mut self, word: T) -> u64 {
        let known = self.0.iter().position(|known| *known == word);
        known.map_or_else(
            || {
                self.0.push(word);
                self.0.len()
            },
            |place| place + 1,
        ) as u64
    }
}
