//! What would be computed faster, or more evenly.

use super::Profile;
use crate::Call;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What would be changed about the computing of a run; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Less noise than was measured.
    pub less_noise: Option<LessNoise>,
    /// Call paths that are faster.
    pub faster: Vec<Faster>,
    /// Sections in which all ranks compute the same.
    pub balanced: Vec<Balanced>,
}

/// Bursts come nearer to the floor of those of the same length.
#[derive(Clone, Debug)]
pub struct LessNoise {
    /// Which part of a burst may go, from 0 to 1: a burst of d becomes max(floor, d (1 − η)).
    pub eta: f64,
    /// Tells the floors.
    pub profile: Arc<Profile>,
}

/// Something is computed faster.
#[derive(Clone, Debug)]
pub struct Faster {
    /// How many times faster.
    pub factor: f64,
    /// By rank and call path: which share of the time before its calls that is, from 0 to 1.
    pub shares: Arc<FxHashMap<(u32, u32), f64>>,
}

/// All ranks compute the same in a section.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// Which.
    pub section: u16,
    /// By what the computing of each location is multiplied ([`Profile::balance`]).
    pub factors: Arc<Vec<f64>>,
}

impl Changes {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        self.less_noise.is_none() && self.faster.is_empty() && self.balanced.is_empty()
    }

    /// How long a burst before a call would be.
    pub(super) fn apply(&self, location: usize, rank: u32, call: &Call, burst: u64) -> u64 {
        let mut length = burst as f64;
        if let Some(LessNoise { eta, profile }) = &self.less_noise {
            length = (length * (1.0 - eta)).max(profile.floor(rank, call, burst) as f64);
        }
        for Faster { factor, shares } in &self.faster {
            if let Some(share) = shares.get(&(rank, call.context)) {
                length *= 1.0 - share + share / factor;
            }
        }
        for Balanced { section, factors } in &self.balanced {
            if *section == call.section {
                length *= factors[location];
            }
        }
        length.round() as u64
    }
}
