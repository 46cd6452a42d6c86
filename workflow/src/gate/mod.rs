//! The gate: whether a new sweep is slower than a base sweep, and whether there is enough data to say so.
//!
//! [`PathColumns`] puts the runs of both over one tree of call paths by name, [`Change`] compares one of them, [`Verdict`] decides,
//! and [`report`] writes it down.

mod change;
mod comparable;
mod limits;
mod paths;
pub mod report;
mod verdict;

pub use change::Change;
pub use comparable::{Asked, check};
pub use limits::Limits;
pub use paths::{PathColumns, Side};
pub use verdict::{Decision, Outcome, Subject, Verdict};
