//! What items of the event log name by number.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A function of MPI that was called. The text is its name.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct FunctionRecord {
    /// Number in this file.
    pub number: u32,
    /// Zero.
    pub reserved: u32,
}

/// An ordered list of ranks. The text is the list, as [`super::Ranks`] reads it.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct GroupRecord {
    /// Number in this file, from 1.
    pub id: u32,
    /// How many ranks.
    pub size: u32,
    /// [`crate::sections::members_hash`] over the ranks in order, beginning with their number: equal in all processes.
    pub members: u64,
}

/// [`CommunicatorRecord::scope`] of a communicator.
pub const SCOPE_COMMUNICATOR: u32 = 0;
/// [`CommunicatorRecord::scope`] of a window.
pub const SCOPE_WINDOW: u32 = 1;

/// A communicator or window. Those with equal scope, members (for communicators between two groups: of both, in either order)
/// and ordinal are the same in all processes.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CommunicatorRecord {
    /// Number in this file, from 1; `MPI_COMM_WORLD` is the first.
    pub id: u32,
    /// [`SCOPE_COMMUNICATOR`] or [`SCOPE_WINDOW`].
    pub scope: u32,
    /// [`GroupRecord::id`] of the members.
    pub group: u32,
    /// [`GroupRecord::id`] of the other group of a communicator between two, else 0.
    pub others: u32,
    /// Which of them this process has made with these members, from 0.
    pub ordinal: u32,
    /// Which member this process is.
    pub rank: u32,
    /// Of a window: the communicator that made it. Else 0.
    pub parent: u32,
    /// Zero.
    pub reserved: u32,
}

/// Who is next to whom in a communicator. The text is a row of numbers ([`super::numbers`]): extent, 1 if periodic else 0,
/// and own coordinate of each dimension, then as many ranks as there are sources, then as many as there are destinations.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TopologyRecord {
    /// [`CommunicatorRecord::id`].
    pub communicator: u32,
    /// Dimensions of a Cartesian grid; 0 for a graph.
    pub dimensions: u32,
    /// Neighbours that this process gets from.
    pub sources: u32,
    /// Neighbours that it gives to.
    pub destinations: u32,
}

const _: () = assert!(size_of::<FunctionRecord>() == 8 && size_of::<GroupRecord>() == 16);
const _: () = assert!(size_of::<CommunicatorRecord>() == 32 && size_of::<TopologyRecord>() == 16);
