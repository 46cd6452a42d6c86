//! Matching: which send belongs to which receive, and who is together in a collective operation.

mod blocked;
mod by_post;
mod collectives;
mod cut;
mod lead;
mod messages;
mod operations;
mod options;
mod outcome;
mod queues;
mod reader;
mod stuck;
#[cfg(test)]
mod tests;

pub use blocked::{Awaited, Blocked};
pub use lead::lead;
pub use options::{Error, Options};
pub use outcome::{Mismatch, Outcome, Place, Unmatched};
