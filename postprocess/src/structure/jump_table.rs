//! Targets of jumps through tables, as compilers make them for `switch`.

use iced_x86::{Code as Opcode, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::code::Code;

/// Instructions before a jump in which the load from its table and the comparison with its size are looked for.
const NEAR: usize = 32;
/// Instructions before a jump in which the address of its table is looked for: it may be loaded before a loop.
const FAR: usize = 2000;
/// Entries of the largest table.
const MOST_ENTRIES: u64 = 4096;

/// A table in the module's memory.
struct Table {
    /// Index of the jump.
    jump: usize,
    address: u64,
    relative: bool,
    entries: Option<u64>,
}

/// For jumps whose table is found, in order: index of the instruction and the targets, each once.
///
/// Known are `jmp *table(,%index,8)`, the same with the address loaded first, and the offsets of position-independent code:
/// `lea table(%rip),%base; movslq (%base,%index,4),%x; add %base,%x; jmp *%x`.
pub(super) fn tables(code: &Code, instructions: &[Instruction]) -> Vec<(usize, Vec<u64>)> {
    let jumps =
        instructions.iter().enumerate().filter(|(_, i)| i.flow_control() == FlowControl::IndirectBranch);
    let tables: Vec<Table> = jumps.filter_map(|(at, _)| find(instructions, at)).collect();
    let mut addresses: Vec<u64> = tables.iter().map(|t| t.address).collect();
    addresses.sort_unstable();
    let read = |table: &Table| {
        let next = addresses.get(addresses.partition_point(|a| *a <= table.address));
        targets(code, table, next.copied().unwrap_or(u64::MAX))
    };
    tables.iter().map(|t| (t.jump, read(t))).filter(|(_, targets)| !targets.is_empty()).collect()
}

fn find(instructions: &[Instruction], jump: usize) -> Option<Table> {
    let (address, relative) = match instructions[jump].op0_kind() {
        OpKind::Memory => (absolute(instructions, jump, &instructions[jump])?, false),
        OpKind::Register => loaded(instructions, jump, instructions[jump].op0_register())?,
        _ => return None,
    };
    Some(Table { jump, address, relative, entries: entries(instructions, jump) })
}

/// The table that the value of a register comes from, and whether its entries are relative to its address.
fn loaded(instructions: &[Instruction], before: usize, register: Register) -> Option<(u64, bool)> {
    let at = writer(instructions, before, register, NEAR)?;
    let write = &instructions[at];
    match write.code() {
        Opcode::Mov_r64_rm64 if write.op1_kind() == OpKind::Memory => {
            Some((absolute(instructions, at, write)?, false))
        }
        Opcode::Add_r64_rm64 | Opcode::Add_rm64_r64
            if write.op0_kind() == OpKind::Register && write.op1_kind() == OpKind::Register =>
        {
            let offset = [write.op0_register(), write.op1_register()].into_iter().find_map(|part| {
                let load = writer(instructions, at, part, NEAR)?;
                (instructions[load].code() == Opcode::Movsxd_r64_rm32).then_some(load)
            })?;
            let load = &instructions[offset];
            let is_table = load.memory_index_scale() == 4 && load.memory_displacement64() == 0;
            let base = load.memory_base();
            is_table.then(|| Some((address_in(instructions, offset, base)?, true)))?
        }
        _ => None,
    }
}

/// Address of a table of addresses that an instruction reads by an index.
fn absolute(instructions: &[Instruction], at: usize, read: &Instruction) -> Option<u64> {
    if read.memory_index() == Register::None || read.memory_index_scale() != 8 {
        return None;
    }
    match read.memory_base() {
        Register::None => Some(read.memory_displacement64()),
        base if read.memory_displacement64() == 0 => address_in(instructions, at, base),
        _ => None,
    }
}

/// The address that was loaded into a register as a constant.
fn address_in(instructions: &[Instruction], before: usize, register: Register) -> Option<u64> {
    let write = &instructions[writer(instructions, before, register, FAR)?];
    let constant = write.mnemonic() == Mnemonic::Lea && write.is_ip_rel_memory_operand();
    constant.then(|| write.ip_rel_memory_address())
}

/// The last instruction before another, as the code lies, that writes a register. Calls and other instructions that write
/// registers they do not name are passed over: compilers keep a table's address where those do not reach.
fn writer(instructions: &[Instruction], before: usize, register: Register, reach: usize) -> Option<usize> {
    let writes = |i: &Instruction| {
        i.op_count() > 0
            && i.op0_kind() == OpKind::Register
            && i.op0_register().full_register() == register.full_register()
            && !matches!(i.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push | Mnemonic::Jmp)
    };
    (before.saturating_sub(reach)..before).rev().find(|at| writes(&instructions[*at]))
}

/// Entries of a table, from the comparison that guards the jump.
fn entries(instructions: &[Instruction], jump: usize) -> Option<u64> {
    let near = &instructions[jump.saturating_sub(NEAR)..jump];
    let guard = near.iter().rposition(|i| i.mnemonic() == Mnemonic::Cmp && is_immediate(i.op1_kind()))?;
    let limit = near[guard].immediate(1);
    let more =
        match near[guard..].iter().find(|i| i.flow_control() == FlowControl::ConditionalBranch)?.mnemonic() {
            Mnemonic::Ja | Mnemonic::Jbe => 1,
            Mnemonic::Jae | Mnemonic::Jb => 0,
            _ => return None,
        };
    limit.checked_add(more)
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
    )
}

