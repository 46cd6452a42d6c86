//! Samples that are not whole: dropped ones by kind, partial unwinds by reason.

use falloff_format::records::{PARTIAL_REASONS, PartialReason};
use serde::{Deserialize, Serialize};

/// Samples that left no cost, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Drops {
    /// They found no room: their time is missing.
    pub room: u64,
    /// They came while the thread could not be measured.
    pub unready: u64,
}

impl Drops {
    /// All of them.
    pub fn total(self) -> u64 {
        self.room.saturating_add(self.unready)
    }

    pub(crate) fn add(&mut self, other: Drops) {
        self.room = self.room.saturating_add(other.room);
        self.unready = self.unready.saturating_add(other.unready);
    }

    /// Each kind in words, with its number.
    pub fn by_kind(self) -> [(&'static str, u64); 2] {
        [("no room", self.room), ("thread not ready", self.unready)]
    }
}

/// Samples whose call path could not be followed to its root, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partials {
    /// Code of no module.
    pub no_module: u64,
    /// Code without frame description.
    pub no_cfi: u64,
    /// A word of the stack could not be read.
    pub bad_read: u64,
    /// The caller's frame would not lie further out.
    pub not_advancing: u64,
    /// A frame description that is not supported, or a register that is lost.
    pub unsupported: u64,
}

impl Partials {
    /// Of the counts of a thread's record.
    pub(crate) fn of(counts: &[u64; PARTIAL_REASONS]) -> Partials {
        let count = |reason: PartialReason| counts[reason as usize];
        Partials {
            no_module: count(PartialReason::NoModule),
            no_cfi: count(PartialReason::NoCfi),
            bad_read: count(PartialReason::BadRead),
            not_advancing: count(PartialReason::NotAdvancing),
            unsupported: count(PartialReason::Unsupported),
        }
    }

    /// All of them.
    pub fn total(self) -> u64 {
        self.by_reason().iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    pub(crate) fn add(&mut self, other: Partials) {
        let sums = [
            (&mut self.no_module, other.no_module),
            (&mut self.no_cfi, other.no_cfi),
            (&mut self.bad_read, other.bad_read),
            (&mut self.not_advancing, other.not_advancing),
            (&mut self.unsupported, other.unsupported),
        ];
        for (sum, n) in sums {
            *sum = sum.saturating_add(n);
        }
    }

    /// Each reason in words, with its number.
    pub fn by_reason(self) -> [(&'static str, u64); PARTIAL_REASONS] {
        [
            ("code of no module", self.no_module),
            ("no frame description", self.no_cfi),
            ("unreadable stack", self.bad_read),
            ("no way further out", self.not_advancing),
            ("unsupported frame description", self.unsupported),
        ]
    }
}
