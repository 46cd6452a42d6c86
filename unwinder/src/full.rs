//! Signal context: yes
//!
//! The exact but slow way to walk: by all rules of every frame, with all registers.

use core::mem;

use crate::arch::Arch;
use crate::cursor::{Cursor, Origin};
use crate::memory::Memory;
use crate::modules::Modules;
use crate::path::Path;
use crate::registers::{Registers, Room};
use crate::restore;
use crate::rule::Shape;
use crate::walk::End;
use crate::walker::Walker;

impl<S: Modules, M: Memory> Walker<'_, S, M> {
    /// Walks by all rules of every frame, carrying all registers.
    #[cold]
    #[inline(never)]
    pub(crate) fn full<A: Arch, P: Path>(&mut self, given: &Registers, room: &mut Room, path: &mut P) -> End {
        let [registers, caller] = &mut room.0;
        let (mut registers, mut caller) = (registers, caller);
        *registers = *given;
        let mut interrupted = true;
        loop {
            match self.full_step::<A, P>(registers, interrupted, caller, path) {
                Ok(by_signal) => interrupted = by_signal,
                Err(end) => return end,
            }
            mem::swap(&mut registers, &mut caller);
        }
    }

    /// Finds all registers of the caller, and says whether a signal has interrupted it.
    fn full_step<A: Arch, P: Path>(
        &mut self,
        registers: &Registers,
        interrupted: bool,
        caller: &mut Registers,
        path: &mut P,
    ) -> Result<bool, End> {
        let origin = if interrupted { Origin::Given } else { Origin::Call };
        let sp = registers.get(A::SP).ok_or(End::Unsupported)?;
        let cursor = Cursor { pc: registers.pc(), sp, fp: registers.get(A::FP).unwrap_or(0), origin };
        let lookup = cursor.lookup();
        let shape = self.look_up::<A>(lookup).shape();
        self.enter(&cursor, cursor.way::<A>(shape), path)?;
        let by_signal = match shape {
            Shape::Root => return Err(End::Root),
            Shape::Signal => {
                A::interrupted(sp, self.memory, caller).ok_or(End::BadRead)?;
                true
            }
            Shape::NoCfi => {
                let step = self.leaf::<A>(&cursor, registers.get(A::RETURN))?;
                step.apply::<A>(registers, caller);
                false
            }
            Shape::Unsupported => return Err(End::Unsupported),
            _ => self.by_rules::<A>(lookup, registers, caller)?,
        };
        let sp = caller.get(A::SP).ok_or(End::Unsupported)?;
        let origin = if by_signal { Origin::Given } else { Origin::Call };
        self.leave::<A, P>(&cursor, &Cursor { pc: caller.pc(), sp, fp: 0, origin }, path)?;
        Ok(by_signal)
    }

    /// By the description of the last frame. Not in line, where it would take stack while an unknown module is looked for.
    #[inline(never)]
    fn by_rules<A: Arch>(
        &mut self,
        lookup: u64,
        registers: &Registers,
        caller: &mut Registers,
    ) -> Result<bool, End> {
        let fde = self.fde(lookup)?;
        if !restore::caller::<A, M>(&fde, lookup, registers, self.memory, caller)? {
            return Err(End::Root);
        }
        Ok(fde.cie.signal)
    }
}
