//! Signal context: yes
//!
//! The register file at an interrupted instruction, by DWARF column, and which of its registers are still known in an
//! outer frame.

/// Columns kept: 17 on x86-64, 32 on aarch64.
const SIZE: usize = 32;

/// Program counter and general registers, numbered as DWARF numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pc: u64,
    known: u32,
    values: [u64; SIZE],
}

impl Registers {
    /// The registers of an x86-64 thread in DWARF order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15.
    pub fn x86_64(pc: u64, general: [u64; 16]) -> Self {
        let mut registers = Self::unknown(pc);
        for (column, value) in (0u16..).zip(general) {
            registers.set(column, value);
        }
        registers.set(16, pc);
        registers
    }

    /// The registers of an aarch64 thread in DWARF order: x0 to x30, then sp.
    pub fn aarch64(pc: u64, general: [u64; 32]) -> Self {
        Self { pc, known: u32::MAX, values: general }
    }

    /// A register file of which only the program counter is known.
    pub(crate) const fn unknown(pc: u64) -> Self {
        Self { pc, known: 0, values: [0; SIZE] }
    }

    /// Address of the interrupted instruction.
    pub const fn pc(&self) -> u64 {
        self.pc
    }

    /// The value of a DWARF column, if it is known.
    pub fn get(&self, column: u16) -> Option<u64> {
        let known = self.known & 1u32.checked_shl(u32::from(column))? != 0;
        if known { self.values.get(usize::from(column)).copied() } else { None }
    }

    pub(crate) fn set(&mut self, column: u16, value: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(column)) {
            *slot = value;
            self.known |= 1 << column;
        }
    }

    pub(crate) fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
    }

    pub(crate) fn forget_all(&mut self) {
        self.known = 0;
    }

    pub(crate) fn forget(&mut self, column: u16) {
        if let Some(bit) = 1u32.checked_shl(u32::from(column)) {
            self.known &= !bit;
        }
    }
}

/// Two register files, of a frame and of its caller, for a walk that carries all registers: too much for the stack of a signal
/// handler.
#[derive(Clone, Copy, Debug)]
pub struct Room(pub(crate) [Registers; 2]);

impl Room {
    /// Room that no walk has used.
    pub const fn new() -> Self {
        Self([Registers::unknown(0); 2])
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let mut general = [0; 16];
        general[7] = 0x7000;
        let mut registers = Registers::x86_64(0x1234, general);
        assert_eq!(
            (registers.pc(), registers.get(7), registers.get(16)),
            (0x1234, Some(0x7000), Some(0x1234))
        );
        assert_eq!(registers.get(17), None);
        assert_eq!(registers.get(u16::MAX), None);
        registers.forget(7);
        registers.forget(u16::MAX);
        registers.set(u16::MAX, 1);
        assert_eq!(registers.get(7), None);
        assert_eq!(Registers::aarch64(1, [9; 32]).get(31), Some(9));
        assert!(size_of::<Registers>() <= 272);
    }
}
