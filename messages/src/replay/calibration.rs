//! The network that a run had, from the times of its calls.

use super::{Network, by_size::BySize, eager::Eagerness, tree};
use crate::{
    Call, Collective, CommId, Completion, Log, MatchError, Matched, Mode, Op, Operation, Options, Receive,
    Send, Visitor, lead,
};
use rustc_hash::FxHashMap;

/// A message is there when its send ended so many nanoseconds ago.
const SETTLED: u64 = 10_000;
/// A send that waits for its receive begins so many nanoseconds before it at least.
const LATE: u64 = 20_000;
/// Calls with less time between them, nanoseconds, follow each other at once.
const AT_ONCE: u64 = 2_000;
/// By how much more a message must be apart from the one before at its receiver than at its sender, for the network to be why.
const STRETCHED: f64 = 1.2;

/// What the calls of a run tell of its network; `None` where they tell nothing. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// o: what short sends take, and short receives whose message had long been there.
    pub overhead: Option<u64>,
    /// L + 2 o: where the line through one-way times over sizes begins.
    pub one_way: Option<u64>,
    /// g: how far short messages that were sent at once are apart at a receiver that waits for them, if that is more than
    /// at their sender.
    pub gap: Option<u64>,
    /// G, in picoseconds a byte: how that line rises.
    pub byte_ps: Option<u64>,
    /// S: between the sends that ended before their receive began and those that waited for it.
    pub eager: Option<u64>,
    /// Messages and rounds of collective operations whose one-way times are known.
    pub flights: u64,
}

impl Calibration {
    /// Reads a log to its end. One-way times are those of messages for which their receiver waited, and of rounds of collective
    /// operations after the last member came; both need ranks of one clock. Times that are far above the least tenth of their kind are left
    /// out: something else happened during the call, such as a wait for a processor, which [`super::Scenario::measured_on`] keeps.
    ///
    /// # Errors
    /// The log cannot be read, or has more slack than `options` allow.
    pub fn of<L: Log>(log: &mut L, options: &Options) -> Result<Calibration, MatchError> {
        let mut evidence = Evidence::new(log);
        lead(log, &mut evidence, options)?;
        Ok(evidence.calibration())
    }

    /// The network; what is not known is as in `otherwise`.
    pub fn network(&self, otherwise: &Network) -> Network {
        // No message takes less than its overheads.
        let most = self.one_way.map_or(u64::MAX, |one_way| one_way / 2);
        let overhead = self.overhead.unwrap_or(otherwise.overhead).min(most);
        Network {
            overhead,
            latency: self.one_way.map_or(otherwise.latency, |one_way| one_way - 2 * overhead),
            gap: self.gap.unwrap_or(otherwise.gap),
            byte_ps: self.byte_ps.unwrap_or(otherwise.byte_ps),
            eager: self.eager.unwrap_or(otherwise.eager),
        }
    }
}

/// When a call began that others may wait for, and when it ended.
#[derive(Clone, Copy, Debug)]
struct Moment {
    location: usize,
    enter: u64,
    leave: u64,
    /// It completes what it begins, and does nothing else.
    is_alone: bool,
}

/// A location in a call.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    clock: u32,
    /// Of the messages that the call receives, that which was sent last: its sender's call, and its bytes.
    last: Option<(Moment, u64)>,
    /// The same of the call before, with when it ended, if it only received a message.
    before: Option<(Moment, u64)>,
}

/// A collective operation that is not complete for all of its members.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    /// When the last member came; `None` unless all have one clock and did nothing else.
    last: Option<u64>,
    /// Members for which it is not complete.
    left: usize,
}

/// What calls took that is due to the network.
struct Evidence {
    threads: Vec<Thread>,
    meetings: FxHashMap<(CommId, u64), Meeting>,
    sends: BySize,
    receives: BySize,
    /// A round of the last that comes to a collective operation.
    rounds: BySize,
    flights: BySize,
    /// Distances of messages at their receivers that are more than at their senders, and of how many they are.
    stretched: BySize,
    followed: u64,
    eagerness: Eagerness,
}

