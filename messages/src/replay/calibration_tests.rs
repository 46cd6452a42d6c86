//! Logs of networks that are known.

use super::*;
use crate::{
    Call, Collective, CommId, MemoryLog, Mode, Op, Operation, Options, Receive, Send,
    script::{came, done},
};

const KNOWN: Network = Network { overhead: 400, latency: 900, gap: 0, byte_ps: 250, eager: 10_000 };

/// A log whose calls are written with their times.
struct Timed {
    log: MemoryLog,
    posts: Vec<u64>,
    sequence: u64,
    /// So many calls were disturbed.
    calls: u64,
}

impl Timed {
    fn new(ranks: u32) -> Timed {
        Timed { log: MemoryLog::new(ranks), posts: vec![0; ranks as usize], sequence: 0, calls: 0 }
    }

    /// Every ninth call waits for a processor.
    fn call(&mut self, rank: u32, name: &'static str, (enter, leave): (u64, i64), ops: Vec<Op>) {
        self.calls += 1;
        let stall = if self.calls.is_multiple_of(9) { 3_000_000 } else { 0 };
        let leave = leave as u64 + stall;
        let function = self.log.function(name);
        self.log.push(rank as usize, Call { function, enter, leave, ops, ..Call::default() });
    }

    fn post(&mut self, rank: u32) -> u64 {
        self.posts[rank as usize] += 1;
        self.posts[rank as usize] - 1
    }

    /// A message whose sender begins at one time and whose receiver at another.
    fn message(&mut self, (from, sent): (u32, u64), (to, posted): (u32, u64), bytes: u64) {
        let network = KNOWN;
        let (o, latency) = (network.overhead as i64, network.latency as i64);
        let mode = Mode::Standard;
        let send = Send { post: self.post(from), mode, to, tag: 0, comm: CommId(0), bytes };
        let receive = Receive { post: self.post(to), from: Some(from), tag: Some(0), comm: CommId(0) };
        let departure = sent as i64 + o;
        let set_out =
            if network.is_eager(bytes) { departure } else { departure.max(posted as i64 + latency) };
        let arrival = set_out + latency + network.bytes(bytes);
        let free = if network.is_eager(bytes) { departure } else { set_out + network.bytes(bytes) };
        self.call(from, "MPI_Send", (sent, free), vec![Op::Send(send), done(send.post)]);
        let ops = vec![Op::Receive(receive), came(receive.post, from, 0)];
        self.call(to, "MPI_Recv", (posted, arrival.max(posted as i64) + o), ops);
    }

    /// An operation of two ranks.
    fn together(&mut self, operation: Operation, enters: [u64; 2], bytes: u64) {
        let last = enters[0].max(enters[1]) as i64;
        let o = 2 * KNOWN.overhead as i64;
        for rank in 0..2 {
            let is_last = enters[rank as usize] as i64 == last;
            let leave = last + o + if is_last { 0 } else { KNOWN.latency as i64 + KNOWN.bytes(bytes) };
            let (post, sequence, comm) = (self.post(rank), self.sequence, CommId(0));
            let collective =
                Collective { post, operation, comm, sequence, root: None, sent: bytes, received: bytes };
            let ops = vec![Op::Collective(collective), done(post)];
            self.call(rank, "MPI_Collective", (enters[rank as usize], leave), ops);
        }
        self.sequence += 1;
    }
}

fn calibrated(timed: &Timed) -> Calibration {
    Calibration::of(&mut timed.log.clone(), &Options::default()).unwrap()
}

fn is_near(found: Option<u64>, wanted: u64) -> bool {
    (found.unwrap() as f64 / wanted as f64 - 1.0).abs() < 0.03
}

/// Overhead and latency are found.
fn is_known(found: &Calibration) -> bool {
    let network = found.network(&Network::IDEAL);
    is_near(Some(network.overhead), KNOWN.overhead) && is_near(Some(network.latency), KNOWN.latency)
}

const STEP: u64 = 10_000_000;

