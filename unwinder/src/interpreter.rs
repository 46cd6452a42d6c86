//! Signal context: yes
//!
//! Runs call frame instructions up to one address. Only [`WIDTH`] columns are followed at a time: a sample needs three,
//! and a row of all registers times the depth of remembered states would not fit a signal stack.

use crate::aarch64::Aarch64;
use crate::arch::Arch;
use crate::entry::{Fde, Span};
use crate::error::TableError;
use crate::reader::Reader;
use crate::row::{CfaRule, RegisterRule, Row, WIDTH};

/// Depth of `DW_CFA_remember_state`.
const STATES: usize = 8;
/// Instructions run for one row at most.
const STEPS: u32 = 1 << 17;

/// The register columns that a run follows.
pub(crate) type Columns = [u16; WIDTH];

/// The row of `fde` that holds at `pc`, for `columns`.
pub(crate) fn row_at(fde: &Fde<'_>, pc: u64, columns: Columns) -> Result<Row, TableError> {
    let mut states = [Row::EMPTY; STATES];
    let mut machine = Machine {
        fde,
        pc,
        columns,
        location: fde.start,
        row: Row::EMPTY,
        initial: Row::EMPTY,
        states: &mut states,
        depth: 0,
        steps: 0,
    };
    machine.run(fde.cie.instructions)?;
    machine.initial = machine.row;
    machine.location = fde.start;
    machine.run(fde.instructions)?;
    Ok(machine.row)
}

struct Machine<'f, 'a> {
    fde: &'f Fde<'a>,
    pc: u64,
    columns: Columns,
    location: u64,
    row: Row,
    initial: Row,
    states: &'f mut [Row; STATES],
    depth: usize,
    steps: u32,
}