impl Evidence {
    fn new<L: Log>(log: &L) -> Evidence {
        let thread = |location| Thread { clock: log.clock(location), ..Thread::default() };
        Evidence {
            threads: (0..log.locations().len()).map(thread).collect(),
            meetings: FxHashMap::default(),
            sends: BySize::default(),
            receives: BySize::default(),
            rounds: BySize::default(),
            flights: BySize::default(),
            stretched: BySize::default(),
            followed: 0,
            eagerness: Eagerness::default(),
        }
    }

    fn calibration(&self) -> Calibration {
        let sides: Vec<f64> =
            [&self.sends, &self.receives].into_iter().filter_map(BySize::shortest).collect();
        let of_sides = (!sides.is_empty()).then(|| sides.iter().sum::<f64>() / sides.len() as f64);
        let overhead = of_sides.or_else(|| self.rounds.shortest().map(|round| round / 2.0));
        let least = overhead.map_or(0.0, |o| 2.0 * o).min(self.flights.shortest().unwrap_or(f64::INFINITY));
        let line = self.flights.line(least);
        let slope = line.and_then(|line| line.slope);
        let gap = (self.followed > 0).then(|| {
            let is_why = 2 * self.stretched.count() > self.followed;
            self.stretched.shortest().filter(|_| is_why).unwrap_or(0.0)
        });
        Calibration {
            overhead: overhead.map(whole),
            one_way: line.map(|line| whole(line.start)),
            gap: gap.map(whole),
            byte_ps: slope.map(|slope| whole(1e3 * slope)),
            eager: self.eagerness.limit(crate::waits::EAGER_LIMIT),
            flights: self.flights.count(),
        }
    }

    fn moment(&self, location: usize, call: &Call) -> Moment {
        let is_alone =
            matches!(call.ops[..], [Op::Send(_) | Op::Receive(_) | Op::Collective(_), Op::Complete(_)]);
        Moment { location, enter: call.enter, leave: call.leave, is_alone }
    }

    fn have_one_clock(&self, a: usize, b: usize) -> bool {
        self.threads[a].clock == self.threads[b].clock
    }

    /// When the last of `all` came to an operation, which completes for one of them; `None` unless all have one clock and did nothing
    /// else. All are looked at once, since each of them asks.
    fn last_to_come(&mut self, collective: &Collective, all: &[(u32, Moment)]) -> Option<u64> {
        let key = (collective.comm, collective.sequence);
        let threads = &self.threads;
        let meeting = self.meetings.entry(key).or_insert_with(|| {
            let clock = |moment: &Moment| threads[moment.location].clock;
            let is_known = all.iter().all(|(_, member)| member.is_alone && clock(member) == clock(&all[0].1));
            let last = all.iter().map(|(_, member)| member.enter).max();
            Meeting { last: last.filter(|_| is_known), left: all.len() }
        });
        meeting.left -= 1;
        let Meeting { last, left } = *meeting;
        if left == 0 {
            self.meetings.remove(&key);
        }
        last
    }

    /// A blocking send that did nothing else, whose receive began in a call at `posted`.
    fn see_send(&mut self, send: &Send, sent: &Moment, posted: u64) {
        let went = sent.leave <= posted;
        let waited = sent.enter + LATE < posted && !went;
        if matches!(send.mode, Mode::Standard | Mode::Ready) && (went || waited) {
            self.eagerness.add(send.bytes, waited);
        }
        // With a receive that was there it did not wait either.
        if went || posted <= sent.enter {
            self.sends.add(send.bytes, sent.leave - sent.enter);
        }
    }

