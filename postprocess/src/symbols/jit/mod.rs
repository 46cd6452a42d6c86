//! Names of code that a process made while it ran, from the files that its run-time system leaves for profilers: the
//! perf map (`perf-PID.map`: addresses and names) and jitdump (`jit-PID.dump`: moves and lines too).

mod code_map;
mod find;
mod jitdump;
mod perf_map;
mod resolve;

pub(super) use resolve::resolve;
