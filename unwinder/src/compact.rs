//! Signal context: yes
//!
//! From a frame description to a compact rule.

use crate::arch::Arch;
use crate::entry::{Fde, Span};
use crate::interpreter;
use crate::module::{Location, Module};
use crate::row::Row;
use crate::rule::{Rule, Shape};

/// Code after the entry point that is taken for the start-up stub if it has no frame description, in bytes.
const START_LENGTH: u64 = 64;
/// The same for the dynamic loader, whose stub calls the initialisers as well.
const LOADER_START_LENGTH: u64 = 256;

/// A row of the columns return address, frame pointer, stack pointer, and the description it comes from.
pub(crate) struct Described<'f, 'a> {
    pub(crate) fde: &'f Fde<'a>,
    pub(crate) row: Row,
}

impl<'a> Described<'_, 'a> {
    /// The bytes of an expression.
    pub(crate) fn bytes(&self, span: Span) -> &'a [u8] {
        self.fde.frames.section.bytes().get(span.start as usize..span.end as usize).unwrap_or(&[])
    }
}

/// The rule for the code at `pc`, which belongs to `module`.
pub(crate) fn rule_at<A: Arch>(module: &Module<'_>, pc: u64) -> Rule {
    Rule::pack_or_slow(shape_at::<A>(module, pc))
}

fn shape_at<A: Arch>(module: &Module<'_>, pc: u64) -> Shape {
    // A handler returns to the first byte of the trampoline, and addresses of callers are looked up one byte before.
    let trampoline = || is_signal_return::<A>(module, pc.wrapping_add(1));
    if A::LINKS && trampoline() {
        // The frame description of the kernel's trampoline on these processors leads to the link register.
        return Shape::Signal;
    }
    match module.locate(pc) {
        Ok(Location { fde: Some(fde), .. }) => {
            match interpreter::row_at(&fde, pc, [A::RETURN, A::FP, A::SP]) {
                Ok(_) if fde.cie.return_column != A::RETURN => Shape::Unsupported,
                Ok(row) => A::shape(&Described { fde: &fde, row }),
                Err(_) => Shape::NoCfi,
            }
        }
        Ok(_) if trampoline() => Shape::Signal,
        Ok(Location { gap, .. }) if gap.contains(&module.entry) && module.entry <= pc => {
            let length = if module.is_loader { LOADER_START_LENGTH } else { START_LENGTH };
            if pc - module.entry < length { Shape::Root } else { Shape::NoCfi }
        }
        _ => Shape::NoCfi,
    }
}

fn is_signal_return<A: Arch>(module: &Module<'_>, address: u64) -> bool {
    let Some(offset) = address.checked_sub(module.code.address()) else { return false };
    let Ok(offset) = usize::try_from(offset) else { return false };
    module.code.bytes().get(offset..).is_some_and(|code| code.starts_with(A::SIGNAL_RETURN))
}
