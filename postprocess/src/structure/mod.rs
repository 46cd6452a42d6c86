//! Loops of machine code: instructions, their control flow graph, and the nest of its loops.
//!
//! Everything here is a pure function of the bytes of one function. Which source lines a loop stands for is found in
//! [`crate::symbols`]. Code of processors other than x86-64 has no loops ([`Code::loops`] gives `None`).

mod code;
mod graph;
mod jump_table;
mod loops;
mod machine_loops;
mod no_return;
mod source_nest;
mod x86_64;

pub(crate) use code::Code;
pub(crate) use machine_loops::MachineLoops;
pub(crate) use no_return::never_returns;
pub(crate) use source_nest::SourceNest;
