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

    /// The caller's cursor by a compact rule of a frame whose return address is on the stack.
    #[inline(always)]
    pub(crate) fn step<A: Arch, M: Memory>(self, shape: Shape, memory: &mut M) -> Result<Self, End> {
        let (cfa, slot) = match shape {
            Shape::Stack { cfa, slot } => (self.sp.wrapping_add(cfa), slot),
            Shape::Frame { cfa, slot } => (self.fp.wrapping_add(cfa), slot),
            Shape::Realigned { offset } => {
                let cfa = memory.read(self.fp.wrapping_add(offset as u64)).ok_or(End::BadRead)?;
                let fp = memory.read(self.fp).ok_or(End::BadRead)?;
                return Ok(self.caller(cfa, fp, self.read_return::<A, M>(cfa, 0, memory)?));
            }
            Shape::Stub { threshold } => {
                let pushed = if self.pc & 15 >= threshold { 8 } else { 0 };
                (self.sp.wrapping_add(8 + pushed), 0)
            }
            Shape::LinkSaved { cfa, slot } => {
                let cfa = self.sp.wrapping_add(cfa);
                let pc = memory.read(cfa.wrapping_add(slot as u64)).ok_or(End::BadRead)?;
                return Ok(self.caller(cfa, self.fp, A::strip(pc)));
            }
            _ => return Err(End::Unsupported),
        };
        let fp_slot = cfa.wrapping_add(slot as u64);
        let pc = self.read_return::<A, M>(cfa, fp_slot, memory)?;
        let fp = if slot == 0 { self.fp } else { memory.read(fp_slot).ok_or(End::BadRead)? };
        Ok(self.caller(cfa, fp, pc))
    }

    #[inline]
    fn read_return<A: Arch, M: Memory>(self, cfa: u64, fp_slot: u64, memory: &mut M) -> Result<u64, End> {
        memory.read(A::return_slot(cfa, fp_slot)).map(A::strip).ok_or(End::BadRead)
    }

    #[inline]
    fn caller(self, sp: u64, fp: u64, pc: u64) -> Self {
        Self { pc, sp, fp, origin: Origin::Call }
    }

    /// Whether `caller` can be this frame's caller: its stack pointer is aligned and further out. Only a function that
    /// keeps its return address in a register may have no frame at all, and only the innermost can.
    #[inline]
    pub(crate) fn advances_to<A: Arch>(&self, caller: &Self) -> bool {
        let frameless = A::LINKS && self.origin != Origin::Call && caller.sp == self.sp;
        caller.sp & (A::STACK_ALIGN - 1) == 0 && (caller.sp > self.sp || frameless)
    }
}
