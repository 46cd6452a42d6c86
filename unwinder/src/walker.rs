//! Signal context: yes
//!
//! What both ways to walk share: the frames written so far, the rules and registers of the last one, and the checks that
//! every step has to pass. The ways themselves are in `fast` and `full`.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::compact;
use crate::cursor::{Cursor, Origin};
use crate::entry::Fde;
use crate::expression::Fault;
use crate::leaf;
use crate::memory::Memory;
use crate::module::Module;
use crate::modules::Modules;
use crate::registers::Registers;
use crate::rule::{Rule, Shape};
use crate::walk::{End, Frame, NO_MODULE, Walk};

impl From<Fault> for End {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Read => Self::BadRead,
            Fault::Register | Fault::Unsupported => Self::Unsupported,
        }
    }
}

/// A walk under way.
pub(crate) struct Walker<'w, S, M> {
    modules: &'w S,
    cache: &'w Cache<'w>,
    pub(crate) memory: &'w mut M,
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

    /// The frame description of the last frame.
    pub(crate) fn fde(&self, lookup: u64) -> Result<Fde<'w>, End> {
        let module = self.module.as_ref().ok_or(End::NoModule)?;
        module.locate(lookup).ok().and_then(|location| location.fde).ok_or(End::NoCfi)
    }

    /// Begins again with no frame written.
    pub(crate) fn reset(&mut self) {
        self.depth = 0;
        self.unproved = None;
    }

    /// Writes a frame and finds its module.
    #[inline(always)]
    pub(crate) fn enter(&mut self, lookup: u64) -> Result<(), End> {
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
    pub(crate) fn shape<A: Arch>(&self, lookup: u64) -> Shape {
        let Some(module) = &self.module else { return Shape::NoCfi };
        match self.cache.get(lookup >> A::KEY_SHIFT) {
            Some(rule) => rule.shape(),
            None if module.closed => Shape::NoCfi,
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
    pub(crate) fn registers<A: Arch>(
        &mut self,
        cursor: &Cursor,
        given: &Registers,
        registers: &mut Registers,
    ) -> Result<(), End> {
        match cursor.origin {
            Origin::Given => *registers = *given,
            Origin::Signal(sp) => A::interrupted(sp, self.memory, registers).ok_or(End::BadRead)?,
            Origin::Call => {
                registers.set_pc(cursor.pc);
                registers.set(A::SP, cursor.sp);
                registers.set(A::FP, cursor.fp);
                if !A::LINKS {
                    registers.set(A::RETURN, cursor.pc);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn leaf<A: Arch>(
        &mut self,
        cursor: &Cursor,
        link: Option<u64>,
    ) -> Result<leaf::LeafStep, End> {
        let frame = [cursor.sp, cursor.fp];
        let step = leaf::step::<A, S, M>(cursor.pc, frame, link, self.modules, self.memory);
        let step = step.ok_or_else(|| self.no_rule())?;
        if !step.proved {
            self.unproved = Some(self.depth);
        }
        Ok(step)
    }

    pub(crate) fn no_rule(&self) -> End {
        if self.module.is_some() { End::NoCfi } else { End::NoModule }
    }

    /// Ends the walk at a return address of 0, or where a leaf step turns out not to be borne out.
    #[inline(always)]
    pub(crate) fn check<A: Arch>(&mut self, callee_pc: u64, pc: u64) -> Result<(), End> {
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

    pub(crate) fn finish(&self, end: End) -> Walk {
        match self.unproved {
            Some(depth) if end != End::Root => Walk { depth: depth.min(self.depth), end: End::NoCfi },
            _ => Walk { depth: self.depth, end },
        }
    }
}
