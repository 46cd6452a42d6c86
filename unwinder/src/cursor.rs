//! Signal context: yes
//!
//! A frame as the fast path sees it, and the step to its caller by a compact rule.

use crate::arch::Arch;
use crate::memory::Memory;
use crate::rule::Shape;
use crate::walk::End;

/// Where the registers of a frame that are not in the cursor can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere: the frame is that of a caller.
    Call,
    /// The frame is the innermost one: its registers were given.
    Given,
    /// A signal has interrupted it: its registers are in the signal frame at this address.
    Signal(u64),
}

/// Where the registers of a frame's caller stand, if a compact rule says it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// The stack pointer is `cfa`, the others are in these places; the frame pointer is unchanged if in none.
    Saved { cfa: u64, pc_slot: u64, fp_slot: Option<u64> },
    /// The stack pointer is in this place and the frame pointer where the frame pointer points.
    Realigned { cfa_slot: u64 },
    /// More work is needed.
    Other,
}

/// Three registers of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    pub(crate) fp: u64,
    pub(crate) origin: Origin,
}

impl Cursor {
    /// The address to look up: that of the interrupted instruction, or one inside the call.
    #[inline]
    pub(crate) fn lookup(&self) -> u64 {
        match self.origin {
            Origin::Call => self.pc.wrapping_sub(1),
            _ => self.pc,
        }
    }

    /// Where a compact rule says that the caller's registers stand.
    #[inline(always)]
    pub(crate) fn way<A: Arch>(&self, shape: Shape) -> Way {
        let (cfa, slot) = match shape {
            Shape::Stack { cfa, slot } => (self.sp.wrapping_add(cfa), slot),
            Shape::Frame { cfa, slot } => (self.fp.wrapping_add(cfa), slot),
            Shape::Realigned { offset } => {
                return Way::Realigned { cfa_slot: self.fp.wrapping_add(offset as u64) };
            }
            Shape::Stub { threshold } => {
                let pushed = if self.pc & 15 >= threshold { 8 } else { 0 };
                (self.sp.wrapping_add(8 + pushed), 0)
            }
            Shape::LinkSaved { cfa, slot } => {
                let cfa = self.sp.wrapping_add(cfa);
                return Way::Saved { cfa, pc_slot: cfa.wrapping_add(slot as u64), fp_slot: None };
            }
            _ => return Way::Other,
        };
        let fp_slot = cfa.wrapping_add(slot as u64);
        let pc_slot = A::return_slot(cfa, fp_slot);
        Way::Saved { cfa, pc_slot, fp_slot: if slot == 0 { None } else { Some(fp_slot) } }
    }

    /// The caller's cursor.
    #[inline(always)]
    pub(crate) fn follow<A: Arch, M: Memory>(self, way: Way, memory: &mut M) -> Result<Self, End> {
        let (cfa, pc_slot, fp_slot) = match way {
            Way::Saved { cfa, pc_slot, fp_slot } => (cfa, pc_slot, fp_slot),
            Way::Realigned { cfa_slot } => {
                let cfa = memory.read(cfa_slot).ok_or(End::BadRead)?;
                (cfa, A::return_slot(cfa, 0), Some(self.fp))
            }
            Way::Other => return Err(End::Unsupported),
        };
        let pc = memory.read(pc_slot).map(A::strip).ok_or(End::BadRead)?;
        let fp = match fp_slot {
            Some(slot) => memory.read(slot).ok_or(End::BadRead)?,
            None => self.fp,
        };
        Ok(Self { pc, sp: cfa, fp, origin: Origin::Call })
    }

    /// Whether `caller` can be this frame's caller: its stack pointer is aligned and further out. Only a function that
    /// keeps its return address in a register may have no frame at all, and only the innermost can.
    #[inline]
    pub(crate) fn advances_to<A: Arch>(&self, caller: &Self) -> bool {
        let frameless = A::LINKS && self.origin != Origin::Call && caller.sp == self.sp;
        caller.sp & (A::STACK_ALIGN - 1) == 0 && (caller.sp > self.sp || frameless)
    }
}
