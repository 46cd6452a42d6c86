//! Names, inlined functions, files and lines of code addresses, resolved once for each load module.

#[cfg(test)]
mod agreement_tests;
mod authorities;
mod bounds;
mod cache;
#[cfg(test)]
mod compiled_tests;
mod debug_files;
mod debugdata;
mod debuginfod;
mod demangle;
mod dlang;
mod dwarf;
mod elf;
#[cfg(feature = "entrances")]
pub(crate) mod entrances;
#[cfg(test)]
mod format_tests;
mod fortran;
mod jit;
mod loop_lines;
mod loop_place;
#[cfg(test)]
mod loop_tests;
mod loops;
mod names;
mod ocaml;
mod plt;
mod render;
mod resolve;
mod resolved;
mod sections;
mod source;
mod units;
mod vdso;

pub use cache::symbol_cache_dir;
pub use debuginfod::Debuginfod;
pub(crate) use demangle::base_name;
pub(crate) use resolve::resolve_module;
pub(crate) use resolved::{ModuleSymbols, Resolved};
