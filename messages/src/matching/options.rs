//! How matching is done, and why it may end early.

use crate::Broken;

/// How matching is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How many calls, messages and members of collective operations may wait for their other side at a time; `None` for any
    /// number. What a program needs is its slack: how far its ranks run ahead of one another.
    pub live_max: Option<usize>,
    /// Advances locations in an order drawn with this seed and not in turns. Results are the same: it is for tests that show it.
    pub shuffled: Option<u64>,
}

/// Matching ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A log cannot be read.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// More waits for its other side than was allowed.
    #[error(
        "failed to match messages within {live_max} live entries: rank {rank} is {calls} calls into its log; allow more, or look \
         at fewer ranks"
    )]
    Slack {
        /// What was allowed.
        live_max: usize,
        /// Whose call was one too many.
        rank: u32,
        /// How many calls of it were matched.
        calls: u64,
    },
}
