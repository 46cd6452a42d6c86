//! Signal context: yes
//!
//! The two loops behind a walk: by compact rules and three registers, and by all rules and all registers.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::compact;
use crate::cursor::{Cursor, Origin};
use crate::expression::Fault;
use crate::leaf;
use crate::memory::Memory;
use crate::module::Module;
use crate::modules::Modules;
use crate::registers::Registers;
use crate::restore;
use crate::rule::{Rule, Shape};
use crate::walk::{End, Frame, NO_MODULE, Walk};

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

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::End(match fault {
            Fault::Read => End::BadRead,
            Fault::Register | Fault::Unsupported => End::Unsupported,
        })
    }
}

pub(crate) struct Walker<'w, S, M> {
    modules: &'w S,
    cache: &'w Cache<'w>,
    memory: &'w mut M,
    frames: &'w mut [Frame],
    depth: usize,
    /// The module of the last frame.
    module: Option<Module<'w>>,
    /// The frame that a leaf step led to on the word of an indirect call, until its own caller bears it out.
    unproved: Option<usize>,
}

impl<'w, S: Modules, M: Memory> Walker<'w, S, M> {
    pub(crate) fn new(
        modules: &'w S,
        cache: &'w Cache<'w>,
        memory: &'w mut M,
        frames: &'w mut [Frame],
    ) -> Self {
        Self { modules, cache, memory, frames, depth: 0, module: None, unproved: None }
    }

    /// Walks by compact rules; `None` if the walk has to begin again with all registers.
    pub(crate) fn fast<A: Arch>(&mut self, registers: &Registers) -> Option<Walk> {
        let (Some(sp), Some(fp)) = (registers.get(A::SP), registers.get(A::FP)) else {
            return Some(Walk { depth: 0, end: End::Unsupported });
        };
        let mut cursor = Cursor { pc: registers.pc(), sp, fp, origin: Origin::Given };
        loop {
            match self.fast_step::<A>(&cursor, registers) {
                Ok(caller) => cursor = caller,
                Err(Halt::End(end)) => return Some(self.finish(end)),
                Err(Halt::Restart) => return None,
            }
        }
    }

    /// Walks by all rules of every frame, carrying all registers.
    pub(crate) fn full<A: Arch>(&mut self, mut registers: Registers) -> Walk {
        self.depth = 0;
        self.unproved = None;
        let mut interrupted = true;
        loop {
            match self.full_step::<A>(&registers, interrupted) {
                Ok((caller, by_signal)) => (registers, interrupted) = (caller, by_signal),
                Err(Halt::End(end)) => return self.finish(end),
                Err(Halt::Restart) => return self.finish(End::Unsupported),
            }
        }
    }

