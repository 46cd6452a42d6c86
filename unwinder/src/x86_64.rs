//! Signal context: yes
//!
//! x86-64: the return address is on the stack, just below the CFA.

use crate::arch::{Arch, Call, SignalFrame};
use crate::compact::Described;
use crate::memory::Memory;
use crate::row::{CfaRule, RegisterRule};
use crate::rule::Shape;
use crate::section::Section;

const RBP: u16 = 6;
const RSP: u16 = 7;
const RETURN_OFFSET: i64 = -8;

/// `breg7 160; deref`: the stack pointer in the `ucontext` at rsp.
const SIGNAL_CFA: &[u8] = &[0x77, 0xa0, 0x01, 0x06];
/// `breg7 168`: where it keeps the program counter.
const SIGNAL_PC: &[u8] = &[0x77, 0xa8, 0x01];
/// `breg7 120`: where it keeps rbp.
const SIGNAL_RBP: &[u8] = &[0x77, 0xf8, 0x00];
/// `breg6 0`: rbp is saved where rbp points.
const AT_RBP: &[u8] = &[0x76, 0x00];

/// The x86-64 processor.
#[derive(Clone, Copy, Debug)]
pub struct X86_64;

#[expect(private_interfaces, reason = "see the trait")]
impl Arch for X86_64 {
    const SP: u16 = RSP;
    const FP: u16 = RBP;
    const RETURN: u16 = 16;
    const COLUMNS: u16 = 17;
    // rbx, rbp, r12 to r15
    const CALLEE_SAVED: u32 = 1 << 3 | 1 << RBP | 0xf << 12;
    const LINKS: bool = false;
    const RED_ZONE: u64 = 128;
    const STACK_ALIGN: u64 = 8;
    const KEY_SHIFT: u32 = 0;
    const SIGNAL_FRAME: SignalFrame = SignalFrame {
        pc: 168,
        registers: &[
            (8, 40),
            (9, 48),
            (10, 56),
            (11, 64),
            (12, 72),
            (13, 80),
            (14, 88),
            (15, 96),
            (5, 104),
            (4, 112),
            (RBP, 120),
            (3, 128),
            (1, 136),
            (0, 144),
            (2, 152),
            (RSP, 160),
        ],
    };
    // mov $15, %rax; syscall
    const SIGNAL_RETURN: &'static [u8] = &[0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05];

    #[inline]
    fn strip(address: u64) -> u64 {
        address
    }

    #[inline]
    fn return_slot(cfa: u64, _fp_slot: u64) -> u64 {
        cfa.wrapping_add(RETURN_OFFSET as u64)
    }

    fn leaf<M: Memory>(sp: u64, _link: Option<u64>, memory: &mut M) -> Option<(u64, u64)> {
        Some((memory.read(sp)?, sp.checked_add(8)?))
    }

    fn call_before(code: &Section<'_>, address: u64) -> Call {
        let byte = |distance: u64| Some(code.array::<1>(address.checked_sub(distance)?)?[0]);
        let mut call = Call::default();
        if byte(5) == Some(0xe8) {
            let offset = code.array::<4>(address.wrapping_sub(4)).map(i32::from_le_bytes);
            call.direct = offset.map(|offset| address.wrapping_add(i64::from(offset) as u64));
        }
        // FF /2 with every form of operand; prefixes stand before the opcode and do not matter.
        call.indirect = [2u64, 3, 4, 6, 7].into_iter().any(|length| {
            byte(length) == Some(0xff)
                && byte(length - 1).is_some_and(|modrm| {
                    let sib = if length > 2 { byte(length - 2) } else { None };
                    modrm >> 3 & 7 == 2 && operand_length(modrm, sib) == Some(length)
                })
        });
        call
    }

