//! Limits that the sampler has and the launcher must know before it starts one.

/// Performance events that one run measures at most.
pub const EVENTS_MAX: usize = 6;
/// First kernel, major and minor, on which events may trap: it keeps a trap that finds its signal blocked, where earlier
/// ones kill the program.
pub const TRAPS_KERNEL_MIN: (u32, u32) = (5, 19);
