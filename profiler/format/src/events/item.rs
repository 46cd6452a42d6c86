//! The items of an event log.

use crate::node::NodeId;

/// A rank that is not among those that began with the process: of a communicator that joins programs.
pub const UNKNOWN_RANK: u32 = u32::MAX;

/// One entry of a thread's log. Ranks are those of `MPI_COMM_WORLD`; communicators and windows are
/// [`super::CommunicatorRecord::id`].
///
/// Operations are numbered in the order in which the process began them, over all threads and from 0: `post`. A persistent
/// request begins a new one at each start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A call begins.
    Enter {
        /// [`super::FunctionRecord::number`].
        function: u16,
        /// Section that was open, [`crate::sections::SectionRecord::id`]; 0 for none.
        section: u16,
        /// Node of the call path, the function that was called innermost; [`NodeId::NONE`] if there was no room for it.
        context: NodeId,
        /// When, `CLOCK_MONOTONIC` ns.
        at_ns: u64,
    },
    /// It begins to send.
    Send {
        /// Number of the operation.
        post: u64,
        /// How it completes.
        mode: Mode,
        /// To whom.
        to: u32,
        /// With which tag.
        tag: i32,
        /// In which communicator.
        communicator: u32,
        /// How many bytes.
        bytes: u64,
    },
    /// It begins to receive.
    Receive {
        /// Number of the operation.
        post: u64,
        /// From whom; `None` for anybody.
        from: Option<u32>,
        /// With which tag; `None` for any.
        tag: Option<i32>,
        /// In which communicator.
        communicator: u32,
    },
    /// It enters a collective operation.
    Collective {
        /// Number of the operation.
        post: u64,
        /// What it is.
        operation: Operation,
        /// In which communicator, or of which window.
        communicator: u32,
        /// The how manieth of that communicator, as this process began them, from 0.
        sequence: u64,
        /// Who gives or gets, in operations where one does.
        root: Option<u32>,
        /// Bytes that this process gives.
        sent: u64,
        /// Bytes that it gets.
        received: u64,
    },
    /// A one-sided transfer.
    Transfer {
        /// What is done.
        kind: TransferKind,
        /// In which window.
        window: u32,
        /// With whose memory.
        target: u32,
        /// How many bytes.
        bytes: u64,
    },
    /// A window is synchronised by some of its members.
    Synchronise {
        /// The window.
        window: u32,
        /// How.
        how: Synchronisation,
    },
    /// An operation is complete.
    Complete {
        /// Its number.
        post: u64,
        /// What came, of receives that were not void; `None` as well if the library does not say.
        message: Option<Message>,
        /// It was cancelled or failed.
        void: bool,
    },
    /// The call ends.
    Leave {
        /// When, `CLOCK_MONOTONIC` ns.
        at_ns: u64,
    },
}

/// A message as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: u32,
    /// With which tag.
    pub tag: i32,
    /// How many bytes came.
    pub bytes: u64,
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$of])* $variant = $code,)* }

        impl $name {
            /// All of them, by their codes.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The one with this code.
            #[inline]
            pub fn from_code(code: u64) -> Option<$name> {
                match code {
                    $($code => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// How a send completes.
    Mode {
        /// As the library likes: at once if the message is small, else with the receive.
        Standard = 0,
        /// With the receive.
        Synchronous = 1,
        /// At once, into a buffer.
        Buffered = 2,
        /// As standard; the receive was there before.
        Ready = 3,
    }
}

#[expect(clippy::derivable_impls, reason = "the macro knows of no default")]
impl Default for Mode {
    fn default() -> Mode {
        Mode::Standard
    }
}

codes! {
    /// What a one-sided transfer does.
    TransferKind {
        /// Writes.
        Put = 0,
        /// Reads.
        Get = 1,
        /// Adds; also what reads as it adds.
        Accumulate = 2,
    }
}

codes! {
    /// What kind of collective operation.
    Operation {
        /// Nobody leaves before all have come.
        Barrier = 0,
        /// The root gives, all get the same.
        Broadcast = 1,
        /// The root gives each its part.
        Scatter = 2,
        /// All give, the root gets what they add up to.
        Reduce = 3,
        /// All give, the root gets all parts.
        Gather = 4,
        /// All give, all get what they add up to.
        AllReduce = 5,
        /// All give, all get all parts.
        AllGather = 6,
        /// Each gives each its part.
        AllToAll = 7,
        /// All give, each gets its part of what they add up to.
        ReduceScatter = 8,
        /// Each gets what those before it and itself gave.
        Scan = 9,
        /// Each gets what those before it gave.
        ExclusiveScan = 10,
        /// Each gives to and gets from its neighbours in the topology.
        Neighbours = 11,
        /// A communicator or window is made or given up by all together.
        Make = 12,
        /// All end a time of one-sided transfers together.
        Fence = 13,
        /// MPI begins.
        Initialise = 14,
        /// MPI ends.
        Finalise = 15,
    }
}

/// How a window is synchronised by some of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronisation {
    /// Opens the own memory to the members of a group, with how many they are.
    Post(u32),
    /// Begins transfers to the members of a group, with how many they are.
    Start(u32),
    /// Ends one's transfers.
    Complete,
    /// Waits until others' transfers have ended.
    Wait,
    /// Locks a target's memory, `exclusive` for oneself alone.
    Lock {
        /// Whose.
        target: u32,
        /// For oneself alone.
        exclusive: bool,
    },
    /// Unlocks a target's memory.
    Unlock(u32),
    /// Locks everybody's memory, shared.
    LockAll,
    /// Unlocks everybody's memory.
    UnlockAll,
    /// Waits until one's transfers to a target are done, or to all.
    Flush(Option<u32>),
}

impl Synchronisation {
    /// Code, and a number that belongs to it.
    pub(super) fn code(self) -> (u64, u64) {
        match self {
            Synchronisation::Post(members) => (0, members.into()),
            Synchronisation::Start(members) => (1, members.into()),
            Synchronisation::Complete => (2, 0),
            Synchronisation::Wait => (3, 0),
            Synchronisation::Lock { target, exclusive: false } => (4, target.into()),
            Synchronisation::Lock { target, exclusive: true } => (5, target.into()),
            Synchronisation::Unlock(target) => (6, target.into()),
            Synchronisation::LockAll => (7, 0),
            Synchronisation::UnlockAll => (8, 0),
            Synchronisation::Flush(Some(target)) => (9, target.into()),
            Synchronisation::Flush(None) => (10, 0),
        }
    }

    /// The other way round.
    pub(super) fn from_code(code: u64, number: u32) -> Option<Synchronisation> {
        Some(match code {
            0 => Synchronisation::Post(number),
            1 => Synchronisation::Start(number),
            2 => Synchronisation::Complete,
            3 => Synchronisation::Wait,
            4 => Synchronisation::Lock { target: number, exclusive: false },
            5 => Synchronisation::Lock { target: number, exclusive: true },
            6 => Synchronisation::Unlock(number),
            7 => Synchronisation::LockAll,
            8 => Synchronisation::UnlockAll,
            9 => Synchronisation::Flush(Some(number)),
            10 => Synchronisation::Flush(None),
            _ => return None,
        })
    }
}
