//! A small SPMD program with known losses, to try falloff on and to check it.
//!
//! Its processes are started by the launcher `plain`, meet in a memory map of one file, and go through the same
//! steps together. [`planted`] says in closed form how much work each part is at each process count; [`verdict`]
//! compares that with what was measured.

mod phases;
pub mod planted;
mod shared;
pub mod verdict;
pub mod worker;
