//! Signal context: yes
//!
//! The registers of a caller by the rules of a frame description themselves: the exact but slow way.

use crate::arch::Arch;
use crate::entry::{Fde, Span};
use crate::expression::{self, Fault};
use crate::interpreter::{self, Columns};
use crate::memory::Memory;
use crate::registers::Registers;
use crate::row::{CfaRule, RegisterRule, Row, WIDTH};

/// Computes the registers of the caller of the frame whose code is at `lookup`, in place of what `caller` holds; says
/// whether there is a caller.
///
/// Registers whose value the rules do not give are unknown in the result.
#[inline(never)]
pub(crate) fn caller<A: Arch, M: Memory>(
    fde: &Fde<'_>,
    lookup: u64,
    registers: &Registers,
    memory: &mut M,
    caller: &mut Registers,
) -> Result<bool, Fault> {
    let Some((mut frame, _)) = Frame::new::<A>(fde, lookup, registers, memory)? else { return Ok(false) };
    caller.forget_all();
    for start in (0..A::COLUMNS).step_by(WIDTH) {
        let columns: Columns = [start, start + 1, start + 2];
        for (column, rule) in columns.into_iter().zip(row(fde, lookup, columns)?.rules) {
            match frame.value::<A>(column, rule)? {
                Some(value) if column < A::COLUMNS => caller.set(column, value),
                _ => {}
            }
        }
    }
    let address = A::strip(caller.get(A::RETURN).ok_or(Fault::Register)?);
    caller.set_pc(address);
    if A::LINKS {
        // The call has overwritten it.
        caller.forget(A::RETURN);
    }
    Ok(true)
}

/// Program counter, stack pointer and frame pointer of the caller, the latter two as far as the rules give them; `None` if
/// there is no caller. Of the whole register file there would have to be two on the stack.
pub(crate) fn pointers<A: Arch, M: Memory>(
    fde: &Fde<'_>,
    lookup: u64,
    registers: &Registers,
    memory: &mut M,
) -> Result<Option<Pointers>, Fault> {
    let Some((mut frame, [pc, fp, sp])) = Frame::new::<A>(fde, lookup, registers, memory)? else {
        return Ok(None);
    };
    let address = frame.value::<A>(A::RETURN, pc)?.ok_or(Fault::Register)?;
    let (sp, fp) = (frame.value::<A>(A::SP, sp)?, frame.value::<A>(A::FP, fp)?);
    Ok(Some(Pointers { pc: A::strip(address), sp, fp }))
}

/// The registers that a walk follows by default.
pub(crate) struct Pointers {
    pub(crate) pc: u64,
    pub(crate) sp: Option<u64>,
    pub(crate) fp: Option<u64>,
}

/// Of its own, so that the interpreter's room on the stack is given back before what follows needs some.
#[inline(never)]
fn row(fde: &Fde<'_>, lookup: u64, columns: Columns) -> Result<Row, Fault> {
    interpreter::row_at(fde, lookup, columns).map_err(|_| Fault::Unsupported)
}

struct Frame<'r, 'f, 'a, M> {
    fde: &'f Fde<'a>,
    cfa: u64,
    registers: &'r Registers,
    memory: &'r mut M,
}

impl<'r, 'f, 'a, M: Memory> Frame<'r, 'f, 'a, M> {
    /// The frame at `lookup` with the rules for return address, frame pointer and stack pointer; `None` if it has no caller.
    fn new<A: Arch>(
        fde: &'f Fde<'a>,
        lookup: u64,
        registers: &'r Registers,
        memory: &'r mut M,
    ) -> Result<Option<(Self, [RegisterRule; WIDTH])>, Fault> {
        if fde.cie.return_column != A::RETURN {
            return Err(Fault::Unsupported);
        }
        let row = row(fde, lookup, [A::RETURN, A::FP, A::SP])?;
        if row.rules[0] == RegisterRule::Undefined {
            return Ok(None);
        }
        let cfa = match row.cfa {
            CfaRule::Register(column, offset) => {
                registers.get(column).ok_or(Fault::Register)?.wrapping_add(offset as u64)
            }
            CfaRule::Expression(span) => expression::evaluate(bytes(fde, span), None, registers, memory)?,
            CfaRule::Undefined => return Err(Fault::Unsupported),
        };
        Ok(Some((Frame { fde, cfa, registers, memory }, row.rules)))
    }

    fn value<A: Arch>(&mut self, column: u16, rule: RegisterRule) -> Result<Option<u64>, Fault> {
        let value = match rule {
            RegisterRule::Unspecified if column == A::SP => self.cfa,
            RegisterRule::Unspecified if column == A::RETURN && A::LINKS => {
                return Ok(self.registers.get(column));
            }
            RegisterRule::Unspecified => {
                let kept = 1u32.checked_shl(u32::from(column)).is_some_and(|bit| A::CALLEE_SAVED & bit != 0);
                return Ok(if kept { self.registers.get(column) } else { None });
            }
            RegisterRule::Undefined => return Ok(None),
            RegisterRule::SameValue => return Ok(self.registers.get(column)),
            RegisterRule::Register(other) => return Ok(self.registers.get(other)),
            RegisterRule::Offset(offset) => self.read(self.cfa.wrapping_add(offset as u64))?,
            RegisterRule::ValueOffset(offset) => self.cfa.wrapping_add(offset as u64),
            RegisterRule::Expression(span) => {
                let address = self.evaluate(span)?;
                self.read(address)?
            }
            RegisterRule::ValueExpression(span) => self.evaluate(span)?,
        };
        Ok(Some(value))
    }

    fn read(&mut self, address: u64) -> Result<u64, Fault> {
        self.memory.read(address).ok_or(Fault::Read)
    }

    fn evaluate(&mut self, span: Span) -> Result<u64, Fault> {
        expression::evaluate(bytes(self.fde, span), Some(self.cfa), self.registers, self.memory)
    }
}

fn bytes<'a>(fde: &Fde<'a>, span: Span) -> &'a [u8] {
    fde.frames.section.bytes().get(span.start as usize..span.end as usize).unwrap_or(&[])
}
