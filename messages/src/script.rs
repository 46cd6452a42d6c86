//! Logs for tests, written as programs are: one call after another, each with the time it takes.

use crate::{Call, Collective, CommId, Completion, MemoryLog, Mode, Op, Operation, Receive, Send};

/// A log being written. Each location has a clock: computing moves it on, and so does each call by [`Script::length`].
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub log: MemoryLog,
    /// How long calls take, in nanoseconds.
    pub length: u64,
    clocks: Vec<u64>,
    /// By rank: number of the next operation.
    posts: Vec<u64>,
    /// By rank and communicator: number of the next collective operation.
    sequences: Vec<Vec<u64>>,
    /// The rank of each location.
    ranks: Vec<usize>,
}

impl Script {
    pub fn new(ranks: u32) -> Script {
        let count = ranks as usize;
        Script {
            log: MemoryLog::new(ranks),
            length: 0,
            clocks: vec![0; count],
            posts: vec![0; count],
            sequences: vec![vec![0]; count],
            ranks: (0..count).collect(),
        }
    }

    /// Another communicator.
    pub fn comm(&mut self, members: &[u32]) -> CommId {
        self.sequences.iter_mut().for_each(|sequences| sequences.push(0));
        CommId(self.log.add_communicator(members.to_vec()))
    }

    /// A communicator between two groups.
    pub fn between(&mut self, members: &[u32], others: &[u32]) -> CommId {
        self.sequences.iter_mut().for_each(|sequences| sequences.push(0));
        CommId(self.log.add_intercommunicator(members.to_vec(), others.to_vec()))
    }

    /// Another thread of the last rank.
    pub fn thread(&mut self) -> usize {
        let rank = self.posts.len() - 1;
        self.clocks.push(0);
        self.ranks.push(rank);
        self.log.add_location(rank as u32)
    }

    /// Moves a clock on.
    pub fn compute(&mut self, at: usize, time: u64) {
        self.clocks[at] += time;
    }

    /// The number of the next operation of a location's rank.
    pub fn post(&mut self, at: usize) -> u64 {
        let post = &mut self.posts[self.ranks[at]];
        *post += 1;
        *post - 1
    }

    /// A call of [`Script::length`].
    pub fn call(&mut self, at: usize, name: &'static str, ops: Vec<Op>) {
        let enter = self.clocks[at];
        self.clocks[at] += self.length;
        let function = self.log.function(name);
        let call =
            Call { function, section: 0, context: u32::from(function), enter, leave: self.clocks[at], ops };
        self.log.push(at, call);
    }

    pub fn isend(&mut self, at: usize, to: u32, tag: i32, bytes: u64) -> u64 {
        let send = self.a_send(at, to, tag, bytes, Mode::Standard);
        self.call(at, "MPI_Isend", vec![Op::Send(send)]);
        send.post
    }

    pub fn irecv(&mut self, at: usize, from: impl Into<Option<u32>>, tag: impl Into<Option<i32>>) -> u64 {
        let receive = self.a_receive(at, from, tag);
        self.call(at, "MPI_Irecv", vec![Op::Receive(receive)]);
        receive.post
    }

    pub fn send(&mut self, at: usize, to: u32, tag: i32, bytes: u64) {
        let send = self.a_send(at, to, tag, bytes, Mode::Standard);
        self.call(at, "MPI_Send", vec![Op::Send(send), done(send.post)]);
    }

    pub fn ssend(&mut self, at: usize, to: u32, tag: i32, bytes: u64) {
        let send = self.a_send(at, to, tag, bytes, Mode::Synchronous);
        self.call(at, "MPI_Ssend", vec![Op::Send(send), done(send.post)]);
    }

    pub fn recv(&mut self, at: usize, from: u32, tag: i32) {
        let receive = self.a_receive(at, from, tag);
        self.call(at, "MPI_Recv", vec![Op::Receive(receive), came(receive.post, from, tag)]);
    }

    /// A receive from any source, which gets a message from this one.
    pub fn recv_any(&mut self, at: usize, from: u32, tag: i32) {
        let receive = self.a_receive(at, None, None);
        self.call(at, "MPI_Recv", vec![Op::Receive(receive), came(receive.post, from, tag)]);
    }

    pub fn sendrecv(&mut self, at: usize, to: u32, from: u32, tag: i32, bytes: u64) {
        let send = self.a_send(at, to, tag, bytes, Mode::Standard);
        let receive = self.a_receive(at, from, tag);
        let ops = vec![Op::Send(send), Op::Receive(receive), done(send.post), came(receive.post, from, tag)];
        self.call(at, "MPI_Sendrecv", ops);
    }

    /// Completes operations; those of receives as [`came`] tells.
    pub fn wait(&mut self, at: usize, completions: &[Op]) {
        self.call(at, "MPI_Waitall", completions.to_vec());
    }

    pub fn collective(
        &mut self,
        at: usize,
        operation: Operation,
        comm: CommId,
        root: impl Into<Option<u32>>,
        bytes: u64,
    ) {
        let collective = self.a_collective(at, operation, comm, root, bytes);
        self.call(at, "MPI_Collective", vec![Op::Collective(collective), done(collective.post)]);
    }

    pub fn icollective(
        &mut self,
        at: usize,
        operation: Operation,
        comm: CommId,
        root: impl Into<Option<u32>>,
    ) -> u64 {
        let collective = self.a_collective(at, operation, comm, root, 8);
        self.call(at, "MPI_Icollective", vec![Op::Collective(collective)]);
        collective.post
    }

    pub fn barrier(&mut self, at: usize) {
        self.collective(at, Operation::Barrier, CommId(0), None, 0);
    }

    pub fn allreduce(&mut self, at: usize, bytes: u64) {
        self.collective(at, Operation::AllReduce, CommId(0), None, bytes);
    }

    pub fn a_send(&mut self, at: usize, to: u32, tag: i32, bytes: u64, mode: Mode) -> Send {
        Send { post: self.post(at), mode, to, tag, comm: CommId(0), bytes }
    }

    pub fn a_receive(
        &mut self,
        at: usize,
        from: impl Into<Option<u32>>,
        tag: impl Into<Option<i32>>,
    ) -> Receive {
        Receive { post: self.post(at), from: from.into(), tag: tag.into(), comm: CommId(0) }
    }

    fn a_collective(
        &mut self,
        at: usize,
        operation: Operation,
        comm: CommId,
        root: impl Into<Option<u32>>,
        bytes: u64,
    ) -> Collective {
        let sequence = self.sequences[self.ranks[at]][comm.0 as usize];
        self.sequences[self.ranks[at]][comm.0 as usize] += 1;
        let post = self.post(at);
        Collective { post, operation, comm, sequence, root: root.into(), sent: bytes, received: bytes }
    }
}

/// A send or collective operation is complete.
pub(crate) fn done(post: u64) -> Op {
    Op::Complete(Completion { post, from: None, tag: None, bytes: 0, void: false })
}

/// A receive is complete.
pub(crate) fn came(post: u64, from: u32, tag: i32) -> Op {
    Op::Complete(Completion { post, from: Some(from), tag: Some(tag), bytes: 0, void: false })
}

/// An operation was cancelled.
pub(crate) fn cancelled(post: u64) -> Op {
    Op::Complete(Completion { post, from: None, tag: None, bytes: 0, void: true })
}
