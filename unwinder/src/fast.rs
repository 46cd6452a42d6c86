//! Signal context: yes
//!
//! The usual way to walk: by compact rules, with three registers.

use crate::arch::Arch;
use crate::cursor::{Cursor, Origin, Way};
use crate::expression::Fault;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::path::Path;
use crate::registers::Registers;
use crate::restore::{self, Pointers};
use crate::rule::Shape;
use crate::walk::End;
use crate::walker::Walker;

/// Why a step leads nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Halt {
    /// The walk ends here.
    End(End),
    /// The walk has to begin again with all registers.
    Restart,
}

impl From<End> for Halt {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl<S: Modules, M: Memory> Walker<'_, S, M> {
    /// Walks by compact rules; `None` if the walk has to begin again with all registers.
    #[inline(always)]
    pub(crate) fn fast<A: Arch, P: Path>(&mut self, registers: &Registers, path: &mut P) -> Option<End> {
        let (Some(sp), Some(fp)) = (registers.get(A::SP), registers.get(A::FP)) else {
            return Some(End::Unsupported);
        };
        let mut cursor = Cursor { pc: registers.pc(), sp, fp, origin: Origin::Given };
        let mut entered = false;
        loop {
            let shape = self.look_up::<A>(cursor.lookup()).shape();
            let way = cursor.way::<A>(shape);
            if !entered {
                match self.enter(&cursor, way, path) {
                    Ok(false) => {}
                    Ok(true) => {
                        if let Some(outer) = self.replay::<A, P>(path) {
                            (cursor, entered) = (outer, true);
                            continue;
                        }
                    }
                    Err(end) => return Some(end),
                }
            }
            entered = false;
            match self.fast_step::<A, P>(&cursor, shape, way, registers, path) {
                Ok(caller) => cursor = caller,
                Err(Halt::End(end)) => return Some(end),
                Err(Halt::Restart) => return None,
            }
        }
    }

    #[inline(always)]
    fn fast_step<A: Arch, P: Path>(
        &mut self,
        cursor: &Cursor,
        shape: Shape,
        way: Way,
        given: &Registers,
        path: &mut P,
    ) -> Result<Cursor, Halt> {
        let caller = match way {
            Way::Other => self.rare_step::<A>(cursor, given, shape)?,
            _ => cursor.follow::<A, M>(way, self.memory)?,
        };
        self.leave::<A, P>(cursor, &caller, path)?;
        Ok(caller)
    }

    #[cold]
    #[inline(never)]
    fn rare_step<A: Arch>(
        &mut self,
        cursor: &Cursor,
        given: &Registers,
        shape: Shape,
    ) -> Result<Cursor, Halt> {
        match shape {
            Shape::Link { cfa } => {
                let link = self.link::<A>(cursor, given)?.ok_or(End::Unsupported)?;
                let sp = cursor.sp.wrapping_add(cfa);
                Ok(Cursor { pc: A::strip(link), sp, origin: Origin::Call, ..*cursor })
            }
            Shape::Signal => self.signal_step::<A>(cursor),
            Shape::Root => Err(Halt::End(End::Root)),
            Shape::NoCfi => {
                let link = if A::LINKS { self.link::<A>(cursor, given)? } else { None };
                let step = self.leaf::<A>(cursor, link)?;
                let fp = step.fp.unwrap_or(cursor.fp);
                Ok(Cursor { pc: step.pc, sp: step.sp, fp, origin: Origin::Call })
            }
            Shape::Slow => self.slow_step::<A>(cursor, given),
            _ => Err(Halt::End(End::Unsupported)),
        }
    }

    /// A step to what a signal has interrupted. Of its own, as what follows needs registers, which take up the stack.
    #[inline(never)]
    fn signal_step<A: Arch>(&mut self, cursor: &Cursor) -> Result<Cursor, Halt> {
        let mut registers = Registers::unknown(0);
        A::interrupted(cursor.sp, self.memory, &mut registers).ok_or(End::BadRead)?;
        match (registers.get(A::SP), registers.get(A::FP)) {
            (Some(sp), Some(fp)) => {
                Ok(Cursor { pc: registers.pc(), sp, fp, origin: Origin::Signal(cursor.sp) })
            }
            _ => Err(Halt::Restart),
        }
    }

    /// A step by the rules themselves, with the registers that are at hand.
    #[inline(never)]
    fn slow_step<A: Arch>(&mut self, cursor: &Cursor, given: &Registers) -> Result<Cursor, Halt> {
        let lookup = cursor.lookup();
        let mut registers = Registers::unknown(0);
        self.registers::<A>(cursor, given, &mut registers)?;
        let fde = self.fde(lookup)?;
        if fde.cie.signal {
            // All registers of the interrupted frame are needed, and they do not stand where they usually do.
            return Err(Halt::Restart);
        }
        match restore::pointers::<A, M>(&fde, lookup, &registers, self.memory) {
            Ok(Some(Pointers { pc, sp: Some(sp), fp: Some(fp) })) => {
                Ok(Cursor { pc, sp, fp, origin: Origin::Call })
            }
            Ok(Some(_)) => Err(Halt::Restart),
            Ok(None) => Err(Halt::End(End::Root)),
            Err(Fault::Register) if cursor.origin == Origin::Call => Err(Halt::Restart),
            Err(fault) => Err(Halt::End(fault.into())),
        }
    }

    /// The link register of the frame at `cursor`, if it is known.
    #[inline(never)]
    fn link<A: Arch>(&mut self, cursor: &Cursor, given: &Registers) -> Result<Option<u64>, End> {
        let mut registers = Registers::unknown(0);
        self.registers::<A>(cursor, given, &mut registers)?;
        Ok(registers.get(A::RETURN))
    }
}
