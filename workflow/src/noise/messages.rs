//! How long messages between ranks take.

use serde::{Deserialize, Serialize};

use super::loggp::LogGp;
use super::quantiles::Quantiles;

/// Messages between some pairs of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Messages {
    /// Which MPI, and where its library was loaded from.
    pub library: String,
    /// Rank 0 with some of the others, measured one pair after the other.
    pub pairs: Vec<Pair>,
}

/// Messages between two ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The two.
    pub ranks: [u32; 2],
    /// Whether they are on one host.
    pub same_host: bool,
    /// What is measured at each size.
    pub sizes: Vec<Times>,
    /// Time from send to send of many messages of a byte that follow each other: medians of 20 rows.
    pub gap_ns: Quantiles,
    /// Most bytes of a message that a send gives away while its receiver computes and does not call MPI; as many as were tried,
    /// if all are, and null if none are.
    pub eager_limit_bytes: Option<u64>,
    /// The model of Alexandrov et al. that fits; null where the times do not rise with the size.
    pub loggp: Option<LogGp>,
}

/// Messages of a size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The size.
    pub bytes: u64,
    /// Half of the time there and back.
    pub one_way_ns: Quantiles,
    /// How long a send that returns at once keeps its processor.
    pub send_overhead_ns: Quantiles,
    /// The size over the median time, 10⁶ bytes a second; 0 for empty messages.
    pub bandwidth_megabytes_per_second: f64,
    /// Medians of [`Times::one_way_ns`] of each twentieth of the messages.
    pub batch_one_way_ns: Vec<f64>,
}

impl Pair {
    /// The times at a size.
    pub fn at(&self, bytes: u64) -> Option<&Times> {
        self.sizes.iter().find(|times| times.bytes == bytes)
    }
}
