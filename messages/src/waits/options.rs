//! What is to be known of a run beside its log.

use super::Clocks;
use crate::{Mode, Send};

/// Bytes up to which messages of standard mode go into a buffer if nothing else is said: those of Open MPI between processes of
/// one node, the least of the common libraries.
pub const EAGER_LIMIT: u64 = 4096;

/// What is to be known of the run beside its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes up to which messages of standard mode go into a buffer.
    pub eager_limit: u64,
    /// Offsets of the ranks' clocks.
    pub clocks: Clocks,
}

impl Default for Options {
    fn default() -> Self {
        Self { eager_limit: EAGER_LIMIT, clocks: Clocks::default() }
    }
}

impl Options {
    /// Whether a send is taken to complete with its receive only.
    pub(super) fn is_synchronous(&self, send: &Send) -> bool {
        match send.mode {
            Mode::Synchronous => true,
            Mode::Buffered => false,
            Mode::Standard | Mode::Ready => send.bytes > self.eager_limit,
        }
    }
}
