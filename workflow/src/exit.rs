//! Exit codes of the command line.
//!
//! `falloff run` is transparent: when the program ran, its own status or signal is passed through instead.

/// Everything went well.
pub const OK: i32 = 0;
/// A threshold that the user asked for was missed.
pub const MISSED: i32 = 1;
/// The command line or the configuration is wrong.
pub const USAGE: i32 = 2;
/// The measurement is incomplete, not comparable, or of an unknown major version.
pub const INCOMPLETE: i32 = 3;
/// The program under test failed.
pub const PROGRAM_FAILED: i32 = 4;
/// There is not enough data to decide.
pub const NOT_ENOUGH_DATA: i32 = 5;
/// A bug in falloff.
pub const BUG: i32 = 70;
