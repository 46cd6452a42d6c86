//! Calling context tree nodes: (parent, frame, section) with exclusive values of some metrics.
//!
//! A node is a [`NodeKey`], then one word `u64` for each metric that its chunk's head names, in the order of the
//! metrics. Most nodes of a tree are callers, which no sample hits: they stand in chunks without values. The same key may
//! stand in several chunks; a reader adds up. A node's id is its place in the file divided by 8, so that parents, samples
//! and events can name a node of any chunk. Parents carry no values, or stand before their children.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Length of [`NodeKey`], the fixed part of a node.
pub const NODE_KEY_LEN: usize = 16;
/// Bits of [`Frame`] that hold the offset.
const OFFSET_BITS: u32 = 48;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;

/// Place of a node in the file, divided by 8. 0 is "no node": the parent of an outermost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Parent of outermost frames.
    pub const NONE: NodeId = NodeId(0);

    /// Id of the node at a byte offset of the file (a multiple of 8 below 32 GiB).
    pub fn from_offset(offset: u64) -> Option<NodeId> {
        (offset.is_multiple_of(8)).then(|| u32::try_from(offset / 8).ok().map(NodeId)).flatten()
    }

    /// Byte offset of the node in the file.
    pub fn offset(self) -> u64 {
        u64::from(self.0) * 8
    }
}

/// Module index (16 bits) and offset in that module (48 bits).
///
/// The offset is the ELF virtual address: run-time address minus load bias. For a caller it is the return
/// address minus one, so that it lies in the call instruction.
///
/// ```
/// use falloff_format::Frame;
/// let frame = Frame::new(3, 0x1234);
/// assert_eq!((frame.module(), frame.offset()), (3, 0x1234));
/// ```
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Frame(pub u64);

impl Frame {
    /// Module index and offset; the offset keeps its low 48 bits.
    pub const fn new(module: u16, offset: u64) -> Frame {
        Frame((module as u64) << OFFSET_BITS | offset & OFFSET_MASK)
    }

    /// A frame that is no code of a module.
    pub const fn pseudo(what: Pseudo) -> Frame {
        Frame::new(PSEUDO_MODULE, what as u64)
    }

    /// Index of the MODULE record; [`PSEUDO_MODULE`] for pseudo frames.
    pub const fn module(self) -> u16 {
        (self.0 >> OFFSET_BITS) as u16
    }

    /// Offset in the module.
    pub const fn offset(self) -> u64 {
        self.0 & OFFSET_MASK
    }

    /// Which pseudo frame this is, if it is one that this version knows.
    pub fn as_pseudo(self) -> Option<Pseudo> {
        (self.module() == PSEUDO_MODULE).then(|| Pseudo::from_code(self.offset())).flatten()
    }
}

/// Module index that stands for no module.
pub const PSEUDO_MODULE: u16 = 0;
/// Module index of code whose module found no place in the module table.
pub const UNLISTED_MODULE: u16 = u16::MAX;

/// Frames that are not code of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u64)]
pub enum Pseudo {
    /// Root of paths that could not be followed to their root.
    Partial = 1,
    /// Root of paths deeper than the sampler keeps; the innermost frames are there.
    Truncated = 2,
    /// Time of a thread that no sample covers: before its first and after its last.
    Unsampled = 3,
    /// Executable memory that belongs to no module.
    Anonymous = 4,
    /// Waits that no path is known of: by system calls that are not watched.
    Unwatched = 5,
    /// Stands for the middle of a path that is deeper than the sampler keeps.
    Folded = 6,
}

impl Pseudo {
    /// The pseudo frame with this code.
    pub fn from_code(code: u64) -> Option<Pseudo> {
        use Pseudo::{Anonymous, Folded, Partial, Truncated, Unsampled, Unwatched};
        [Partial, Truncated, Unsampled, Anonymous, Unwatched, Folded].into_iter().find(|p| *p as u64 == code)
    }

    /// How reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Pseudo::Partial => "[partial]",
            Pseudo::Truncated => "[truncated]",
            Pseudo::Unsampled => "[unsampled]",
            Pseudo::Anonymous => "[anon]",
            Pseudo::Unwatched => "[unwatched wait]",
            Pseudo::Folded => "[folded]",
        }
    }
}

/// Fixed part of a node. The values follow.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct NodeKey {
    /// Code or pseudo frame.
    pub frame: Frame,
    /// [`NodeId`] of the caller's node.
    pub parent: u32,
    /// Section that was open when what the node counts was sampled ([`crate::sections`]); 0 for none, and for callers.
    pub section: u16,
    /// Zero; for later minors.
    pub flags: u16,
}

const _: () = assert!(size_of::<NodeKey>() == NODE_KEY_LEN);

/// Bytes of a node in a chunk with these metrics (a bit for each).
///
/// ```
/// assert_eq!(falloff_format::node::node_len(0), 16);
/// assert_eq!(falloff_format::node::node_len(0b1011), 40);
/// ```
pub const fn node_len(metrics: u64) -> usize {
    NODE_KEY_LEN + 8 * metrics.count_ones() as usize
}
