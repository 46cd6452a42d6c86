//! Signal context: yes
//!
//! The walk: from the interrupted instruction out to the start of the thread, one frame after the other.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::path::Slice;
use crate::registers::{Registers, Room};
use crate::walker::Walker;

/// The module of a frame that belongs to none.
pub const NO_MODULE: u32 = u32::MAX;

/// One frame of a call path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The address to attribute the frame to: the instruction itself in the innermost frame and in one that a signal
    /// has interrupted, otherwise the return address minus one, which lies in the call.
    pub pc: u64,
    /// The [`id`](crate::Module::id) of its module, or [`NO_MODULE`].
    pub module: u32,
}

const _: () = assert!(size_of::<Frame>() == 16);

/// Why a walk ended. Everything but [`Root`](Self::Root) makes it a partial unwind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// The outermost frame: the start of the program, of the dynamic loader or of the thread.
    Root,
    /// The memory for frames is full, or there are too many: more than a million, or than 20,000 in a path that can only
    /// be followed with all registers.
    Truncated,
    /// The address of the last frame belongs to no module, and its caller is not certain.
    NoModule,
    /// No usable frame description for the last frame, and its caller is not certain.
    NoCfi,
    /// A word of the stack could not be read.
    BadRead,
    /// The caller's frame would not lie further out, or too many signal handlers are on stacks above those they have
    /// interrupted.
    NotAdvancing,
    /// A frame description that is well formed but not supported, or a register it needs is lost.
    Unsupported,
}

/// The outcome of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Number of frames written, the innermost first.
    pub depth: usize,
    /// Why it ended there.
    pub end: End,
}

/// Walks the stack from `registers` outwards and fills `frames`, the innermost first.
///
/// Safe in a signal handler: it allocates nothing, takes no lock, and reads the stack through `memory` only. `cache`
/// holds what earlier walks over the same `modules` have found.
pub fn walk<A: Arch, S: Modules, M: Memory>(
    registers: &Registers,
    modules: &S,
    cache: &Cache<'_>,
    memory: &mut M,
    frames: &mut [Frame],
) -> Walk {
    let mut path = Slice::new(frames);
    let (_, end) = Walker::new(modules, cache, memory).run::<A, _>(registers, &mut Room::new(), &mut path);
    Walk { depth: path.depth(), end }
}
