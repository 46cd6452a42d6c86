//! Signal context: yes
//!
//! aarch64: the return address is in the link register until it is saved, usually in a pair just above the frame
//! pointer.

use crate::arch::{Arch, Call, SignalFrame};
use crate::compact::Described;
use crate::memory::Memory;
use crate::row::{CfaRule, RegisterRule};
use crate::rule::Shape;
use crate::section::Section;

const X29: u16 = 29;
const X30: u16 = 30;
const STACK: u16 = 31;
/// From the saved frame pointer to the saved link register.
const PAIR: i64 = 8;
/// Bits of a user address; pointer authentication uses those above.
const ADDRESS_BITS: u32 = 48;
/// From the bottom of the kernel's `rt_sigframe` to x0: a `siginfo`, then a `ucontext` whose `mcontext` begins with the
/// fault address.
const X0_OFFSET: u64 = 128 + 176 + 8;

const SAVED: [(u16, u64); 32] = {
    let mut registers = [(0, 0); 32];
    let mut column = 0;
    while column < 32 {
        registers[column] = (column as u16, X0_OFFSET + 8 * column as u64);
        column += 1;
    }
    registers
};

/// The aarch64 processor.
#[derive(Clone, Copy, Debug)]
pub struct Aarch64;

#[expect(private_interfaces, reason = "see the trait")]
impl Arch for Aarch64 {
    const SP: u16 = STACK;
    const FP: u16 = X29;
    const RETURN: u16 = X30;
    const COLUMNS: u16 = 32;
    // x19 to x29
    const CALLEE_SAVED: u32 = 0x7ff << 19;
    const LINKS: bool = true;
    const RED_ZONE: u64 = 0;
    const STACK_ALIGN: u64 = 16;
    const KEY_SHIFT: u32 = 2;
    const SIGNAL_FRAME: SignalFrame = SignalFrame { pc: X0_OFFSET + 8 * 32, registers: &SAVED };
    // mov x8, #139; svc #0
    const SIGNAL_RETURN: &'static [u8] = &[0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];

    #[inline]
    fn strip(address: u64) -> u64 {
        address & (u64::MAX >> (64 - ADDRESS_BITS))
    }

    #[inline]
    fn return_slot(_cfa: u64, fp_slot: u64) -> u64 {
        fp_slot.wrapping_add(PAIR as u64)
    }

    fn leaf<M: Memory>(sp: u64, link: Option<u64>, _memory: &mut M) -> Option<(u64, u64)> {
        Some((Self::strip(link?), sp))
    }

    fn call_before(code: &Section<'_>, address: u64) -> Call {
        let Some(at) = address.checked_sub(4) else { return Call::default() };
        let Some(word) = code.array::<4>(at).map(u32::from_le_bytes) else { return Call::default() };
        if word & 0xfc00_0000 == 0x9400_0000 {
            let offset = i64::from((word << 6) as i32 >> 6) << 2;
            return Call { direct: Some(at.wrapping_add(offset as u64)), indirect: false };
        }
        // blr and its authenticating forms
        Call { direct: None, indirect: word & 0xfeff_f000 == 0xd63f_0000 }
    }

    fn is_jump_stub(code: &Section<'_>, address: u64) -> bool {
        let word = |at: u64| code.array::<4>(at).map(u32::from_le_bytes);
        // [bti c] adrp x16, page
        let after_mark = if word(address) == Some(0xd503_245f) { address.wrapping_add(4) } else { address };
        word(after_mark).is_some_and(|word| word & 0x9f00_001f == 0x9000_0010)
    }

    fn shape(described: &Described<'_, '_>) -> Shape {
        let [pc_rule, fp_rule, sp_rule] = described.row.rules;
        if pc_rule == RegisterRule::Undefined {
            return Shape::Root;
        }
        if described.fde.cie.signal || sp_rule != RegisterRule::Unspecified {
            return Shape::Slow;
        }
        let CfaRule::Register(base, offset) = described.row.cfa else { return Shape::Slow };
        let Ok(cfa) = u64::try_from(offset) else { return Shape::Slow };
        let kept = |rule| matches!(rule, RegisterRule::Unspecified | RegisterRule::SameValue);
        match (base, fp_rule, pc_rule) {
            (STACK, RegisterRule::Offset(slot), RegisterRule::Offset(link)) if is_pair(slot, link) => {
                Shape::Stack { cfa, slot }
            }
            (X29, RegisterRule::Offset(slot), RegisterRule::Offset(link)) if is_pair(slot, link) => {
                Shape::Frame { cfa, slot }
            }
            (STACK, fp, RegisterRule::Offset(slot)) if kept(fp) => Shape::LinkSaved { cfa, slot },
            (STACK, fp, link) if kept(fp) && kept(link) => Shape::Link { cfa },
            _ => Shape::Slow,
        }
    }
}

/// Whether frame pointer and link register are saved side by side, at a slot that the compact rule can name.
fn is_pair(slot: i64, link: i64) -> bool {
    slot != 0 && slot.checked_add(PAIR) == Some(link)
}