    /// A call that only received the message `last`; `before` is what the call before it received.
    fn see_receive(&mut self, call: &Call, (sent, bytes): (Moment, u64), before: Option<(Moment, u64)>) {
        if sent.leave + SETTLED < call.enter {
            self.receives.add(bytes, call.leave - call.enter);
        }
        let Some((earlier, left)) = before.filter(|(earlier, _)| earlier.location == sent.location) else {
            return;
        };
        let follows =
            sent.enter.saturating_sub(earlier.leave) < AT_ONCE && call.enter.saturating_sub(left) < AT_ONCE;
        if follows && sent.leave >= call.enter {
            self.followed += 1;
            let (apart, at_sender) = (call.leave - left, sent.enter.saturating_sub(earlier.enter));
            if apart as f64 > STRETCHED * at_sender as f64 {
                self.stretched.add(bytes, apart);
            }
        }
    }
}

impl Visitor for Evidence {
    type Sent = Moment;
    type Posted = Moment;
    type Joined = Moment;

    fn enter(&mut self, location: usize, _: &Call) {
        self.threads[location].last = None;
    }

    fn sent(&mut self, location: usize, call: &Call, send: &Send) -> Moment {
        // A nonblocking send waits for nobody.
        if matches!(call.ops[..], [Op::Send(_)]) {
            self.sends.add(send.bytes, call.leave.saturating_sub(call.enter));
        }
        self.moment(location, call)
    }

    fn posted(&mut self, location: usize, call: &Call, _: &Receive) -> Moment {
        self.moment(location, call)
    }

    fn joined(&mut self, location: usize, call: &Call, _: &Collective) -> Moment {
        self.moment(location, call)
    }

    fn received(&mut self, location: usize, _: &Call, message: &Matched<Moment, Moment>) {
        let Matched { send, sent, posted, .. } = message;
        if sent.location == location || !self.have_one_clock(sent.location, location) {
            return;
        }
        if sent.is_alone {
            self.see_send(send, sent, posted.enter);
        }
        let last = &mut self.threads[location].last;
        if last.is_none_or(|(other, _)| other.enter < sent.enter) {
            *last = Some((*sent, send.bytes));
        }
    }

    fn send_completed(&mut self, _: usize, _: &Call, _: &Send, _: Moment, _: Option<Moment>) {}

    fn collective_completed(
        &mut self,
        _: usize,
        call: &Call,
        collective: &Collective,
        all: &[(u32, Moment)],
    ) {
        let rounds = match collective.operation {
            Operation::Barrier | Operation::AllReduce | Operation::AllGather | Operation::ReduceScatter => {
                tree::rounds(all.len())
            }
            Operation::AllToAll => all.len() as u32 - 1,
            _ => 0,
        };
        if rounds == 0 {
            return;
        }
        let Some(last) = self.last_to_come(collective, all) else { return };
        let each = call.leave.saturating_sub(last) / u64::from(rounds);
        let bytes = match collective.operation {
            Operation::AllReduce => collective.sent,
            _ => collective.sent.max(collective.received) / u64::from(rounds),
        };
        if call.enter < last { &mut self.flights } else { &mut self.rounds }.add(bytes, each);
    }

    fn other(&mut self, _: usize, _: &Call, _: &Op, _: Option<&Completion>) {}

    fn leave(&mut self, location: usize, call: &Call) {
        let Thread { last, before, .. } = self.threads[location];
        let is_receive = matches!(call.ops[..], [Op::Receive(_), Op::Complete(_)]);
        if let Some((sent, bytes)) = last {
            if call.enter <= sent.enter && sent.enter < call.leave {
                self.flights.add(bytes, call.leave - sent.enter);
            }
            if is_receive {
                self.see_receive(call, (sent, bytes), before);
            }
        }
        self.threads[location].before = last.filter(|_| is_receive).map(|(sent, _)| (sent, call.leave));
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        send.mode == Mode::Synchronous
    }
}

fn whole(value: f64) -> u64 {
    value.round() as u64
}