    fn is_jump_stub(code: &Section<'_>, address: u64) -> bool {
        // [endbr64] [bnd] jmp *offset(%rip)
        let after_mark = match code.array::<4>(address) {
            Some([0xf3, 0x0f, 0x1e, 0xfa]) => address.wrapping_add(4),
            _ => address,
        };
        match code.array::<3>(after_mark) {
            Some([0xf2, 0xff, 0x25]) => true,
            Some([first, second, _]) => [first, second] == [0xff, 0x25],
            None => false,
        }
    }

    fn shape(described: &Described<'_, '_>) -> Shape {
        let [pc_rule, fp_rule, sp_rule] = described.row.rules;
        if pc_rule == RegisterRule::Undefined {
            return Shape::Root;
        }
        if described.fde.cie.signal {
            return signal_shape(described);
        }
        if pc_rule != RegisterRule::Offset(RETURN_OFFSET) || sp_rule != RegisterRule::Unspecified {
            return Shape::Slow;
        }
        let slot = match fp_rule {
            RegisterRule::Unspecified | RegisterRule::SameValue => Some(0),
            RegisterRule::Offset(offset) if offset != 0 => Some(offset),
            _ => None,
        };
        match (described.row.cfa, slot) {
            (CfaRule::Register(RSP, offset), Some(slot)) if offset >= 0 => {
                Shape::Stack { cfa: offset as u64, slot }
            }
            (CfaRule::Register(RBP, offset), Some(slot)) if offset >= 0 => {
                Shape::Frame { cfa: offset as u64, slot }
            }
            (CfaRule::Expression(span), slot) => {
                expression_shape(described.bytes(span), slot, described.fp_bytes())
            }
            _ => Shape::Slow,
        }
    }
}

impl<'a> Described<'_, 'a> {
    /// The expression that says where the frame pointer is saved, empty if there is none.
    fn fp_bytes(&self) -> &'a [u8] {
        match self.row.rules[1] {
            RegisterRule::Expression(span) => self.bytes(span),
            _ => &[],
        }
    }
}

fn signal_shape(described: &Described<'_, '_>) -> Shape {
    let (CfaRule::Expression(cfa), RegisterRule::Expression(pc)) =
        (described.row.cfa, described.row.rules[0])
    else {
        return Shape::Slow;
    };
    let usual = described.bytes(cfa) == SIGNAL_CFA
        && described.bytes(pc) == SIGNAL_PC
        && described.fp_bytes() == SIGNAL_RBP;
    if usual { Shape::Signal } else { Shape::Slow }
}

fn expression_shape(cfa: &[u8], slot: Option<i64>, fp: &[u8]) -> Shape {
    match (cfa, slot) {
        // breg7 8; breg16 0; lit15; and; lit<threshold>; ge; lit3; shl; plus
        ([0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, literal @ 0x30..=0x4f, 0x2a, 0x33, 0x24, 0x22], Some(0)) => {
            Shape::Stub { threshold: u64::from(literal - 0x30) }
        }
        // breg6 offset; deref
        ([0x76, low, 0x06], None) if fp == AT_RBP && low & 0x80 == 0 => {
            Shape::Realigned { offset: sign_extend(u64::from(*low), 7) }
        }
        ([0x76, low, high, 0x06], None) if fp == AT_RBP && low & 0x80 != 0 && high & 0x80 == 0 => {
            Shape::Realigned { offset: sign_extend(u64::from(low & 0x7f) | u64::from(*high) << 7, 14) }
        }
        _ => Shape::Slow,
    }
}

fn sign_extend(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

/// Length of an instruction of one opcode byte and the operand that `modrm` begins.
fn operand_length(modrm: u8, sib: Option<u8>) -> Option<u64> {
    let has_sib = modrm & 7 == 4 && modrm >> 6 != 3;
    let base = if has_sib { 3 } else { 2 };
    match modrm >> 6 {
        0 if modrm & 7 == 5 => Some(6),
        0 if has_sib && sib? & 7 == 5 => Some(7),
        1 => Some(base + 1),
        2 => Some(base + 4),
        _ => Some(base),
    }
}
