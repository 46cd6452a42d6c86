//! What calls of MPI do and where their arguments are.

use falloff_format::events::{Mode, Operation, TransferKind};

/// When what a call begins is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// When the call returns.
    Blocking,
    /// When the request in the last argument is found complete.
    Nonblocking,
    /// As often as the request in the last argument is started; before it come hints.
    Persistent,
}
/// Which requests a call looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one that it is given.
    One,
    /// All of an array.
    All,
    /// One of an array.
    Any,
    /// Some of an array.
    Some,
}

/// Where the arguments of a collective operation are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// communicator
    None,
    /// buffer, count, type, root, communicator
    Broadcast,
    /// (buffer, count, type) twice, root, communicator
    Scatter,
    /// (buffer, counts, displacements, type), (buffer, count, type), root, communicator
    Scatterv,
    /// (buffer, count, type) twice, root, communicator
    Gather,
    /// (buffer, count, type), (buffer, counts, displacements, type), root, communicator
    Gatherv,
    /// buffer, buffer, count, type, operation, root, communicator
    Reduce,
    /// buffer, buffer, count, type, operation, communicator
    AllReduce,
    /// buffer, buffer, counts, type, operation, communicator
    ReduceScatter,
    /// buffer, buffer, count, type, operation, communicator
    ReduceScatterBlock,
    /// (buffer, count, type) twice, communicator; each gives the same to all
    AllGather,
    /// (buffer, count, type), (buffer, counts, displacements, type), communicator
    AllGatherv,
    /// (buffer, count, type) twice, communicator; each gives each a part
    AllToAll,
    /// (buffer, counts, displacements, type) twice, communicator
    AllToAllv,
    /// (buffer, counts, displacements, types) twice, communicator
    AllToAllw,
}

/// What a new communicator knows of neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Nothing.
    None,
    /// What its parent knows.
    Inherited,
    /// A grid.
    Grid,
    /// A graph that all processes know.
    Graph,
    /// A graph of which each process knows its part.
    PartOfGraph,
}

/// What a call does and where its arguments are, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A call of which nothing but its times is noted.
    Plain,
    /// buffer, count, type, receiver, tag, communicator
    Send(Mode, Life),
    /// buffer, count, type, sender, tag, communicator, then status or request
    Receive(Life),
    /// buffer, count, type, message, then status or request
    MatchedReceive(Life),
    /// (buffer, count, type, receiver, tag), (buffer, count, type, sender, tag), communicator, then status or request
    Exchange(Life),
    /// buffer, count, type, receiver, tag, sender, tag, communicator, then status or request
    ExchangeInPlace(Life),
    /// buffer, partitions, count, type, receiver, tag, communicator, hints, request
    PartitionedSend,
    /// The same, of a receive.
    PartitionedReceive,
    /// Starts one or all of an array.
    Start(Which),
    /// request
    Free,
    /// request
    Cancel,
    /// sender, tag, communicator, status
    MatchedProbe,
    /// sender, tag, communicator, flag
    ProbeIf,
    /// sender, tag, communicator, flag, message, status
    MatchedProbeIf,
    /// Waits for requests.
    Wait(Which),
    /// Looks whether requests are complete.
    Test(Which),
    /// A collective operation.
    Collective(Operation, Layout, Life),
    /// Makes a communicator of the one at `parent`, by all of its members or by those of the new one only (`apart`).
    Make {
        /// Place of the communicator.
        parent: usize,
        /// Place of a pointer to the new one.
        new: usize,
        /// What it knows of neighbours.
        neighbours: Neighbours,
        /// Not all members of the parent take part.
        apart: bool,
        /// A request is next to `new`.
        is_nonblocking: bool,
    },
    /// Gives up the communicator at a pointer.
    Unmake,
    /// Makes a window: places of the communicator and of a pointer to the window.
    MakeWindow(usize, usize),
    /// Gives up the window at a pointer.
    UnmakeWindow,
    /// Places of target, count (none: one element) and type, and of the window.
    Transfer(TransferKind, usize, Option<usize>, usize, usize),
    /// Synchronises a window.
    Synchronise(Way),
    /// MPI begins.
    Initialise,
    /// MPI ends.
    Finalise,
}

/// How a window is synchronised, with the places of the arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// assertion, window
    Fence,
    /// group, assertion, window
    Post,
    /// group, assertion, window
    Start,
    /// window
    Complete,
    /// window
    Wait,
    /// window, flag
    Test,
    /// kind, target, assertion, window
    Lock,
    /// target, window
    Unlock,
    /// assertion, window
    LockAll,
    /// window
    UnlockAll,
    /// target, window
    Flush,
    /// window
    FlushAll,
}
