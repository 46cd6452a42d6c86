//! What the fuzzers of `tests/fuzz` call with their inputs, and what must hold for every one of them.
//!
//! [`run`] is the same for a fuzzer, which makes inputs up, and for the test that replays the corpus.

mod database;
mod debug_files;
mod debuginfod;
mod edits;
mod events;
mod input;
mod measurement;
mod scratch;
mod symbol_cache;
mod targets;
mod text;
mod watch;

pub use targets::{NAMES, run};
