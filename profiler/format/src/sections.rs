//! Sections: phases that the program marks, on each thread nested, with how long they took and when.
//!
//! A section is a label, entered on a communicator while another section was open: [`SectionRecord`]. What a thread has
//! spent in it is a [`DwellRecord`], always; when each single [`Instance`] began and ended stands in chunks of
//! [`crate::chunk::Kind::Instances`], up to a number. [`CommunicatorRecord`] and [`CheckpointRecord`] tell whether all
//! members of a communicator made the same calls in the same order.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Sections that one process can tell apart; numbers begin at 1.
pub const SECTIONS_MAX: usize = 1023;
/// Bytes of a label with the zero byte that ends it; longer ones are cut.
pub const LABEL_LEN: usize = 64;
/// Section that `MPI_Init` opens and `MPI_Finalize` closes.
pub const MPI_MAIN: &str = "MPI_MAIN";
/// Calls of a communicator between two [`CheckpointRecord`]s.
pub const CHECKPOINT_EVERY: u64 = 1024;
/// [`SectionRecord::communicator`] of calls that name none.
pub const NO_COMMUNICATOR: u32 = 0;

/// A section, in every file that refers to it. The text is the label.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SectionRecord {
    /// Number that nodes and instances use, from 1.
    pub id: u32,
    /// Section in which it was entered, 0 for none.
    pub parent: u32,
    /// [`CommunicatorRecord::id`], or [`NO_COMMUNICATOR`].
    pub communicator: u32,
    /// Zero.
    pub reserved: u32,
}

/// What a thread has spent in a section, over all instances that have ended.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct DwellRecord {
    /// [`SectionRecord::id`].
    pub section: u32,
    /// Ordinal of the thread.
    pub owner: u32,
    /// Instances that it has begun.
    pub entered: u64,
    /// Instances that have ended.
    pub count: u64,
    /// Wall time from entry to exit, ns, summed.
    pub dwell_ns: u64,
    /// Of that, time in sections that the thread entered within.
    pub nested_ns: u64,
    /// Ended instances that found no room as [`Instance`].
    pub unlogged: u64,
}

/// A group of processes that enter sections together, as one of them sees it.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct CommunicatorRecord {
    /// Number in this file; [`NO_COMMUNICATOR`] for the calls that name none.
    pub id: u32,
    /// Number of members; 0 if not known.
    pub size: u32,
    /// Which member this process is.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Hash of the members' ranks among all processes, in order: equal for equal groups.
    pub members: u64,
    /// Calls that entered or left a section.
    pub events: u64,
    /// [`order_hash`] over these calls.
    pub order: u64,
    /// Sections that were left with sections of the same communicator still open within: so many were closed by that.
    pub unclosed: u64,
    /// Exits of a section that was not open.
    pub stray: u64,
    /// Entries that have no section of their own: too many sections or too deep.
    pub beyond: u64,
}

/// State of a communicator after a multiple of [`CHECKPOINT_EVERY`] calls.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CheckpointRecord {
    /// [`CommunicatorRecord::id`].
    pub communicator: u32,
    /// Zero.
    pub reserved: u32,
    /// Calls so far.
    pub events: u64,
    /// [`order_hash`] over them.
    pub order: u64,
}

/// Length of [`Instance`].
pub const INSTANCE_LEN: usize = 24;

/// One time that a thread, the owner of its chunk, was in a section.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instance {
    /// [`SectionRecord::id`].
    pub section: u16,
    /// [`INSTANCE_UNCLOSED`] and others.
    pub flags: u16,
    /// Which time it was, from 0: of the process in sections of a communicator, of the thread in others.
    pub number: u32,
    /// Entry, `CLOCK_MONOTONIC` ns.
    pub in_ns: u64,
    /// Exit, `CLOCK_MONOTONIC` ns.
    pub out_ns: u64,
}

/// The program did not leave it by itself.
pub const INSTANCE_UNCLOSED: u16 = 1;

const _: () = assert!(size_of::<Instance>() == INSTANCE_LEN);
const _: () = assert!(size_of::<SectionRecord>() == 16 && size_of::<DwellRecord>() == 48);
const _: () = assert!(size_of::<CommunicatorRecord>() == 64 && size_of::<CheckpointRecord>() == 24);

/// Hash of a label: eight bytes at a time, each mixed by a multiplication.
pub fn label_hash(label: &[u8]) -> u64 {
    let chunks = label.chunks_exact(8);
    let mut last = [0u8; 8];
    last.iter_mut().zip(chunks.remainder()).for_each(|(to, from)| *to = *from);
    let words = chunks.filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes);
    words.chain([u64::from_le_bytes(last)]).fold(label.len() as u64, mix)
}

/// The order of calls so far and one more: a section of this [`label_hash`] was entered or left.
///
/// ```
/// use falloff_format::sections::{label_hash, order_hash};
/// let (a, b) = (label_hash(b"a"), label_hash(b"b"));
/// let order = |calls: &[(u64, bool)]| calls.iter().fold(0, |order, (label, enters)| order_hash(order, *label, *enters));
/// assert_ne!(order(&[(a, true), (b, true)]), order(&[(b, true), (a, true)]));
/// assert_ne!(order(&[(a, true)]), order(&[(a, false)]));
/// ```
pub fn order_hash(order: u64, label: u64, enters: bool) -> u64 {
    mix(order, label.wrapping_add(u64::from(enters)))
}

/// One more member of a group, by its rank among all processes.
pub fn members_hash(members: u64, rank: u32) -> u64 {
    mix(members, u64::from(rank) + 1)
}

/// The finaliser of MurmurHash3, which lets every bit of both change every bit of the result.
fn mix(hash: u64, word: u64) -> u64 {
    let mut mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 32;
    mixed.wrapping_mul(0xd6e8_feb8_6659_fd93)
}
