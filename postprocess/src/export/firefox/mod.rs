//! Profiles for the Firefox Profiler: its processed format, version 60.

mod document;
mod libs;
mod tables;
mod threads;
mod write;

pub use write::firefox;
