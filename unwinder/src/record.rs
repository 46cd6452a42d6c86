//! Signal context: yes
//!
//! What is remembered of a frame: where it was, and which words of the stack led to its caller.

use crate::arch::Arch;
use crate::cursor::{Cursor, Origin, Way};
use crate::memory::Memory;
use crate::walk::Frame;

/// In [`Record::second`]: the words are not known; or the frame pointer is unchanged, or saved, or the stack has been
/// realigned.
const UNKNOWN: u32 = 0;
const UNCHANGED: u32 = 1;
const SAVED: u32 = 2;
const REALIGNED: u32 = 3;
const KIND: u32 = 3;
/// In [`Record::second`]: the frame was interrupted, so `pc` is the instruction itself.
const INTERRUPTED: u32 = 4;

/// One frame of a walk. All zero is valid.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Record {
    /// The address that was looked up.
    pc: u64,
    sp: u64,
    fp: u64,
    /// From the stack pointer to the return address, or to the CFA of a realigned stack.
    first: u32,
    /// From the stack pointer to the saved frame pointer; the lowest three bits are flags.
    second: u32,
    /// What the code belongs to.
    module: u32,
    /// The caller's; beside the rest, since another page of cold memory would take as long as forty frames.
    pub(crate) mark: u32,
}

const _: () = assert!(size_of::<Record>() == 40);

impl Record {
    pub(crate) const EMPTY: Self = Self { pc: 0, sp: 0, fp: 0, first: 0, second: 0, module: 0, mark: 0 };

    /// The frame at `cursor` in code of this module, and the way to its caller. It has no mark.
    #[inline(always)]
    pub(crate) fn new(cursor: &Cursor, way: Way, module: u32) -> Self {
        let interrupted = if cursor.origin == Origin::Call { 0 } else { INTERRUPTED };
        let distance = |slot: u64| slot.wrapping_sub(cursor.sp);
        let (first, second, kind) = match way {
            Way::Saved { pc_slot, fp_slot: None, .. } => (distance(pc_slot), 0, UNCHANGED),
            Way::Saved { pc_slot, fp_slot: Some(fp_slot), .. } => {
                (distance(pc_slot), distance(fp_slot), SAVED)
            }
            Way::Realigned { cfa_slot } => (distance(cfa_slot), 0, REALIGNED),
            Way::Other => (0, 0, UNKNOWN),
        };
        // Ways that lead down the stack, far away or to odd places are rare, and can be walked again.
        let known = (first | second) & (u64::MAX << 32 | 7) == 0;
        let flags = if known { second as u32 | kind } else { UNKNOWN } | interrupted;
        let Cursor { sp, fp, .. } = *cursor;
        Self { pc: cursor.lookup(), sp, fp, first: first as u32, second: flags, module, mark: 0 }
    }

    /// The frame as it is given to callers.
    #[inline]
    pub(crate) fn frame(&self) -> Frame {
        Frame { pc: self.pc, module: self.module }
    }

    /// The stack pointer.
    #[inline]
    pub(crate) fn sp(&self) -> u64 {
        self.sp
    }

    /// Whether both are at the same place with the same registers.
    #[inline]
    pub(crate) fn is_same_frame(&self, other: &Self) -> bool {
        let registers = self.pc == other.pc && self.sp == other.sp && self.fp == other.fp;
        registers && (self.second ^ other.second) & INTERRUPTED == 0 && self.module == other.module
    }

    /// Whether the stack as it is now still leads from this frame to `caller`, to which it has led before.
    ///
    /// By a compact rule the way is a function of program counter, stack pointer and frame pointer, and the caller's
    /// registers are a function of the words that are read here.
    #[inline(always)]
    pub(crate) fn leads_to<A: Arch, M: Memory>(&self, caller: &Self, memory: &mut M) -> bool {
        // Most frames: a stack of a thousand is gone through at every sample, so each instruction counts.
        let kind = self.second & KIND;
        if (kind == UNCHANGED || kind == SAVED)
            && let Some(pc) = memory.read_near(self.first_slot())
        {
            if A::strip(pc) != caller.return_address() {
                return false;
            }
            if kind == UNCHANGED {
                return true;
            }
            if let Some(fp) = memory.read_near(self.second_slot()) {
                return fp == caller.fp;
            }
        }
        self.leads_far_to::<A, M>(caller, memory)
    }

    #[cold]
    #[inline(never)]
    fn leads_far_to<A: Arch, M: Memory>(&self, caller: &Self, memory: &mut M) -> bool {
        let mut returns_at = |slot| memory.read(slot).map(A::strip) == Some(caller.return_address());
        match self.second & KIND {
            UNCHANGED => returns_at(self.first_slot()),
            SAVED => returns_at(self.first_slot()) && memory.read(self.second_slot()) == Some(caller.fp),
            REALIGNED => {
                returns_at(A::return_slot(caller.sp, 0))
                    && memory.read(self.first_slot()) == Some(caller.sp)
                    && memory.read(self.fp) == Some(caller.fp)
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn first_slot(&self) -> u64 {
        self.sp.wrapping_add(u64::from(self.first))
    }

    #[inline(always)]
    fn second_slot(&self) -> u64 {
        self.sp.wrapping_add(u64::from(self.second & !(KIND | INTERRUPTED)))
    }

    /// Where the frame goes on, if it has called another.
    #[inline(always)]
    fn return_address(&self) -> u64 {
        self.pc.wrapping_add(1)
    }

    /// The cursor of a frame that another one has called.
    #[inline]
    pub(crate) fn as_caller(&self) -> Cursor {
        Cursor { pc: self.return_address(), sp: self.sp, fp: self.fp, origin: Origin::Call }
    }
}
