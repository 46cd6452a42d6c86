//! Programs for tests, run by a simulation that knows who waited.

use std::collections::BTreeMap;

use super::Metric;
use crate::{
    Call, Collective, CommId, Completion, MemoryLog, Mode, Op, Operation, Receive, Send, Synchronisation,
};

/// How long a message or operation takes once all are there.
const TAKES: u64 = 2;

/// A run in the making: what its ranks do is done in the order in which it is said.
pub(super) struct Program {
    /// What the ranks called. Each call has a context of its own within its rank.
    pub(super) log: MemoryLog,
    /// Nanoseconds that each rank must have waited, by metric.
    pub(super) truth: BTreeMap<(u32, Metric), u64>,
    /// Nanoseconds until where each rank is.
    clocks: Vec<u64>,
    /// What each rank's clock shows more than these.
    offsets: Vec<u64>,
    /// A message that was sent and not received, with its sender.
    early: Option<(Send, u32)>,
    posts: Vec<u64>,
    contexts: Vec<u32>,
    sequences: BTreeMap<u32, u64>,
    comms: BTreeMap<Vec<u32>, u32>,
}

impl Program {
    /// All ranks begin at 0.
    pub(super) fn new(ranks: u32) -> Self {
        Self::with_clocks(vec![0; ranks as usize])
    }

    /// All ranks begin together, when their clocks show this.
    pub(super) fn with_clocks(offsets: Vec<u64>) -> Self {
        let ranks = offsets.len() as u32;
        let count = ranks as usize;
        let mut new = Self {
            log: MemoryLog::new(ranks),
            truth: BTreeMap::new(),
            clocks: vec![0; count],
            offsets,
            early: None,
            posts: vec![0; count],
            contexts: vec![0; count],
            sequences: BTreeMap::new(),
            comms: BTreeMap::from([((0..ranks).collect(), 0)]),
        };
        for rank in 0..ranks {
            new.call(rank, "MPI_Comm_rank", 0, vec![]);
        }
        new
    }

    /// A rank computes.
    pub(super) fn compute(&mut self, rank: u32, ns: u64) {
        self.clocks[rank as usize] += ns;
    }

    /// A message in blocking calls. One that is not synchronous goes into a buffer.
    pub(super) fn message(&mut self, from: u32, to: u32, tag: i32, mode: Mode) {
        let (send, receive) = self.post_message(from, to, tag, mode);
        let (sent, posted) = (self.clock(from), self.clock(to));
        let there = sent.max(posted) + TAKES;
        let sender_leaves = if mode == Mode::Synchronous { there } else { sent + 1 };
        self.waits(to, Metric::LateSender, posted, sent);
        if mode == Mode::Synchronous {
            self.waits(from, Metric::LateReceiver, sent, posted);
        }
        self.call(from, "MPI_Send", sender_leaves - sent, vec![Op::Send(send), done(send.post)]);
        self.call(
            to,
            "MPI_Recv",
            there - posted,
            vec![Op::Receive(receive), came(receive.post, &send, from)],
        );
    }

    /// A message that goes into a buffer and is received by [`Self::receive`].
    pub(super) fn early_message(&mut self, from: u32, to: u32, tag: i32) {
        let send = self.post_send(from, to, tag, Mode::Standard);
        self.call(from, "MPI_Send", 1, vec![Op::Send(send), done(send.post)]);
        self.early = Some((send, from));
    }

    /// Receives the message that was sent early.
    pub(super) fn receive(&mut self, to: u32) {
        if let Some((send, from)) = self.early.take() {
            let receive = self.post_receive(from, to, send.tag);
            self.call(to, "MPI_Recv", 1, vec![Op::Receive(receive), came(receive.post, &send, from)]);
        }
    }

    /// Two exchange messages: each begins to receive, computes, sends, and waits for both.
    pub(super) fn exchange(&mut self, ranks: [u32; 2], computes: [u64; 2]) {
        let [a, b] = ranks;
        let (to_b, by_b) = self.post_message(a, b, 0, Mode::Standard);
        let (to_a, by_a) = self.post_message(b, a, 0, Mode::Standard);
        self.call(a, "MPI_Irecv", 1, vec![Op::Receive(by_a)]);
        self.call(b, "MPI_Irecv", 1, vec![Op::Receive(by_b)]);
        self.compute(a, computes[0]);
        self.compute(b, computes[1]);
        let sent = [self.clock(a), self.clock(b)];
        self.call(a, "MPI_Isend", 1, vec![Op::Send(to_b)]);
        self.call(b, "MPI_Isend", 1, vec![Op::Send(to_a)]);
        let sides = [(a, to_b, by_a, to_a, sent[1], b), (b, to_a, by_b, to_b, sent[0], a)];
        for (rank, own, receive, message, sent, sender) in sides {
            let enter = self.clock(rank);
            self.waits(rank, Metric::LateSender, enter, sent);
            let length = enter.max(sent + TAKES) + 1 - enter;
            self.call(
                rank,
                "MPI_Waitall",
                length,
                vec![came(receive.post, &message, sender), done(own.post)],
            );
        }
    }

