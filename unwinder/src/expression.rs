//! Signal context: yes
//!
//! DWARF expressions, as far as call frame information uses them.

use crate::memory::Memory;
use crate::reader::Reader;
use crate::registers::Registers;
use crate::section::Section;

/// Depth of the evaluation stack.
const DEPTH: usize = 16;
/// Operations executed at most; branches can loop.
const STEPS: u32 = 256;

/// Why a register or a CFA could not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A word of the stack must not be read.
    Read,
    /// The value of a register is not known in this frame.
    Register,
    /// A rule or an operation that is not understood, or nonsense.
    Unsupported,
}

/// Evaluates `bytes` with `initial`, if any, on the stack.
pub(crate) fn evaluate<M: Memory>(
    bytes: &[u8],
    initial: Option<u64>,
    registers: &Registers,
    memory: &mut M,
) -> Result<u64, Fault> {
    let mut stack = Stack { values: [0; DEPTH], depth: 0 };
    if let Some(value) = initial {
        stack.push(value)?;
    }
    let mut reader = Reader::new(Section::new(0, bytes), 0);
    for _ in 0..STEPS {
        let Some(operation) = reader.u8() else { return stack.pop() };
        execute(operation, &mut reader, &mut stack, registers, memory)?;
    }
    Err(Fault::Unsupported)
}

struct Stack {
    values: [u64; DEPTH],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: u64) -> Result<(), Fault> {
        *self.values.get_mut(self.depth).ok_or(Fault::Unsupported)? = value;
        self.depth += 1;
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, Fault> {
        let value = self.pick(0)?;
        self.depth -= 1;
        Ok(value)
    }

    /// The value `below` places under the top.
    fn pick(&self, below: usize) -> Result<u64, Fault> {
        let place = below.checked_add(1).and_then(|distance| self.depth.checked_sub(distance));
        place.and_then(|place| self.values.get(place)).copied().ok_or(Fault::Unsupported)
    }
}

fn execute<M: Memory>(
    operation: u8,
    reader: &mut Reader<'_>,
    stack: &mut Stack,
    registers: &Registers,
    memory: &mut M,
) -> Result<(), Fault> {
    match operation {
        // deref, deref_size
        0x06 => {
            let address = stack.pop()?;
            stack.push(memory.read(address).ok_or(Fault::Read)?)
        }
        0x94 => {
            let size = u32::from(operand(reader.u8())?);
            let unused = 64u32.checked_sub(size.wrapping_mul(8)).filter(|bits| *bits < 64);
            let word = memory.read(stack.pop()?).ok_or(Fault::Read)?;
            stack.push(word & u64::MAX >> unused.ok_or(Fault::Unsupported)?)
        }
        // addr and constants
        0x03 | 0x0e | 0x0f => stack.push(operand(reader.u64())?),
        0x08 => stack.push(u64::from(operand(reader.u8())?)),
        0x09 => stack.push(i64::from(operand(reader.u8())? as i8) as u64),
        0x0a => stack.push(u64::from(operand(reader.u16())?)),
        0x0b => stack.push(i64::from(operand(reader.u16())? as i16) as u64),
        0x0c => stack.push(u64::from(operand(reader.u32())?)),
        0x0d => stack.push(i64::from(operand(reader.u32())? as i32) as u64),
        0x10 => stack.push(operand(reader.uleb())?),
        0x11 => stack.push(operand(reader.sleb())? as u64),
        0x30..=0x4f => stack.push(u64::from(operation - 0x30)),
        // breg, bregx
        0x70..=0x8f => push_register(u16::from(operation - 0x70), reader, stack, registers),
        0x92 => {
            let column = operand(reader.register())?;
            push_register(column, reader, stack, registers)
        }
        // dup, drop, over, pick, swap, rot
        0x12 => stack.push(stack.pick(0)?),
        0x13 => stack.pop().map(|_| ()),
        0x14 => stack.push(stack.pick(1)?),
        0x15 => stack.push(stack.pick(usize::from(operand(reader.u8())?))?),
        0x16 => {
            let (top, second) = (stack.pop()?, stack.pop()?);
            stack.push(top)?;
            stack.push(second)
        }
        0x17 => {
            let (top, second, third) = (stack.pop()?, stack.pop()?, stack.pop()?);
            stack.push(top)?;
            stack.push(third)?;
            stack.push(second)
        }
        // abs, neg, not, plus_uconst
        0x19 => unary(stack, |value| (value as i64).unsigned_abs()),
        0x1f => unary(stack, u64::wrapping_neg),
        0x20 => unary(stack, |value| !value),
        0x23 => {
            let constant = operand(reader.uleb())?;
            unary(stack, |value| value.wrapping_add(constant))
        }
        // skip, bra
        0x2f => jump(reader, true),
        0x28 => {
            let taken = stack.pop()? != 0;
            jump(reader, taken)
        }
        // nop
        0x96 => Ok(()),
        _ => binary(operation, stack),
    }
}

fn operand<T>(value: Option<T>) -> Result<T, Fault> {
    value.ok_or(Fault::Unsupported)
}

fn push_register(
    column: u16,
    reader: &mut Reader<'_>,
    stack: &mut Stack,
    registers: &Registers,
) -> Result<(), Fault> {
    let offset = operand(reader.sleb())?;
    let value = registers.get(column).ok_or(Fault::Register)?;
    stack.push(value.wrapping_add(offset as u64))
}

fn jump(reader: &mut Reader<'_>, taken: bool) -> Result<(), Fault> {
    let offset = operand(reader.u16())? as i16;
    if !taken {
        return Ok(());
    }
    let target = reader.position().checked_add_signed(isize::from(offset));
    operand(target.and_then(|target| reader.seek(target)))
}

