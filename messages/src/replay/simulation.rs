//! Several runs of one program at once, each under its own circumstances.

use super::{Scenario, delays::Account};
use crate::{
    Call, Collective, CommId, Completion, Location, Log, Matched, Mode, Op, Receive, Send, Visitor,
    members::Members, need::Need,
};
use rustc_hash::FxHashMap;

/// A time in each of the runs, in nanoseconds.
pub(super) type Times<const K: usize> = [i64; K];

/// Simulates `K` runs in one pass over the matched calls. Computing takes as long as it took, or as a scenario says; how long calls
/// take follows from the network and from those they wait for. Only sums and maxima are taken, of whole nanoseconds: results are exact, and
/// no delay makes anything earlier.
pub(super) struct Simulation<'s, const K: usize> {
    pub(super) scenarios: [&'s Scenario; K],
    /// The run that is the one measured: at the beginning and at the end of each call it is where that was. By how much less than the
    /// call it has come on in between is what nothing explains.
    measured: Option<usize>,
    /// By rank: which clock it has.
    clocks: Vec<u32>,
    /// By number of a function: it may wait for what is not told of it.
    probes: Vec<bool>,
    /// Sends beyond it wait for their receive in some run.
    eager: u64,
    pub(super) members: Members,
    places: Vec<Location>,
    pub locations: Vec<Clock<K>>,
    /// By rank: when its first call began, by its own clock.
    origins: Vec<Option<u64>>,
    /// By rank: where each run is in the trace of detours at its beginning.
    phases: Vec<[u64; K]>,
    /// Where runs fall behind the first of them, of those that are asked.
    pub(super) account: Account<K>,
    /// Operations that all members need, with how many members are still to complete them.
    done: FxHashMap<(CommId, u64), Done<K>>,
    pub(super) scratch: [Vec<i64>; 2],
}

/// Where a thread is in each of the runs.
#[derive(Clone)]
pub(super) struct Clock<const K: usize> {
    pub now: Times<K>,
    /// Until when its last message goes out.
    sends_until: Times<K>,
    /// Its call waits for nobody of another clock.
    has_one_clock: bool,
    /// When its last call ended in the log.
    left: Option<u64>,
    /// Call path of that.
    context: u32,
    /// When its call began.
    entered: Times<K>,
    /// Its calls.
    events: u64,
    /// When it ended in the log, after its rank began.
    pub measured: u64,
    /// Computing, with noise.
    pub computed: Times<K>,
    /// Noise.
    pub noise: Times<K>,
}

struct Done<const K: usize> {
    times: Vec<Times<K>>,
    left: usize,
    has_one_clock: bool,
}

/// What a message brings from its sender: when it sets out, and how long it is under way.
#[derive(Clone, Copy)]
pub(super) struct Sent<const K: usize> {
    departure: Times<K>,
    flight: Times<K>,
}

