//! Signal context: yes
//!
//! Code without a frame description (hand-written assembly, generated code, old linkage tables): one step out of it, if
//! the instructions around prove the step. Otherwise the path ends here; a caller is never guessed.

use core::ops::Range;

use crate::arch::{Arch, Call};
use crate::cursor::{Cursor, Origin};
use crate::memory::Memory;
use crate::module::{Location, Module};
use crate::modules::Modules;
use crate::registers::Registers;
use crate::section::Section;

/// Longest stretch of code without descriptions that is taken for one function's surroundings, in bytes.
const REACH: u64 = 1 << 20;
/// Bytes between stack pointer and frame pointer that are looked through at most.
const SPILLED: u64 = 1 << 11;

/// The caller found for a frame without description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafStep {
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    /// The caller's frame pointer if it differs from the leaf's.
    pub(crate) fp: Option<u64>,
    /// Whether the call's target shows that the leaf was called there. If not, the call named no target and the next
    /// frame has to bear it out, see [`is_called_from`].
    pub(crate) proved: bool,
}

impl LeafStep {
    /// The caller's registers. A function that has not touched its stack has not touched what it would have to save
    /// there either; of one with a frame, only the frame pointer can be told.
    pub(crate) fn apply<A: Arch>(&self, registers: &Registers, caller: &mut Registers) {
        caller.forget_all();
        caller.set_pc(self.pc);
        if self.fp.is_none() {
            let kept = (0..A::COLUMNS).filter(|column| A::CALLEE_SAVED >> column & 1 != 0);
            for column in kept {
                if let Some(value) = registers.get(column) {
                    caller.set(column, value);
                }
            }
        }
        if let Some(fp) = self.fp {
            caller.set(A::FP, fp);
        }
        caller.set(A::SP, self.sp);
        if !A::LINKS {
            caller.set(A::RETURN, self.pc);
        }
    }
}

/// Finds the caller of the frame at `cursor`, whose module, if it has one, has no description for it.
pub(crate) fn step<A: Arch, S: Modules, M: Memory>(
    cursor: &Cursor,
    link: Option<u64>,
    modules: &S,
    memory: &mut M,
) -> Option<LeafStep> {
    if cursor.origin != Origin::Call
        && let Some((pc, sp)) = A::leaf(cursor.sp, link, memory)
        && let reach = reach_of_leaf(cursor.pc, modules)
        && let Some(proved) = evidence::<A, S, M>(pc, &reach, modules, memory).proves()
    {
        return Some(LeafStep { pc, sp, fp: None, proved });
    }
    framed::<A, S, M>(cursor, modules, memory)
}

/// The caller by the frame pointer, if the code has set it up in the usual way.
///
/// In code that uses the register otherwise it still holds the frame of an outer function. The return address to that
/// function, or to whatever lies between, would then stand between stack pointer and frame pointer; so no word there may
/// follow a call.
fn framed<A: Arch, S: Modules, M: Memory>(cursor: &Cursor, modules: &S, memory: &mut M) -> Option<LeafStep> {
    let (sp, fp) = (cursor.sp, cursor.fp);
    // A link register is saved at the bottom of the frame or at its top, which only a description could tell.
    if A::LINKS || fp & 7 != 0 || fp < sp || fp - sp > SPILLED {
        return None;
    }
    let pc = A::strip(memory.read(fp.checked_add(8)?)?);
    let outer_fp = memory.read(fp)?;
    let reach = reach(cursor.lookup(), modules);
    let proved = evidence::<A, S, M>(pc, &reach, modules, memory).proves()?;
    let mut slot = fp;
    while slot >= sp.saturating_add(8) {
        slot -= 8;
        let word = memory.read(slot)?;
        let on_stack = sp <= word && word <= fp;
        if !on_stack && may_be_return::<A, S, M>(word, modules, memory) {
            return None;
        }
    }
    Some(LeafStep { pc, sp: fp.checked_add(16)?, fp: Some(outer_fp), proved })
}

/// Whether the call before `address` can have called the function around `callee_pc`: directly, through a linkage table
/// entry, or indirectly.
pub(crate) fn is_called_from<A: Arch, S: Modules, M: Memory>(
    callee_pc: u64,
    address: u64,
    modules: &S,
    memory: &mut M,
) -> bool {
    let reach = reach_of_frame(callee_pc, modules);
    evidence::<A, S, M>(address, &reach, modules, memory) != Evidence::None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    None,
    Indirect,
    Target,
}

