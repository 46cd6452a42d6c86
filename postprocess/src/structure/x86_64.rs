//! Instructions of x86-64.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction as Decoded, Mnemonic, OpKind};

use super::code::{Code, Flow, Instruction};
use super::jump_table;

/// All instructions of a function, one after the other as they lie. Bytes that are none become one instruction each
/// where nothing goes on.
pub(super) fn instructions(code: &Code) -> Vec<Instruction> {
    let decoded = decode(code);
    let mut tables = jump_table::tables(code, &decoded).into_iter().peekable();
    let mut instructions = Vec::with_capacity(decoded.len());
    for (index, instruction) in decoded.iter().enumerate() {
        let table = tables.next_if(|(at, _)| *at == index).map(|(_, targets)| targets);
        let flow = table.map_or_else(|| flow(code, instruction), Flow::Jump);
        instructions.push(Instruction { address: instruction.ip(), flow });
    }
    instructions
}

fn decode(code: &Code) -> Vec<Decoded> {
    let mut decoder = Decoder::with_ip(64, code.bytes, code.start, DecoderOptions::NONE);
    // Four bytes are a usual length.
    let mut decoded = Vec::with_capacity(code.bytes.len() / 4);
    while decoder.can_decode() {
        decoded.push(decoder.decode());
    }
    decoded
}

fn flow(code: &Code, instruction: &Decoded) -> Flow {
    let target = direct_target(instruction);
    let inside = target.filter(|target| code.holds(*target));
    match instruction.flow_control() {
        // A trap that a debugger placed, or filling.
        FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => Flow::Padding,
        FlowControl::Next if instruction.mnemonic() == Mnemonic::Nop => Flow::Padding,
        FlowControl::Next | FlowControl::Interrupt | FlowControl::IndirectCall => Flow::Next,
        FlowControl::Call if target.is_some_and(|target| (code.never_returns)(target)) => Flow::Stop,
        FlowControl::Call => Flow::Next,
        FlowControl::XbeginXabortXend if target.is_none() => Flow::Next,
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
            inside.map_or(Flow::Exit, Flow::Branch)
        }
        FlowControl::UnconditionalBranch => inside.map_or(Flow::Leave, |target| Flow::Jump(vec![target])),
        FlowControl::IndirectBranch | FlowControl::Return => Flow::Leave,
        FlowControl::Exception => Flow::Stop,
    }
}

fn direct_target(instruction: &Decoded) -> Option<u64> {
    let near =
        matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    near.then(|| instruction.near_branch_target())
}