/// What a member brings into a collective operation.
#[derive(Clone, Copy)]
pub(super) struct Joined<const K: usize> {
    pub(super) at: Times<K>,
    pub(super) post: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl<'s, const K: usize> Simulation<'s, K> {
    /// Of these scenarios; `measured` is which of them is to be as measured, if that is to be known, and `accounted` which are asked
    /// where they fall behind the first.
    pub fn new<L: Log>(
        scenarios: [&'s Scenario; K],
        measured: Option<usize>,
        accounted: Vec<usize>,
        eager: u64,
        log: &L,
    ) -> Simulation<'s, K> {
        let locations = log.locations();
        let ranks = locations.last().map_or(0, |location| location.rank + 1);
        let clock = Clock {
            now: [0; K],
            sends_until: [0; K],
            has_one_clock: true,
            left: None,
            context: 0,
            entered: [0; K],
            events: 0,
            measured: 0,
            computed: [0; K],
            noise: [0; K],
        };
        let mut clocks = vec![0; ranks as usize];
        for (location, place) in locations.iter().enumerate() {
            clocks[place.rank as usize] = log.clock(location);
        }
        Simulation {
            scenarios,
            measured,
            clocks,
            probes: log.functions().iter().map(|name| name.ends_with("robe")).collect(),
            eager,
            members: Members::new(log),
            places: locations.to_vec(),
            locations: vec![clock; locations.len()],
            origins: vec![None; ranks as usize],
            phases: (0..ranks).map(|rank| scenarios.map(|s| s.perturbation.phase(rank))).collect(),
            account: Account::new(accounted),
            done: FxHashMap::default(),
            scratch: [Vec::new(), Vec::new()],
        }
    }

    fn waits_for_receive(&self, run: usize, send: &Send) -> bool {
        match send.mode {
            Mode::Synchronous => true,
            Mode::Buffered => false,
            Mode::Standard | Mode::Ready => !self.scenarios[run].network.is_eager(send.bytes),
        }
    }

    /// When the bytes of a message set out: at once, or after its receive was posted and the sender has heard of it.
    fn sets_out(&self, run: usize, sender: u32, send: &Send, departure: i64, posted: i64) -> i64 {
        if !self.waits_for_receive(run, send) {
            return departure;
        }
        let Scenario { network, perturbation, .. } = self.scenarios[run];
        departure.max(posted + network.latency as i64 + perturbation.back(sender, send.post))
    }

    /// Brings the measured run to where it was at a time of the log; by how much that is later.
    fn meet_measured(&mut self, location: usize, at: u64) -> i64 {
        let Some(run) = self.measured else { return 0 };
        at as i64 - std::mem::replace(&mut self.locations[location].now[run], at as i64)
    }

    /// A call of a location waits for another rank.
    fn waits_for(&mut self, location: usize, rank: u32) {
        let own = self.places[location].rank;
        let clock_of = |rank: u32| self.clocks.get(rank as usize);
        self.locations[location].has_one_clock &= clock_of(own) == clock_of(rank);
    }
}

impl<const K: usize> Visitor for Simulation<'_, K> {
    type Sent = Sent<K>;
    type Posted = Times<K>;
    type Joined = Joined<K>;

    fn enter(&mut self, location: usize, call: &Call) {
        let Location { rank, thread } = self.places[location];
        let clock = &mut self.locations[location];
        let event = clock.events;
        clock.events += 1;
        clock.has_one_clock = true;
        let Some(left) = clock.left else {
            // The clocks of a run begin with each rank's first call; a thread that begins later does so as late as it did.
            let origin = *self.origins[rank as usize].get_or_insert(call.enter);
            let late = call.enter.saturating_sub(origin) as i64;
            for (now, scenario) in clock.now.iter_mut().zip(self.scenarios) {
                *now = if scenario.counts_delays_only { 0 } else { late };
            }
            self.meet_measured(location, call.enter);
            self.locations[location].entered = self.locations[location].now;
            return;
        };
        let burst = call.enter.saturating_sub(left);
        let mut lengths = [0; K];
        for (run, computed) in lengths.iter_mut().enumerate() {
            let Scenario { perturbation, changes, counts_delays_only, .. } = self.scenarios[run];
            let length = if changes.is_none() { burst } else { changes.apply(location, rank, call, burst) };
            let noise = if perturbation.strikes.holds(rank, call.context) {
                let at = clock.now[run] as u64 + self.phases[rank as usize][run];
                perturbation.noise(rank, thread, event, length, at)
            } else {
                0
            };
            *computed = if *counts_delays_only { noise } else { length as i64 + noise };
            clock.now[run] += *computed;
            clock.computed[run] += *computed;
            clock.noise[run] += noise;
        }
        let before = clock.context;
        self.meet_measured(location, call.enter);
        self.locations[location].entered = self.locations[location].now;
        self.account.computes(location, (before, call.context), lengths);
    }

    fn sent(&mut self, location: usize, _: &Call, send: &Send) -> Sent<K> {
        let rank = self.places[location].rank;
        let clock = &mut self.locations[location];
        let mut sent = Sent { departure: [0; K], flight: [0; K] };
        for run in 0..K {
            let Scenario { network, perturbation, .. } = self.scenarios[run];
            clock.now[run] += network.overhead as i64;
            let bytes = network.bytes(send.bytes);
            let departure = clock.now[run].max(clock.sends_until[run]);
            clock.sends_until[run] = departure + network.gap as i64 + bytes;
            sent.departure[run] = departure;
            sent.flight[run] =
                network.latency as i64 + bytes + perturbation.flight(rank, send.post, send.bytes);
        }
        sent
    }

    fn posted(&mut self, location: usize, _: &Call, _: &Receive) -> Times<K> {
        self.locations[location].now
    }

    fn joined(&mut self, location: usize, _: &Call, collective: &Collective) -> Joined<K> {
        let at = self.locations[location].now;
        Joined { at, post: collective.post, sent: collective.sent, received: collective.received }
    }