impl<'a> Machine<'_, 'a> {
    /// Runs until the location passes `pc` or the instructions end.
    fn run(&mut self, instructions: Span) -> Result<(), TableError> {
        let mut reader = Reader::new(self.fde.frames.section, instructions.start as usize);
        reader.limit(instructions.end as usize).ok_or(TableError::OutOfBounds)?;
        while !reader.is_empty() && self.location <= self.pc {
            self.steps += 1;
            if self.steps > STEPS {
                return Err(TableError::TooLong);
            }
            let opcode = reader.u8().ok_or(TableError::OutOfBounds)?;
            let operand = opcode & 0x3f;
            match opcode >> 6 {
                1 => self.advance(u64::from(operand)),
                2 => {
                    let offset = self.unsigned_factored(&mut reader)?;
                    self.set(u16::from(operand), RegisterRule::Offset(offset));
                }
                3 => self.restore(u16::from(operand)),
                _ => self.extended(opcode, &mut reader)?,
            }
        }
        Ok(())
    }

    fn extended(&mut self, opcode: u8, reader: &mut Reader<'a>) -> Result<(), TableError> {
        match opcode {
            0x00 => {}
            0x01 => {
                let location = reader.pointer(self.fde.cie.encoding, self.fde.frames.base);
                self.location = location.ok_or(TableError::Encoding)?;
            }
            0x02 => self.advance(reader.u8().map(u64::from).ok_or(TableError::OutOfBounds)?),
            0x03 => self.advance(reader.u16().map(u64::from).ok_or(TableError::OutOfBounds)?),
            0x04 => self.advance(reader.u32().map(u64::from).ok_or(TableError::OutOfBounds)?),
            0x05 | 0x11 | 0x14 | 0x15 | 0x2f => self.offset_rule(opcode, reader)?,
            0x06 => {
                let column = register(reader)?;
                self.restore(column);
            }
            0x07 => self.set(register(reader)?, RegisterRule::Undefined),
            0x08 => self.set(register(reader)?, RegisterRule::SameValue),
            0x09 => {
                let column = register(reader)?;
                self.set(column, RegisterRule::Register(register(reader)?));
            }
            0x0a => {
                *self.states.get_mut(self.depth).ok_or(TableError::StateDepth)? = self.row;
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1).ok_or(TableError::StateDepth)?;
                self.row = *self.states.get(self.depth).ok_or(TableError::StateDepth)?;
            }
            0x0c..=0x0f | 0x12 | 0x13 => self.cfa_rule(opcode, reader)?,
            0x10 => {
                let column = register(reader)?;
                self.set(column, RegisterRule::Expression(block(reader)?));
            }
            0x16 => {
                let column = register(reader)?;
                self.set(column, RegisterRule::ValueExpression(block(reader)?));
            }
            // The state of return address signing on aarch64: addresses are stripped whether signed or not.
            0x2c | 0x2d if self.fde.cie.return_column == Aarch64::RETURN => {}
            // DW_CFA_GNU_args_size
            0x2e => {
                reader.uleb().ok_or(TableError::OutOfBounds)?;
            }
            _ => return Err(TableError::Instruction),
        }
        Ok(())
    }

    fn offset_rule(&mut self, opcode: u8, reader: &mut Reader<'a>) -> Result<(), TableError> {
        let column = register(reader)?;
        let rule = match opcode {
            0x05 => RegisterRule::Offset(self.unsigned_factored(reader)?),
            0x11 => RegisterRule::Offset(self.signed_factored(reader)?),
            0x14 => RegisterRule::ValueOffset(self.unsigned_factored(reader)?),
            0x15 => RegisterRule::ValueOffset(self.signed_factored(reader)?),
            _ => RegisterRule::Offset(self.unsigned_factored(reader)?.wrapping_neg()),
        };
        self.set(column, rule);
        Ok(())
    }

    fn cfa_rule(&mut self, opcode: u8, reader: &mut Reader<'a>) -> Result<(), TableError> {
        self.row.cfa = match (opcode, self.row.cfa) {
            (0x0c, _) => {
                let column = register(reader)?;
                CfaRule::Register(column, reader.uleb().ok_or(TableError::OutOfBounds)? as i64)
            }
            (0x12, _) => {
                let column = register(reader)?;
                CfaRule::Register(column, self.signed_factored(reader)?)
            }
            (0x0d, CfaRule::Register(_, offset)) => CfaRule::Register(register(reader)?, offset),
            (0x0e, CfaRule::Register(column, _)) => {
                CfaRule::Register(column, reader.uleb().ok_or(TableError::OutOfBounds)? as i64)
            }
            (0x13, CfaRule::Register(column, _)) => CfaRule::Register(column, self.signed_factored(reader)?),
            (0x0f, _) => CfaRule::Expression(block(reader)?),
            // A register or an offset is replaced where there is none.
            _ => return Err(TableError::Instruction),
        };
        Ok(())
    }

    fn advance(&mut self, delta: u64) {
        self.location = self.location.saturating_add(delta.saturating_mul(self.fde.cie.code_factor));
    }

    fn unsigned_factored(&self, reader: &mut Reader<'a>) -> Result<i64, TableError> {
        let value = reader.uleb().ok_or(TableError::OutOfBounds)? as i64;
        Ok(value.wrapping_mul(self.fde.cie.data_factor))
    }

    fn signed_factored(&self, reader: &mut Reader<'a>) -> Result<i64, TableError> {
        let value = reader.sleb().ok_or(TableError::OutOfBounds)?;
        Ok(value.wrapping_mul(self.fde.cie.data_factor))
    }

    fn set(&mut self, column: u16, rule: RegisterRule) {
        for (followed, slot) in self.columns.iter().zip(self.row.rules.iter_mut()) {
            if *followed == column {
                *slot = rule;
            }
        }
    }

    fn restore(&mut self, column: u16) {
        let initial = self.initial.rules;
        for ((followed, slot), rule) in self.columns.iter().zip(self.row.rules.iter_mut()).zip(initial) {
            if *followed == column {
                *slot = rule;
            }
        }
    }
}

fn register(reader: &mut Reader<'_>) -> Result<u16, TableError> {
    reader.register().ok_or(TableError::OutOfBounds)
}

fn block(reader: &mut Reader<'_>) -> Result<Span, TableError> {
    let length = reader.uleb().ok_or(TableError::OutOfBounds)?;
    let start = reader.position();
    reader.take(length).ok_or(TableError::OutOfBounds)?;
    Span::new(start, reader.position())
}