impl Evidence {
    /// Whether the evidence is enough by itself; `None` if there is none.
    fn proves(self) -> Option<bool> {
        match self {
            Self::None => None,
            Self::Indirect => Some(false),
            Self::Target => Some(true),
        }
    }
}

/// What the bytes before `address` say of a call to code in `reach`.
///
/// This and what follows are functions of their own, so that the room that modules and descriptions take on the stack is
/// given back.
#[inline(never)]
fn evidence<A: Arch, S: Modules, M: Memory>(
    address: u64,
    reach: &Range<u64>,
    modules: &S,
    memory: &mut M,
) -> Evidence {
    let module = modules.known(address.wrapping_sub(1));
    let call = match &module {
        Some(module) => A::call_before(&module.code, address),
        None => unknown_call::<A, M>(address, memory),
    };
    let id = |address| modules.known(address).map(|module| module.id);
    match call.direct {
        Some(target) if reach.contains(&target) && id(target) == id(reach.end - 1) => Evidence::Target,
        // The entry of a linkage table is as good as an indirect call: it may lead anywhere.
        Some(target) if is_stub::<A, M>(module.as_ref(), target, memory) => Evidence::Indirect,
        _ if call.indirect => Evidence::Indirect,
        _ => Evidence::None,
    }
}

/// Whether a word of the stack can be a return address.
#[inline(never)]
fn may_be_return<A: Arch, S: Modules, M: Memory>(word: u64, modules: &S, memory: &mut M) -> bool {
    let call = match modules.known(word.wrapping_sub(1)) {
        // Code that must not be read may hold a call anywhere.
        Some(module) if module.code.bytes().is_empty() => return true,
        Some(module) => A::call_before(&module.code, word),
        None => unknown_call::<A, M>(word, memory),
    };
    call != Call::default()
}

/// The call before an address that belongs to no module that is known.
fn unknown_call<A: Arch, M: Memory>(address: u64, memory: &mut M) -> Call {
    code_before(address, memory)
        .map_or_else(Call::default, |(start, bytes)| A::call_before(&Section::new(start, &bytes), address))
}

/// The eight bytes before `address` and where they begin, by reads of whole words.
fn code_before<M: Memory>(address: u64, memory: &mut M) -> Option<(u64, [u8; 8])> {
    let start = address.checked_sub(8)?;
    let (word, shift) = (start & !7, 8 * (start & 7));
    let low = memory.read(word)? >> shift;
    let high = if shift == 0 { 0 } else { memory.read(word.checked_add(8)?)? << (64 - shift) };
    Some((start, (low | high).to_le_bytes()))
}

/// Whether the code at the target of a call, in the caller's module if that is known, is an entry of a linkage table.
fn is_stub<A: Arch, M: Memory>(module: Option<&Module<'_>>, target: u64, memory: &mut M) -> bool {
    match module {
        Some(module) => module.contains(target) && A::is_jump_stub(&module.code, target),
        None => target
            .checked_add(8)
            .and_then(|end| code_before(end, memory))
            .is_some_and(|(start, bytes)| A::is_jump_stub(&Section::new(start, &bytes), target)),
    }
}

/// The addresses that a call into the function around the return address `pc` can have had as target.
#[inline(never)]
fn reach_of_frame<S: Modules>(pc: u64, modules: &S) -> Range<u64> {
    let lookup = pc.wrapping_sub(1);
    match locate(modules.find(lookup), lookup) {
        Some(Location { fde: Some(fde), .. }) => fde.start..pc,
        found => before(lookup, found),
    }
}

/// The addresses that a call into the function at `pc`, which no description covers, can have had as target.
#[inline(never)]
fn reach<S: Modules>(pc: u64, modules: &S) -> Range<u64> {
    before(pc, locate(modules.find(pc), pc))
}

/// The same for a function that is not known to have a frame of its own. Where nothing is described, only its first
/// address counts: any word may be left over from a call to a function before it.
#[inline(never)]
fn reach_of_leaf<S: Modules>(pc: u64, modules: &S) -> Range<u64> {
    match modules.find(pc) {
        Some(module) if module.has_tables() => before(pc, locate(Some(module), pc)),
        _ => pc..pc.saturating_add(1),
    }
}

#[inline(always)]
fn locate(module: Option<Module<'_>>, pc: u64) -> Option<Location<'_>> {
    module?.locate(pc).ok()
}

/// From the end of the description before `pc`, unless that is far.
#[inline(always)]
fn before(pc: u64, found: Option<Location<'_>>) -> Range<u64> {
    let gap = found.map_or(0, |found| found.gap.start);
    gap.max(pc.saturating_sub(REACH))..pc.saturating_add(1)
}
