//! What disturbs a run: noise of processors, latencies and times a byte beyond those of the network.

use super::{
    Detours, Selection,
    draw::{Key, stream, uniform},
};
use crate::Distribution;
use std::sync::Arc;

/// What disturbs a run, beside what disturbed it already. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// What all numbers are drawn from.
    pub seed: u64,
    /// Noise of processors.
    pub local: Noise,
    /// Which computing the noise strikes.
    pub strikes: Selection,
    /// More latency of each message.
    pub latency: Distribution,
    /// More time for each byte.
    pub byte: Distribution,
}

/// How processors are disturbed while they compute.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Each burst of computing is lengthened by a draw of its own, whatever its length.
    PerBurst {
        /// By how much.
        length: Distribution,
        /// Shorter bursts are left alone, in nanoseconds.
        shortest: u64,
    },
    /// Detours go on all the time; bursts are lengthened by those that they meet.
    Overlay {
        /// By rank; of ranks beyond the end those of the last.
        detours: Arc<Vec<Detours>>,
        /// All ranks have their detours at the same time, and not each at its own.
        is_co_scheduled: bool,
    },
}

impl Perturbation {
    /// Nothing disturbs.
    pub fn none() -> Perturbation {
        Perturbation {
            seed: 0,
            local: Noise::PerBurst { length: Distribution::ZERO, shortest: 0 },
            strikes: Selection::All,
            latency: Distribution::ZERO,
            byte: Distribution::ZERO,
        }
    }

    /// The noise of processors without that of messages.
    pub(super) fn local_alone(&self) -> Perturbation {
        Perturbation { latency: Distribution::ZERO, byte: Distribution::ZERO, ..self.clone() }
    }

    /// Where a rank is in the trace of detours when the run begins.
    pub(super) fn phase(&self, rank: u32) -> u64 {
        match &self.local {
            Noise::Overlay { detours, is_co_scheduled: false } => {
                let draw = uniform(Key { seed: self.seed, rank, stream: stream::PHASE, event: 0 });
                of_rank(detours, rank).map_or(0, |detours| (draw * detours.period() as f64) as u64)
            }
            _ => 0,
        }
    }

    /// By how much noise lengthens a burst: the `event`-th of a thread, `length` long, which begins at `at` in the trace of detours.
    pub(super) fn noise(&self, rank: u32, thread: u32, event: u64, length: u64, at: u64) -> i64 {
        match &self.local {
            Noise::PerBurst { length: noise, shortest } if length >= *shortest => {
                self.draw(noise, rank, stream::NOISE + thread, event)
            }
            Noise::PerBurst { .. } => 0,
            Noise::Overlay { detours, .. } => {
                of_rank(detours, rank).map_or(0, |detours| (detours.end(at, length) - at - length) as i64)
            }
        }
    }

    /// How much later a message of a rank arrives: its `post`-th operation.
    pub(super) fn flight(&self, rank: u32, post: u64, bytes: u64) -> i64 {
        self.draw(&self.latency, rank, stream::LATENCY, post) + self.bytes(rank, post, bytes)
    }

    /// How much later a sender learns that its message has a receive.
    pub(super) fn back(&self, rank: u32, post: u64) -> i64 {
        self.draw(&self.latency, rank, stream::BACK, post)
    }

    /// How much later the message of a round of a collective operation arrives at a rank.
    pub(super) fn round(&self, rank: u32, post: u64, round: u32) -> i64 {
        self.draw(&self.latency, rank, stream::ROUND + round, post)
    }

    /// How much longer the bytes of an operation take.
    pub(super) fn bytes(&self, rank: u32, post: u64, bytes: u64) -> i64 {
        if self.byte.is_zero() || bytes == 0 {
            return 0;
        }
        let draw = uniform(Key { seed: self.seed, rank, stream: stream::BYTES, event: post });
        nearest(self.byte.quantile(draw) * bytes as f64)
    }

    fn draw(&self, distribution: &Distribution, rank: u32, stream: u32, event: u64) -> i64 {
        match distribution {
            Distribution::Constant(value) => nearest(*value),
            _ => nearest(distribution.quantile(uniform(Key { seed: self.seed, rank, stream, event }))),
        }
    }
}

fn of_rank(detours: &[Detours], rank: u32) -> Option<&Detours> {
    detours.get(rank as usize).or(detours.last())
}

/// The nearest whole number to one that is not negative.
fn nearest(value: f64) -> i64 {
    (value + 0.5) as i64
}
