//! Chunks: typed, versioned, length-prefixed pieces of the file. Readers skip types they do not know.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Length of [`ChunkHeader`].
pub const CHUNK_HEADER_LEN: usize = 32;
/// [`ChunkHeader::owner`] of a chunk that belongs to the whole process.
pub const NO_OWNER: u32 = u32::MAX;

/// Head of a chunk. A claimed chunk whose writer died before filling this in is all zero: kind 0.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug)]
#[repr(C)]
pub struct ChunkHeader {
    /// A [`Kind`] number.
    pub kind: u16,
    /// Version of this kind's layout, 1 now.
    pub version: u16,
    /// Ordinal of the thread that alone writes here, or [`NO_OWNER`].
    pub owner: u32,
    /// Length with this head, bytes, a multiple of 8. Written last but one, so 0 means "never begun".
    pub length: u64,
    /// Complete bytes after this head.
    pub used: u64,
    /// Nodes: bit `m` is set if each node carries a value of metric `m`. Other kinds: zero.
    pub metrics: u64,
}

const _: () = assert!(size_of::<ChunkHeader>() == CHUNK_HEADER_LEN);

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// Records about process, modules, metrics and threads ([`crate::records`]).
    Records = 1,
    /// Calling context tree nodes ([`crate::node`]).
    Nodes = 2,
    /// Reserved: timed samples that refer to node ids.
    Samples = 3,
    /// Calls of MPI, with the call paths that made them ([`crate::events`]).
    Events = 4,
    /// When each instance of a section began and ended ([`crate::sections::Instance`]).
    Instances = 5,
}

/// Layout version of every kind so far.
pub const CHUNK_VERSION: u16 = 1;
