//! Some of what ranks compute.

use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Some of the computing of a run. What a rank computes before a call belongs to the call path of that call.
#[derive(Clone, Debug, Default)]
pub enum Selection {
    /// All of it.
    #[default]
    All,
    /// That of some ranks.
    Ranks(Arc<FxHashSet<u32>>),
    /// That of some call paths: rank, and number of the call path in that rank.
    Paths(Arc<FxHashSet<(u32, u32)>>),
}

impl Selection {
    /// Of these ranks.
    pub fn ranks(ranks: impl IntoIterator<Item = u32>) -> Selection {
        Selection::Ranks(Arc::new(ranks.into_iter().collect()))
    }

    /// Of these call paths: rank, and number of the call path in that rank.
    pub fn paths(paths: impl IntoIterator<Item = (u32, u32)>) -> Selection {
        Selection::Paths(Arc::new(paths.into_iter().collect()))
    }

    pub(super) fn holds(&self, rank: u32, context: u32) -> bool {
        match self {
            Selection::All => true,
            Selection::Ranks(ranks) => ranks.contains(&rank),
            Selection::Paths(paths) => paths.contains(&(rank, context)),
        }
    }
}
