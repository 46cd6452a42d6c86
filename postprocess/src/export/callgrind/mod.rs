//! Profiles for KCachegrind and callgrind_annotate: a graph of calls between functions.

mod graph;
mod names;
mod write;

pub use write::callgrind;