    #[inline(always)]
    fn fast_step<A: Arch>(&mut self, cursor: &Cursor, given: &Registers) -> Result<Cursor, Halt> {
        let lookup = cursor.lookup();
        self.enter(lookup)?;
        let shape = self.shape::<A>(lookup);
        let caller = match shape {
            Shape::Stack { .. }
            | Shape::Frame { .. }
            | Shape::Realigned { .. }
            | Shape::Stub { .. }
            | Shape::LinkSaved { .. } => cursor.step::<A, M>(shape, self.memory)?,
            _ => self.rare_step::<A>(cursor, given, shape)?,
        };
        // A handler may run on another stack than the code it has interrupted.
        if caller.origin == Origin::Call && !cursor.advances_to::<A>(&caller) {
            return Err(Halt::End(End::NotAdvancing));
        }
        self.check::<A>(cursor.pc, caller.pc)?;
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
                let link = self.registers::<A>(cursor, given)?.get(A::RETURN).ok_or(End::Unsupported)?;
                let sp = cursor.sp.wrapping_add(cfa);
                Ok(Cursor { pc: A::strip(link), sp, origin: Origin::Call, ..*cursor })
            }
            Shape::Signal => {
                let registers = A::interrupted(cursor.sp, self.memory).ok_or(End::BadRead)?;
                cursor_of::<A>(&registers, Origin::Signal(cursor.sp))
            }
            Shape::Root => Err(Halt::End(End::Root)),
            Shape::NoCfi if cursor.origin != Origin::Call => {
                let link = self.registers::<A>(cursor, given)?.get(A::RETURN);
                let step = self.leaf::<A>(cursor, link)?;
                let fp = step.fp.unwrap_or(cursor.fp);
                Ok(Cursor { pc: step.pc, sp: step.sp, fp, origin: Origin::Call })
            }
            Shape::NoCfi => Err(Halt::End(self.no_rule())),
            Shape::Slow => self.slow_step::<A>(cursor, given),
            _ => Err(Halt::End(End::Unsupported)),
        }
    }

    /// A step by the rules themselves, with the registers that are at hand.
    fn slow_step<A: Arch>(&mut self, cursor: &Cursor, given: &Registers) -> Result<Cursor, Halt> {
        let lookup = cursor.lookup();
        let registers = self.registers::<A>(cursor, given)?;
        let module = self.module.as_ref().ok_or(End::NoModule)?;
        let fde = module.locate(lookup).ok().and_then(|location| location.fde).ok_or(End::NoCfi)?;
        if fde.cie.signal {
            // All registers of the interrupted frame are needed, and they do not stand where they usually do.
            return Err(Halt::Restart);
        }
        match restore::caller::<A, M>(&fde, lookup, &registers, self.memory) {
            Ok(Some(caller)) => cursor_of::<A>(&caller, Origin::Call),
            Ok(None) => Err(Halt::End(End::Root)),
            Err(Fault::Register) if cursor.origin == Origin::Call => Err(Halt::Restart),
            Err(fault) => Err(fault.into()),
        }
    }

    fn full_step<A: Arch>(
        &mut self,
        registers: &Registers,
        interrupted: bool,
    ) -> Result<(Registers, bool), Halt> {
        let origin = if interrupted { Origin::Given } else { Origin::Call };
        let sp = registers.get(A::SP).ok_or(End::Unsupported)?;
        let cursor = Cursor { pc: registers.pc(), sp, fp: registers.get(A::FP).unwrap_or(0), origin };
        let lookup = cursor.lookup();
        self.enter(lookup)?;
        let (caller, by_signal) = match self.shape::<A>(lookup) {
            Shape::Root => return Err(Halt::End(End::Root)),
            Shape::Signal => (A::interrupted(sp, self.memory).ok_or(End::BadRead)?, true),
            Shape::NoCfi if interrupted => {
                let step = self.leaf::<A>(&cursor, registers.get(A::RETURN))?;
                (step.apply::<A>(registers), false)
            }
            Shape::NoCfi => return Err(Halt::End(self.no_rule())),
            Shape::Unsupported => return Err(Halt::End(End::Unsupported)),
            _ => {
                let module = self.module.as_ref().ok_or(End::NoModule)?;
                let fde = module.locate(lookup).ok().and_then(|location| location.fde).ok_or(End::NoCfi)?;
                let caller = restore::caller::<A, M>(&fde, lookup, registers, self.memory)?;
                (caller.ok_or(End::Root)?, fde.cie.signal)
            }
        };
        let sp = caller.get(A::SP).ok_or(End::Unsupported)?;
        let next = Cursor { pc: caller.pc(), sp, fp: 0, origin: Origin::Call };
        if !by_signal && !cursor.advances_to::<A>(&next) {
            return Err(Halt::End(End::NotAdvancing));
        }
        self.check::<A>(cursor.pc, next.pc)?;
        Ok((caller, by_signal))
    }

    /// Writes a frame and finds its module.
    #[inline(always)]
    fn enter(&mut self, lookup: u64) -> Result<(), End> {
        let frame = self.frames.get_mut(self.depth).ok_or(End::Truncated)?;
        if !self.module.as_ref().is_some_and(|module| module.contains(lookup)) {
            self.module = self.modules.find(lookup);
        }
        let module = self.module.as_ref().map_or(NO_MODULE, |module| module.id);
        *frame = Frame { pc: lookup, module };
        self.depth += 1;
        Ok(())
    }

    /// What the compact rule of the last frame says.
    #[inline(always)]
    fn shape<A: Arch>(&self, lookup: u64) -> Shape {
        let Some(module) = &self.module else { return Shape::NoCfi };
        match self.cache.get(lookup >> A::KEY_SHIFT) {
            Some(rule) => rule.shape(),
            None => self.find_rule::<A>(module, lookup).shape(),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_rule<A: Arch>(&self, module: &Module<'_>, lookup: u64) -> Rule {
        let rule = compact::rule_at::<A>(module, lookup);
        self.cache.put(lookup >> A::KEY_SHIFT, rule);
        rule
    }

    /// The registers of the frame at `cursor`, as far as they can be had without a walk from the start.
    fn registers<A: Arch>(&mut self, cursor: &Cursor, given: &Registers) -> Result<Registers, End> {
        match cursor.origin {
            Origin::Given => Ok(*given),
            Origin::Signal(sp) => A::interrupted(sp, self.memory).ok_or(End::BadRead),
            Origin::Call => {
                let mut registers = Registers::unknown(cursor.pc);
                registers.set(A::SP, cursor.sp);
                registers.set(A::FP, cursor.fp);
                if !A::LINKS {
                    registers.set(A::RETURN, cursor.pc);
                }
                Ok(registers)
            }
        }
    }

    fn leaf<A: Arch>(&mut self, cursor: &Cursor, link: Option<u64>) -> Result<leaf::LeafStep, End> {
        let frame = [cursor.sp, cursor.fp];
        let step = leaf::step::<A, S, M>(cursor.pc, frame, link, self.modules, self.memory);
        let step = step.ok_or_else(|| self.no_rule())?;
        if !step.proved {
            self.unproved = Some(self.depth);
        }
        Ok(step)
    }

    fn no_rule(&self) -> End {
        if self.module.is_some() { End::NoCfi } else { End::NoModule }
    }

    /// Ends the walk at a return address of 0, or where a leaf step turns out not to be borne out.
    #[inline(always)]
    fn check<A: Arch>(&mut self, callee_pc: u64, pc: u64) -> Result<(), End> {
        if pc == 0 {
            return Err(End::Root);
        }
        match self.unproved {
            Some(frame) if self.depth > frame => {
                if !leaf::is_called_from::<A, S>(callee_pc, pc, self.modules) {
                    return Err(End::NoCfi);
                }
                self.unproved = None;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&self, end: End) -> Walk {
        match self.unproved {
            Some(depth) if end != End::Root => Walk { depth: depth.min(self.depth), end: End::NoCfi },
            _ => Walk { depth: self.depth, end },
        }
    }
}

fn cursor_of<A: Arch>(registers: &Registers, origin: Origin) -> Result<Cursor, Halt> {
    match (registers.get(A::SP), registers.get(A::FP)) {
        (Some(sp), Some(fp)) => Ok(Cursor { pc: registers.pc(), sp, fp, origin }),
        _ => Err(Halt::Restart),
    }
}