    fn received(&mut self, location: usize, _: &Call, message: &Matched<Sent<K>, Times<K>>) {
        let Matched { send, sender, sent, posted, .. } = message;
        self.waits_for(location, *sender);
        for (run, &posted) in posted.iter().enumerate() {
            let set_out = self.sets_out(run, *sender, send, sent.departure[run], posted);
            let now = &mut self.locations[location].now[run];
            *now = (*now).max(set_out + sent.flight[run]) + self.scenarios[run].network.overhead as i64;
        }
    }

    fn send_completed(
        &mut self,
        location: usize,
        _: &Call,
        send: &Send,
        sent: Sent<K>,
        posted: Option<Times<K>>,
    ) {
        let Some(posted) = posted else { return };
        self.waits_for(location, send.to);
        let rank = self.places[location].rank;
        for (run, &posted) in posted.iter().enumerate() {
            if self.waits_for_receive(run, send) {
                let set_out = self.sets_out(run, rank, send, sent.departure[run], posted);
                let sent_at = set_out + self.scenarios[run].network.bytes(send.bytes);
                let now = &mut self.locations[location].now[run];
                *now = (*now).max(sent_at);
            }
        }
    }

    fn collective_completed(
        &mut self,
        location: usize,
        _: &Call,
        collective: &Collective,
        all: &[(u32, Joined<K>)],
    ) {
        let rank = self.places[location].rank;
        let times = if Need::of(collective, rank) != Need::All {
            all.iter().for_each(|(rank, _)| self.waits_for(location, *rank));
            std::array::from_fn(|run| self.leaves(run, rank, collective, all))
        } else if collective.root.is_some() {
            all.iter().for_each(|(rank, _)| self.waits_for(location, *rank));
            let own = all.iter().position(|(member, _)| *member == rank).unwrap_or(0);
            self.leave_all(collective, all)[own]
        } else {
            let key = (collective.comm, collective.sequence);
            if !self.done.contains_key(&key) {
                let times = self.leave_all(collective, all);
                let mut clocks = all.iter().map(|(rank, _)| self.clocks.get(*rank as usize));
                let first = clocks.next();
                let has_one_clock = clocks.all(|clock| Some(clock) == first);
                self.done.insert(key, Done { left: times.len(), times, has_one_clock });
            }
            let Some(done) = self.done.get_mut(&key) else { return };
            self.locations[location].has_one_clock &= done.has_one_clock;
            let times = done.times[self.members.place(collective.comm, rank).unwrap_or(0)];
            done.left -= 1;
            if done.left == 0 {
                self.done.remove(&key);
            }
            times
        };
        for (now, left) in self.locations[location].now.iter_mut().zip(times) {
            *now = (*now).max(left);
        }
    }

    fn other(&mut self, location: usize, _: &Call, op: &Op, _: Option<&Completion>) {
        if let Op::Transfer(_) = op {
            let overheads = self.scenarios.iter().map(|scenario| scenario.network.overhead as i64);
            self.locations[location]
                .now
                .iter_mut()
                .zip(overheads)
                .for_each(|(now, overhead)| *now += overhead);
        }
    }

    fn leave(&mut self, location: usize, call: &Call) {
        let origin = self.origins[self.places[location].rank as usize].unwrap_or(call.enter);
        let longer = self.meet_measured(location, call.leave);
        let is_probe = self.probes.get(call.function as usize).is_some_and(|is_probe| *is_probe);
        let clock = &mut self.locations[location];
        let stall = self.measured.map_or(i64::MAX, |run| self.scenarios[run].network.stall());
        if longer > stall && clock.has_one_clock && !is_probe {
            let runs = clock.now.iter_mut().zip(self.scenarios).enumerate();
            let keep = |(run, (_, scenario)): &(usize, (_, &Scenario))| {
                Some(*run) != self.measured && scenario.measured_on.is_some()
            };
            runs.filter(keep).for_each(|(_, (now, _))| *now += longer);
        }
        self.account.calls(location, call.context, clock.entered, clock.now);
        (clock.left, clock.context) = (Some(call.leave), call.context);
        clock.measured = call.leave.saturating_sub(origin);
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        match send.mode {
            Mode::Synchronous => true,
            Mode::Buffered => false,
            Mode::Standard | Mode::Ready => send.bytes > self.eager,
        }
    }
}
