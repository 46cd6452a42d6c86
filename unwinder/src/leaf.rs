//! Signal context: yes
//!
//! Code without a frame description (hand-written assembly, generated code, old linkage tables): one step out of it, if
//! the instructions around prove the step. Otherwise the path ends here; a caller is never guessed.

use core::ops::Range;

use crate::arch::Arch;
use crate::memory::Memory;
use crate::module::{Location, Module};
use crate::modules::Modules;
use crate::registers::Registers;

/// Longest stretch of code without descriptions that is taken for one function's surroundings, in bytes.
const REACH: u64 = 1 << 20;

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

/// Finds the caller of the innermost frame at `pc`, whose module, if it has one, has no description for it.
pub(crate) fn step<A: Arch, S: Modules, M: Memory>(
    pc: u64,
    [sp, fp]: [u64; 2],
    link: Option<u64>,
    modules: &S,
    memory: &mut M,
) -> Option<LeafStep> {
    let reach = reach(pc, modules);
    let untouched = A::leaf(sp, link, memory);
    if let Some((address, caller_sp)) = untouched {
        let evidence = evidence::<A, S>(address, &reach, modules);
        if evidence != Evidence::None {
            let proved = evidence == Evidence::Target;
            return Some(LeafStep { pc: address, sp: caller_sp, fp: None, proved });
        }
    }
    // A frame pointer set up in the usual way. In code that uses the register otherwise it still holds the frame of an
    // outer function, so only the target of a direct call will do.
    if fp & 7 != 0 || fp < sp {
        return None;
    }
    let address = A::strip(memory.read(fp.checked_add(8)?)?);
    let outer_fp = memory.read(fp)?;
    let proved = evidence::<A, S>(address, &reach, modules) == Evidence::Target;
    if proved {
        Some(LeafStep { pc: address, sp: fp.checked_add(16)?, fp: Some(outer_fp), proved })
    } else {
        None
    }
}

/// Whether the call before `address` can have called the function around `callee_pc`: directly, through a linkage table
/// entry, or indirectly.
pub(crate) fn is_called_from<A: Arch, S: Modules>(callee_pc: u64, address: u64, modules: &S) -> bool {
    let callee = callee_pc.wrapping_sub(1);
    let Some(module) = modules.find(callee) else { return false };
    let Ok(Location { fde: Some(fde), .. }) = module.locate(callee) else { return false };
    evidence::<A, S>(address, &(fde.start..callee_pc), modules) != Evidence::None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    None,
    Indirect,
    Target,
}

/// What the bytes before `address` say of a call to code in `reach`.
fn evidence<A: Arch, S: Modules>(address: u64, reach: &Range<u64>, modules: &S) -> Evidence {
    let Some(module) = modules.find(address.wrapping_sub(1)) else { return Evidence::None };
    let call = A::call_before(&module.code, address);
    match call.direct {
        Some(target) if reach.contains(&target) => Evidence::Target,
        // The entry of a linkage table is as good as an indirect call: it may lead anywhere.
        Some(target) if is_stub::<A>(&module, target) => Evidence::Indirect,
        _ if call.indirect => Evidence::Indirect,
        _ => Evidence::None,
    }
}

fn is_stub<A: Arch>(module: &Module<'_>, target: u64) -> bool {
    module.contains(target) && A::is_jump_stub(&module.code, target)
}

/// The addresses that a call into the function at `pc` can have had as target: those closely before it that no
/// description covers either. In a module that describes nothing, that is only the function's first address.
fn reach<S: Modules>(pc: u64, modules: &S) -> Range<u64> {
    let module = modules.find(pc).filter(Module::has_tables);
    let gap = module.and_then(|module| module.locate(pc).ok()).map(|location| location.gap);
    let start = gap.map_or(pc, |gap| gap.start.max(pc.saturating_sub(REACH)));
    start..pc.saturating_add(1)
}
