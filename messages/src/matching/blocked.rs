//! Locations that cannot go on, and what they wait for.

use super::Place;
use crate::{CommId, Operation};
use std::fmt;

/// How many ranks are told; of the rest the number.
const TOLD: usize = 8;

/// A location that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The call in which it waits.
    pub place: Place,
    /// For what.
    pub awaits: Awaited,
}

/// What a location waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A message.
    Message {
        /// From whom, `None` for any.
        from: Option<u32>,
        /// With which tag, `None` for any.
        tag: Option<i32>,
        /// Within which communicator.
        comm: CommId,
    },
    /// That its message is received.
    Receiver {
        /// By whom.
        to: u32,
        /// The tag of the message.
        tag: i32,
        /// Within which communicator.
        comm: CommId,
    },
    /// Other members of a communicator.
    Members {
        /// Which communicator.
        comm: CommId,
        /// Which operation on it.
        sequence: u64,
        /// What they should do.
        operation: Operation,
        /// Which ranks have not come.
        missing: Vec<u32>,
    },
    /// Another thread of its rank, which began something before.
    Thread,
}

impl Awaited {
    /// The ranks waited for; its own for another thread.
    pub(super) fn ranks(&self, own: u32) -> Vec<u32> {
        match self {
            Awaited::Message { from, .. } => from.iter().copied().collect(),
            Awaited::Receiver { to, .. } => vec![*to],
            Awaited::Members { missing, .. } => missing.clone(),
            Awaited::Thread => vec![own],
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for ", self.place)?;
        match &self.awaits {
            Awaited::Message { from, tag, comm } => {
                let from = from.map_or("any rank".to_string(), |from| format!("rank {from}"));
                let tag = tag.map_or("any tag".to_string(), |tag| format!("tag {tag}"));
                write!(f, "a message from {from} with {tag} on communicator {}", comm.0)
            }
            Awaited::Receiver { to, tag, comm } => {
                write!(f, "rank {to} to receive its message with tag {tag} on communicator {}", comm.0)
            }
            Awaited::Members { comm, sequence, operation, missing } => {
                let ranks = if missing.len() == 1 { "rank" } else { "ranks" };
                let missing = join(missing);
                write!(
                    f,
                    "{ranks} {missing} in operation {sequence} ({operation:?}) on communicator {}",
                    comm.0
                )
            }
            Awaited::Thread => write!(f, "another thread of its rank"),
        }
    }
}

/// The first ranks, and how many more.
pub(super) fn join(ranks: &[u32]) -> String {
    let told: Vec<String> = ranks.iter().take(TOLD).map(u32::to_string).collect();
    match ranks.len().saturating_sub(TOLD) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}
