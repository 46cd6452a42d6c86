//! Walks the stacks of optimised programs from inside a signal handler.
//!
//! Compilers leave out frame pointers, so a stack can only be followed by the call frame information (CFI) that every
//! module carries for exceptions. This crate interprets it lazily, for the address at hand and for three registers: the
//! canonical frame address (CFA), the frame pointer and the return address. What it finds is packed into 31 bits and
//! kept in a [`Cache`] that threads share without locks. Frames whose rules need more registers are followed by the
//! whole register file.
//!
//! ```text
//! Registers ──► walk ──► Frame, Frame, … and the reason of the end; or Replay, which keeps the last path
//!                │ ├─ Modules ──► Module ──► Tables (.eh_frame_hdr or an index; .eh_frame or .debug_frame)
//!                │ └─ Cache
//!                └─ Memory (the application's stack)
//! ```
//!
//! A thread's stack is mostly the same from one sample to the next. A [`Replay`] keeps the path it has found last and
//! walks only through what has changed.
//!
//! A walk that does not end at [`End::Root`] is a partial unwind: every frame in it is certain, and a caller that is not
//! is left out. Out of code without CFI a step is taken where the instructions around prove it.
//!
//! Nothing here allocates, locks, uses thread-local storage or calls the C library, every loop is bounded, and tables
//! and stacks may contain anything: reads outside of what was given are refused, never made.
#![no_std]

#[cfg(test)]
extern crate std;

mod aarch64;
mod arch;
mod cache;
mod compact;
mod cursor;
mod entry;
mod error;
mod expression;
mod fast;
mod full;
mod header;
pub mod index;
mod interpreter;
mod leaf;
mod memory;
mod module;
mod modules;
#[cfg(test)]
mod oracle;
mod path;
mod reader;
mod record;
mod recording;
mod registers;
mod replay;
mod restore;
mod row;
mod rule;
mod section;
mod walk;
mod walker;
mod x86_64;

pub use aarch64::Aarch64;
pub use arch::{Arch, Call, Native, SignalFrame};
pub use cache::{CACHE_LENGTH, Cache};
pub use entry::Format;
pub use error::TableError;
pub use index::IndexEntry;
pub use memory::{Memory, StackCopy};
pub use module::{Extent, Module, Tables};
pub use modules::{ModuleList, Modules};
pub use registers::{Registers, Room};
pub use replay::{Replay, Update};
pub use section::Section;
pub use walk::{End, Frame, NO_MODULE, Walk, walk};
pub use x86_64::X86_64;