    /// An operation of some ranks, the first of which is the root.
    pub(super) fn collective(&mut self, operation: Operation, members: &[u32]) {
        let root = members[0];
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let enters: Vec<u64> = sorted.iter().map(|rank| self.clock(*rank)).collect();
        let all = enters.iter().copied().max().unwrap_or(0);
        let collectives: Vec<_> =
            sorted.iter().map(|rank| self.post_collective(operation, &sorted, root, *rank)).collect();
        for (at, rank) in sorted.iter().copied().enumerate() {
            let (metric, awaited) = match operation {
                Operation::Barrier => (Metric::BarrierWait, all),
                Operation::Broadcast => (Metric::LateBroadcast, self.clock_at(&sorted, &enters, root)),
                Operation::Reduce if rank != root => (Metric::EarlyReduce, 0),
                Operation::Reduce => (Metric::EarlyReduce, all),
                Operation::Scan => (Metric::EarlyScan, enters[..at].iter().copied().max().unwrap_or(0)),
                _ => (Metric::NToNWait, all),
            };
            self.waits(rank, metric, enters[at], awaited);
            let length = enters[at].max(awaited) + TAKES - enters[at];
            let collective = collectives[at];
            self.call(rank, "MPI_Together", length, vec![Op::Collective(collective), done(collective.post)]);
        }
        *self.sequences.entry(collectives[0].comm.0).or_default() += 1;
    }

    /// The same, begun by all, then computing, then completed.
    pub(super) fn without_blocking(&mut self, members: &[u32], computes: &[u64]) {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let last = sorted.iter().map(|rank| self.clock(*rank)).max().unwrap_or(0);
        for (rank, compute) in sorted.iter().zip(computes.iter().cycle()) {
            let collective = self.post_collective(Operation::AllReduce, &sorted, members[0], *rank);
            self.call(*rank, "MPI_Iallreduce", 1, vec![Op::Collective(collective)]);
            self.compute(*rank, *compute);
            let enter = self.clock(*rank);
            self.waits(*rank, Metric::NToNWait, enter, last);
            self.call(*rank, "MPI_Wait", enter.max(last) + TAKES - enter, vec![done(collective.post)]);
        }
        let comm = self.comms[&sorted];
        *self.sequences.entry(comm).or_default() += 1;
    }

    /// Locks a target's memory, computes with it, and unlocks; for how long it is in the call that locks and then computes.
    pub(super) fn locked(&mut self, rank: u32, target: u32, [locks, computes]: [u64; 2]) {
        let synchronise = |how| vec![Op::Synchronise { window: CommId(0), how }];
        self.call(
            rank,
            "MPI_Win_lock",
            locks,
            synchronise(Synchronisation::Lock { target, exclusive: true }),
        );
        self.compute(rank, computes);
        self.call(rank, "MPI_Win_unlock", 1, synchronise(Synchronisation::Unlock(target)));
    }

    fn clock(&self, rank: u32) -> u64 {
        self.clocks[rank as usize]
    }

    fn clock_at(&self, members: &[u32], enters: &[u64], rank: u32) -> u64 {
        members.iter().position(|member| *member == rank).map_or(0, |at| enters[at])
    }

    fn waits(&mut self, rank: u32, metric: Metric, enter: u64, awaited: u64) {
        if awaited > enter {
            *self.truth.entry((rank, metric)).or_default() += awaited - enter;
        }
    }

    fn call(&mut self, rank: u32, name: &'static str, length: u64, ops: Vec<Op>) {
        let at = rank as usize;
        let (enter, leave) = (self.clocks[at], self.clocks[at] + length);
        self.clocks[at] = leave;
        self.contexts[at] += 1;
        let function = self.log.function(name);
        let (enter, leave) = (enter + self.offsets[at], leave + self.offsets[at]);
        self.log.push(at, Call { function, section: 0, context: self.contexts[at], enter, leave, ops });
    }

    fn post(&mut self, rank: u32) -> u64 {
        self.posts[rank as usize] += 1;
        self.posts[rank as usize]
    }

    fn post_message(&mut self, from: u32, to: u32, tag: i32, mode: Mode) -> (Send, Receive) {
        (self.post_send(from, to, tag, mode), self.post_receive(from, to, tag))
    }

    fn post_send(&mut self, from: u32, to: u32, tag: i32, mode: Mode) -> Send {
        Send { post: self.post(from), mode, to, tag, comm: CommId(0), bytes: 8 }
    }

    fn post_receive(&mut self, from: u32, to: u32, tag: i32) -> Receive {
        Receive { post: self.post(to), from: Some(from), tag: Some(tag), comm: CommId(0) }
    }

    fn post_collective(&mut self, operation: Operation, members: &[u32], root: u32, rank: u32) -> Collective {
        let comm = match self.comms.get(members) {
            Some(comm) => *comm,
            None => self.log.add_communicator(members.to_vec()),
        };
        self.comms.insert(members.to_vec(), comm);
        let has_root = matches!(operation, Operation::Broadcast | Operation::Reduce);
        Collective {
            post: self.post(rank),
            operation,
            comm: CommId(comm),
            sequence: self.sequences.get(&comm).copied().unwrap_or(0),
            root: has_root.then_some(root),
            sent: 8,
            received: 8,
        }
    }
}

fn done(post: u64) -> Op {
    Op::Complete(Completion { post, from: None, tag: None, bytes: 0, void: false })
}

fn came(post: u64, send: &Send, from: u32) -> Op {
    Op::Complete(Completion { post, from: Some(from), tag: Some(send.tag), bytes: send.bytes, void: false })
}
