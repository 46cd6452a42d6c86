//! Signal context: yes
//!
//! What both ways to walk share: the number of frames so far, the rules and registers of the last one, and the checks
//! that every step has to pass. The ways themselves are in `fast` and `full`.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::compact;
use crate::cursor::{Cursor, Origin, Way};
use crate::entry::Fde;
use crate::expression::Fault;
use crate::leaf;
use crate::memory::Memory;
use crate::module::Extent;
use crate::modules::Modules;
use crate::path::Path;
use crate::registers::{Registers, Room};
use crate::rule::Rule;
use crate::walk::{End, NO_MODULE};

/// Frames that a walk goes through at most.
const FRAMES_MAX: usize = 1_000_000;
/// The same for one that carries all registers, each step of which takes some microseconds.
const FULL_FRAMES_MAX: usize = 20_000;
/// Signal frames that lead to lower addresses, of which a walk goes through no more: they may lead round in a circle.
const SWITCHES_MAX: usize = 16;

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
    /// Frames so far, and at most.
    depth: usize,
    limit: usize,
    /// Steps to lower addresses so far.
    switches: usize,
    /// The module of the last frame.
    module: Option<Extent>,
    /// If the step out of the last frame rests on the word of an indirect call: why the walk ends without it.
    to_prove: Option<End>,
    /// The number of frames up to such a step, until the frame it led to is borne out by that one's own caller.
    unproved: Option<(usize, End)>,
}

impl<'w, S: Modules, M: Memory> Walker<'w, S, M> {
    pub(crate) fn new(modules: &'w S, cache: &'w Cache<'w>, memory: &'w mut M) -> Self {
        Self {
            modules,
            cache,
            memory,
            depth: 0,
            limit: FRAMES_MAX,
            switches: 0,
            module: None,
            to_prove: None,
            unproved: None,
        }
    }

    /// Walks into `path`; yields the number of frames and why the walk ended.
    pub(crate) fn run<A: Arch, P: Path>(
        &mut self,
        registers: &Registers,
        room: &mut Room,
        path: &mut P,
    ) -> (usize, End) {
        let end = match self.fast::<A, P>(registers, path) {
            Some(end) => end,
            // An outer frame needs a register that only the whole register file, carried from the start, can give.
            None => {
                path.reset();
                (self.depth, self.limit, self.switches) = (0, FULL_FRAMES_MAX, 0);
                (self.to_prove, self.unproved) = (None, None);
                self.full::<A, P>(registers, room, path)
            }
        };
        match self.unproved {
            Some((proved, without)) if end != End::Root => {
                path.cut(self.depth.saturating_sub(proved));
                (self.depth.min(proved), without)
            }
            _ => (self.depth, end),
        }
    }

    /// The frame description of the last frame.
    pub(crate) fn fde(&self, lookup: u64) -> Result<Fde<'w>, End> {
        let module = self.modules.find(lookup).ok_or(End::NoModule)?;
        module.locate(lookup).ok().and_then(|location| location.fde).ok_or(End::NoCfi)
    }

    /// Finds the module and the compact rule for the code of a frame.
    #[inline(always)]
    pub(crate) fn look_up<A: Arch>(&mut self, lookup: u64) -> Rule {
        if !self.module.as_ref().is_some_and(|module| module.contains(lookup)) {
            self.module = self.modules.extent(lookup);
        }
        let Some(module) = &self.module else { return Rule::NO_CFI };
        match self.cache.get(lookup >> A::KEY_SHIFT) {
            Some(rule) => rule,
            None if module.closed => Rule::NO_CFI,
            None => self.find_rule::<A>(lookup),
        }
    }

    /// Puts the frame that was looked up last into `path`, with the way to its caller. Says whether an earlier walk knows
    /// how it goes on.
    #[inline(always)]
    pub(crate) fn enter<P: Path>(&mut self, cursor: &Cursor, way: Way, path: &mut P) -> Result<bool, End> {
        if self.depth >= self.limit {
            return Err(End::Truncated);
        }
        let module = self.module.as_ref().map_or(NO_MODULE, |module| module.id);
        let met = path.push(cursor, way, module)?;
        self.depth += 1;
        // A leaf step that is not borne out yet has to be looked at.
        Ok(met && self.unproved.is_none())
    }

    /// Goes on as an earlier walk did, as far as the stack is still the same.
    #[inline(never)]
    pub(crate) fn replay<A: Arch, P: Path>(&mut self, path: &mut P) -> Option<Cursor> {
        let (cursor, steps) = path.replay::<A, M>(self.memory, self.limit - self.depth)?;
        self.depth += steps;
        Some(cursor)
    }

    #[cold]
    #[inline(never)]
    fn find_rule<A: Arch>(&self, lookup: u64) -> Rule {
        let Some(module) = self.modules.find(lookup) else { return Rule::NO_CFI };
        let rule = compact::rule_at::<A>(&module, lookup);
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

    /// The caller of a frame whose code has no frame description, if it is certain.
    pub(crate) fn leaf<A: Arch>(
        &mut self,
        cursor: &Cursor,
        link: Option<u64>,
    ) -> Result<leaf::LeafStep, End> {
        let step = leaf::step::<A, S, M>(cursor, link, self.modules, self.memory);
        let without = if self.module.is_some() { End::NoCfi } else { End::NoModule };
        let step = step.ok_or(if self.memory.is_start(cursor.sp) { End::Root } else { without })?;
        self.to_prove = if step.proved { None } else { Some(without) };
        Ok(step)
    }

    /// The checks on a step from the last frame, at `cursor`, to `caller`.
    #[inline(always)]
    pub(crate) fn leave<A: Arch, P: Path>(
        &mut self,
        cursor: &Cursor,
        caller: &Cursor,
        path: &mut P,
    ) -> Result<(), End> {
        if caller.origin == Origin::Call {
            if !cursor.advances_to::<A>(caller) {
                return Err(End::NotAdvancing);
            }
        } else if caller.sp <= cursor.sp {
            // A handler may run on another stack than the code it has interrupted.
            self.switches += 1;
            if self.switches > SWITCHES_MAX {
                return Err(End::NotAdvancing);
            }
            path.switch_stack(self.depth);
        }
        if caller.pc == 0 {
            return Err(End::Root);
        }
        if self.unproved.is_some() || self.to_prove.is_some() {
            return self.prove::<A>(cursor, caller);
        }
        Ok(())
    }

    /// Ends the walk where a leaf step turns out not to be borne out.
    #[cold]
    #[inline(never)]
    fn prove<A: Arch>(&mut self, cursor: &Cursor, caller: &Cursor) -> Result<(), End> {
        if self.unproved.is_some()
            && !leaf::is_called_from::<A, S, M>(cursor.pc, caller.pc, self.modules, self.memory)
        {
            return Err(End::NoCfi);
        }
        self.unproved = self.to_prove.take().map(|without| (self.depth, without));
        Ok(())
    }
}