fn unary(stack: &mut Stack, function: impl FnOnce(u64) -> u64) -> Result<(), Fault> {
    let value = stack.pop()?;
    stack.push(function(value))
}

fn binary(operation: u8, stack: &mut Stack) -> Result<(), Fault> {
    let (right, left) = (stack.pop()?, stack.pop()?);
    let signed = (left as i64, right as i64);
    let value = match operation {
        0x1a => left & right,
        0x1b => operand(signed.0.checked_div(signed.1))? as u64,
        0x1c => left.wrapping_sub(right),
        0x1d => operand(left.checked_rem(right))?,
        0x1e => left.wrapping_mul(right),
        0x21 => left | right,
        0x22 => left.wrapping_add(right),
        0x24 => u32::try_from(right).ok().and_then(|bits| left.checked_shl(bits)).unwrap_or(0),
        0x25 => u32::try_from(right).ok().and_then(|bits| left.checked_shr(bits)).unwrap_or(0),
        0x26 => (signed.0 >> right.min(63)) as u64,
        0x27 => left ^ right,
        0x29 => u64::from(left == right),
        0x2a => u64::from(signed.0 >= signed.1),
        0x2b => u64::from(signed.0 > signed.1),
        0x2c => u64::from(signed.0 <= signed.1),
        0x2d => u64::from(signed.0 < signed.1),
        0x2e => u64::from(left != right),
        _ => return Err(Fault::Unsupported),
    };
    stack.push(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::StackCopy;

    fn run(bytes: &[u8]) -> Result<u64, Fault> {
        let mut general = [0u64; 16];
        general[7] = 0x1000;
        let registers = Registers::x86_64(0x40_000b, general);
        evaluate(bytes, None, &registers, &mut StackCopy::new(0x1000, &[0x1122_3344_5566_7788, 5]))
    }

    #[test]
    fn plt_expression() {
        assert_eq!(run(&[0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22]), Ok(0x1010));
        assert_eq!(run(&[0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3c, 0x2a, 0x33, 0x24, 0x22]), Ok(0x1008));
    }

    #[test]
    fn operations() {
        let cases: &[(&[u8], u64)] = &[
            (&[0x77, 0x08, 0x06], 5),
            (&[0x77, 0x00, 0x94, 0x02], 0x7788),
            (&[0x09, 0xff], u64::MAX),
            (&[0x0b, 0xfe, 0xff], u64::MAX - 1),
            (&[0x0d, 0xfe, 0xff, 0xff, 0xff], u64::MAX - 1),
            (&[0x08, 9, 0x0a, 1, 0, 0x1c], 8),
            (&[0x0e, 1, 0, 0, 0, 0, 0, 0, 1, 0x20], 0xfeff_ffff_ffff_fffe),
            (&[0x11, 0x7f, 0x19], 1),
            (&[0x33, 0x1f], 3u64.wrapping_neg()),
            (&[0x31, 0x32, 0x33, 0x17, 0x1c], 1u64.wrapping_sub(2)),
            (&[0x31, 0x32, 0x16, 0x1c], 1),
            (&[0x31, 0x32, 0x14, 0x22], 3),
            (&[0x31, 0x32, 0x33, 0x15, 2, 0x22], 4),
            (&[0x39, 0x12, 0x1e], 81),
            (&[0x11, 0x78, 0x32, 0x1b], 4u64.wrapping_neg()),
            (&[0x39, 0x32, 0x1d], 1),
            (&[0x11, 0x78, 0x31, 0x26], 4u64.wrapping_neg()),
            (&[0x38, 0x31, 0x25], 4),
            (&[0x31, 0x10, 0x80, 0x01, 0x24], 0),
            (&[0x31, 0x28, 2, 0, 0x35, 0x36, 0x37], 7),
            (&[0x30, 0x28, 1, 0, 0x35, 0x36, 0x22], 11),
            (&[0x34, 0x35, 0x2d, 0x34, 0x35, 0x2c, 0x22, 0x35, 0x34, 0x2b, 0x22], 3),
            (&[0x34, 0x34, 0x29, 0x34, 0x35, 0x2e, 0x22, 0x31, 0x21, 0x33, 0x27], 0),
            (&[0x96, 0x92, 0x07, 0x10], 0x1010),
        ];
        for (bytes, value) in cases {
            assert_eq!(run(bytes), Ok(*value), "{bytes:x?}");
        }
    }

    #[test]
    fn faults() {
        assert_eq!(run(&[]), Err(Fault::Unsupported));
        assert_eq!(run(&[0x22]), Err(Fault::Unsupported));
        assert_eq!(run(&[0x31, 0x30, 0x1b]), Err(Fault::Unsupported), "division by zero");
        assert_eq!(run(&[0x31; 17]), Err(Fault::Unsupported), "depth");
        assert_eq!(run(&[0x2f, 0xfd, 0xff]), Err(Fault::Unsupported), "endless loop");
        assert_eq!(run(&[0x2f, 0xf0, 0xff]), Err(Fault::Unsupported), "jump out");
        assert_eq!(run(&[0x30, 0x06]), Err(Fault::Read));
        assert_eq!(run(&[0x77, 0x00, 0x94, 0x00]), Err(Fault::Unsupported));
        assert_eq!(run(&[0x77, 0x00, 0x94, 0x09]), Err(Fault::Unsupported));
        assert_eq!(run(&[0x92, 0x20, 0x00]), Err(Fault::Register));
        assert_eq!(run(&[0x50]), Err(Fault::Unsupported), "a register is not a value");
    }
}