/// Messages of these sizes for which receivers wait, and as many that wait for their receivers.
fn messages(sizes: &[u64]) -> Timed {
    let mut timed = Timed::new(2);
    for n in 0..100 * sizes.len() as u64 {
        let (at, bytes) = ((2 * n + 1) * STEP, sizes[(n % sizes.len() as u64) as usize]);
        timed.message((0, at), (1, at - 50_000), bytes);
        timed.message((1, at + STEP), (0, at + STEP + 1_000_000), bytes);
    }
    timed
}

#[test]
fn messages_tell_their_network() {
    let found = calibrated(&messages(&[8, 1000, 9000, 100_000, 1_000_000]));
    assert!(is_known(&found), "{found:?}");
    assert!(is_near(found.byte_ps, 250) && found.eager == Some(9000), "{found:?}");
    // Those that waited for a processor are none of the 500.
    assert!(found.gap.is_none() && (400..500).contains(&found.flights), "{found:?}");
}

#[test]
fn operations_of_all_tell_their_network() {
    let mut timed = Timed::new(2);
    for n in 0..300 {
        let (at, bytes) = ((n + 1) * STEP, [8, 8000, 80_000][n as usize % 3]);
        timed.together(Operation::AllReduce, [at, at - 1000 * (n % 7 + 1)], bytes);
    }
    let found = calibrated(&timed);
    assert!(is_known(&found), "{found:?}");
    assert!(is_near(found.byte_ps, 250) && found.eager.is_none(), "{found:?}");
}

#[test]
fn what_calls_do_not_tell_is_as_otherwise() {
    let mut timed = messages(&[64]);
    let found = calibrated(&timed);
    assert!(found.byte_ps.is_none() && is_known(&found), "{found:?}");
    assert_eq!(found.network(&KNOWN).byte_ps, 250);
    // Between two clocks nothing tells how long messages are under way.
    timed.log.set_clocks(vec![0, 1]);
    let found = calibrated(&timed);
    assert_eq!((found.one_way, found.byte_ps, found.eager, found.flights), (None, None, None, 0));
    assert_eq!(calibrated(&Timed::new(2)), Calibration::default());
}

#[test]
fn messages_that_follow_at_once_tell_the_gap() {
    let mut timed = Timed::new(2);
    for n in 0..100 {
        let at = (n + 1) * STEP;
        let mut left = at - 1000;
        for k in 0..4 {
            let send =
                Send { post: timed.post(0), mode: Mode::Standard, to: 1, tag: 0, comm: CommId(0), bytes: 8 };
            let receive = Receive { post: timed.post(1), from: Some(0), tag: Some(0), comm: CommId(0) };
            let (sent, came_at) = (at + 450 * k, at + 1700 + 2000 * k);
            let ops = vec![Op::Send(send), done(send.post)];
            timed.call(0, "MPI_Send", (sent, sent as i64 + 2200), ops);
            let ops = vec![Op::Receive(receive), came(receive.post, 0, 0)];
            timed.call(1, "MPI_Recv", (left, came_at as i64), ops);
            left = came_at + 50;
        }
    }
    assert!(is_near(calibrated(&timed).gap, 2000), "{:?}", calibrated(&timed));
}

/// The run as it was, replayed on the network that it had.
fn replayed(timed: &Timed) -> Replayed {
    replay(|| Ok(timed.log.clone()), &[Scenario::measured_on(KNOWN)], &Options::default()).unwrap()
}

#[test]
fn what_waits_for_something_else_is_kept() {
    // A ninth of the calls takes 3 ms longer.
    let mut timed = Timed::new(2);
    timed.together(Operation::Initialise, [0, 0], 0);
    for n in 0..50 {
        let at = (n + 1) * STEP;
        timed.message((0, at), (1, at - 50_000), 8);
        timed.together(Operation::AllReduce, [at + 4_000_000, at + 4_100_000], 8);
    }
    let found = replayed(&timed);
    assert!(found.residuals(&found.runs[0]).iter().all(|residual| residual.abs() < 100_000), "{found:?}");
    // Of calls that wait for a rank of another clock it is not known.
    timed.log.set_clocks(vec![0, 1]);
    let found = replayed(&timed);
    assert!(found.residuals(&found.runs[0]).iter().all(|residual| *residual < -500_000), "{found:?}");
}
