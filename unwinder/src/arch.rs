//! Signal context: yes
//!
//! What differs between processors.

use crate::compact::Described;
use crate::memory::Memory;
use crate::registers::Registers;
use crate::rule::Shape;
use crate::section::Section;

/// The processor this is built for.
#[cfg(target_arch = "x86_64")]
pub type Native = crate::x86_64::X86_64;
/// The processor this is built for.
#[cfg(target_arch = "aarch64")]
pub type Native = crate::aarch64::Aarch64;

/// The call instructions that the bytes before a return address can be. Code is ambiguous backwards: both may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The target of a direct call.
    pub direct: Option<u64>,
    /// Whether a call through a register or memory fits.
    pub indirect: bool,
}

/// Where a signal frame keeps the interrupted registers, as byte offsets from the stack pointer at the trampoline.
#[derive(Clone, Copy, Debug)]
pub struct SignalFrame {
    /// The program counter.
    pub pc: u64,
    /// Every other register with its DWARF column.
    pub registers: &'static [(u16, u64)],
}

/// A processor: its register numbers, its frames and its instructions, as far as walking needs them.
///
/// Implemented by [`X86_64`](crate::X86_64) and [`Aarch64`](crate::Aarch64) only.
#[expect(private_interfaces, reason = "rules are the walker's own; nobody else implements the trait")]
pub trait Arch {
    /// DWARF column of the stack pointer.
    const SP: u16;
    /// DWARF column of the frame pointer.
    const FP: u16;
    /// DWARF column of the return address.
    const RETURN: u16;
    /// Number of DWARF columns that are followed.
    const COLUMNS: u16;
    /// Columns, as bits, that a call leaves unchanged unless its frame description says otherwise.
    const CALLEE_SAVED: u32;
    /// Whether a call leaves its return address in the column [`RETURN`](Self::RETURN) and not on the stack.
    const LINKS: bool;
    /// Bytes below the stack pointer that may be in use.
    const RED_ZONE: u64;
    /// Alignment of the stack pointer at every frame.
    const STACK_ALIGN: u64;
    /// Low bits of an address that two instructions never differ in alone.
    const KEY_SHIFT: u32;
    /// The signal frame that the kernel builds.
    const SIGNAL_FRAME: SignalFrame;
    /// The code that a signal handler returns to.
    const SIGNAL_RETURN: &'static [u8];

    /// A code address without the bits that pointer authentication puts in.
    fn strip(address: u64) -> u64;
    /// Where the return address stands, given the CFA and where the frame pointer is saved.
    fn return_slot(cfa: u64, fp_slot: u64) -> u64;
    /// Return address and caller's stack pointer of a function that has not touched its stack.
    fn leaf<M: Memory>(sp: u64, link: Option<u64>, memory: &mut M) -> Option<(u64, u64)>;
    /// Which calls the bytes before `address` can be.
    fn call_before(code: &Section<'_>, address: u64) -> Call;
    /// Whether the code at `address` jumps through memory at once, as entries of a procedure linkage table do.
    fn is_jump_stub(code: &Section<'_>, address: u64) -> bool;
    /// The compact form of a row of the columns return address, frame pointer, stack pointer.
    fn shape(row: &Described<'_, '_>) -> Shape;

    /// Reads the registers that a signal has interrupted from the signal frame at `sp`.
    fn interrupted<M: Memory>(sp: u64, memory: &mut M, registers: &mut Registers) -> Option<()> {
        registers.forget_all();
        registers.set_pc(memory.read(sp.checked_add(Self::SIGNAL_FRAME.pc)?)?);
        for (column, offset) in Self::SIGNAL_FRAME.registers {
            registers.set(*column, memory.read(sp.checked_add(*offset)?)?);
        }
        if !Self::LINKS {
            registers.set(Self::RETURN, registers.pc());
        }
        Some(())
    }
}