/// The entries up to the first that leads out of the function, or to `end`, where another table begins.
fn targets(code: &Code, table: &Table, end: u64) -> Vec<u64> {
    let size = if table.relative { 4 } else { 8 };
    let most = table.entries.unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES);
    let mut targets = Vec::new();
    for index in 0..most {
        let at = table.address.wrapping_add(index * size);
        let Some(bytes) = (code.memory)(at, size).filter(|_| at < end) else { break };
        let target = match bytes.try_into() {
            Ok(address) => u64::from_le_bytes(address),
            Err(_) => {
                let Ok(offset) = bytes.try_into().map(i32::from_le_bytes) else { break };
                table.address.wrapping_add_signed(i64::from(offset))
            }
        };
        if !code.holds(target) {
            break;
        }
        targets.push(target);
    }
    targets.sort_unstable();
    targets.dedup();
    targets
}

#[cfg(test)]
mod tests {
    use object::Architecture;

    use crate::structure::Code;
    use crate::structure::code::Flow;
    use crate::structure::x86_64::instructions;

    /// Targets of the only jump through a table in code at 0x1000, with the table at 0x2000.
    fn targets(bytes: &[u8], table: &[u8]) -> Option<Vec<u64>> {
        let memory = |address: u64, size: u64| {
            let first = address.checked_sub(0x2000)? as usize;
            table.get(first..first + size as usize)
        };
        let code = Code {
            architecture: Architecture::X86_64,
            start: 0x1000,
            bytes,
            memory: &memory,
            never_returns: &|_| false,
        };
        instructions(&code).into_iter().find_map(|instruction| match instruction.flow {
            Flow::Jump(targets) if targets.len() > 1 => Some(targets),
            _ => None,
        })
    }

    /// Three jumps of two bytes to 0x1000 from 0x1016 on, and a return at 0x101c.
    const CASES: [u8; 7] = [0xeb, 0xe8, 0xeb, 0xe6, 0xeb, 0xe4, 0xc3];

    #[test]
    fn offsets_of_position_independent_code() {
        // 1000: cmp edi,2   1003: ja 101c   1005: lea rdx,[rip+0xff4]   100c: movsxd rax,[rdx+rdi*4]
        // 1010: add rax,rdx   1013: notrack jmp rax
        let jump = [
            0x83, 0xff, 0x02, 0x77, 0x17, 0x48, 0x8d, 0x15, 0xf4, 0x0f, 0, 0, 0x48, 0x63, 0x04, 0xba, 0x48,
            0x01, 0xd0, 0x3e, 0xff, 0xe0,
        ];
        let table: Vec<u8> =
            [0x1016i32, 0x101a, 0x1018, 0x101c].iter().flat_map(|t| (t - 0x2000).to_le_bytes()).collect();
        let code = [jump.as_slice(), &CASES].concat();
        assert_eq!(targets(&code, &table), Some(vec![0x1016, 0x1018, 0x101a]));
        // Without the comparison all entries that lead into the function are taken.
        let unbounded = [[0x90; 5].as_slice(), &code[5..]].concat();
        assert_eq!(targets(&unbounded, &table), Some(vec![0x1016, 0x1018, 0x101a, 0x101c]));
        assert_eq!(targets(&unbounded, &[]), None);
    }

    #[test]
    fn addresses_of_other_code() {
        // 1000: cmp edi,2   1003: ja 101c   1005: nop (9 bytes)   100e: notrack jmp [rdi*8+0x2000]
        let jump = [
            0x83, 0xff, 0x02, 0x77, 0x17, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x3e, 0xff, 0x24, 0xfd, 0,
            0x20, 0, 0,
        ];
        let table: Vec<u8> = [0x1016u64, 0x1018, 0x1016].iter().flat_map(|t| t.to_le_bytes()).collect();
        let code = [jump.as_slice(), &CASES].concat();
        assert_eq!(targets(&code, &table), Some(vec![0x1016, 0x1018]));
        // What is filled in when the program is loaded is not known.
        assert_eq!(targets(&code, &[0; 24]), None);
    }
}
