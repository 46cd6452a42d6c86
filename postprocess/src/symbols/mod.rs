//! Names, inlined functions, files and lines of code addresses, resolved once for each load module.

mod bounds;
#[cfg(test)]
mod compiled_tests;
mod debug_files;
mod demangle;
mod dwarf;
mod elf;
mod fortran;
mod jit;
mod loop_lines;
mod loop_place;
#[cfg(test)]
mod loop_tests;
mod loops;
mod names;
mod plt;
mod resolve;
mod resolved;
mod source;
mod vdso;

pub(crate) use demangle::base_name;
pub(crate) use resolve::resolve_module;
pub(crate) use resolved::{ModuleSymbols, Resolved};
