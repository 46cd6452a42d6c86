//! The registers that perf copies, by its numbers, and what they are called by the unwinder.

use unwinder::Registers;

/// Registers to copy, a bit for each of perf's numbers.
#[cfg(target_arch = "x86_64")]
pub(super) const MASK: u64 = 0xff_01ff;
/// Registers to copy, a bit for each of perf's numbers: x0 to x30, sp, pc.
#[cfg(target_arch = "aarch64")]
pub(super) const MASK: u64 = (1 << 33) - 1;

/// How many these are.
pub(super) const COUNT: usize = MASK.count_ones() as usize;

/// ELF number of the machine.
pub(super) const MACHINE: u32 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The registers of a sample, copied in the order of perf's numbers: ax, bx, cx, dx, si, di, bp, sp, ip, r8 to r15.
#[cfg(target_arch = "x86_64")]
pub(super) fn registers([ax, bx, cx, dx, si, di, bp, sp, ip, high @ ..]: &[u64; COUNT]) -> Registers {
    let mut general = [*ax, *dx, *cx, *bx, *si, *di, *bp, *sp, 0, 0, 0, 0, 0, 0, 0, 0];
    general[8..].copy_from_slice(high);
    Registers::x86_64(*ip, general)
}

/// The registers of a sample, copied in the order of perf's numbers.
#[cfg(target_arch = "aarch64")]
pub(super) fn registers([general @ .., pc]: &[u64; COUNT]) -> Registers {
    Registers::aarch64(*pc, *general)
}

#[cfg(test)]
mod tests {
    use unwinder::{Arch, Native};

    use super::*;

    #[test]
    fn stack_pointer_and_program_counter_are_in_place() {
        let mut values = [0; COUNT];
        let (sp, pc) = if cfg!(target_arch = "aarch64") { (31, 32) } else { (7, 8) };
        (values[sp], values[pc]) = (0x7000, 0x401000);
        let registers = registers(&values);
        assert_eq!((registers.pc(), registers.get(Native::SP)), (0x401000, Some(0x7000)));
    }
}
