//! The signature of a machine: how much the system disturbs a processor that only computes, and how messages travel.
//!
//! Noise is measured in three ways that check each other: gaps in a loop that reads the clock ([`Detours`]), the time of a fixed
//! piece of work ([`FixedWork`]) and the work of a fixed time ([`FixedTime`]; Sottile and Minnich, Cluster 2004). [`measure`]
//! does that in this process, or in all ranks of a job, between which it measures messages as well ([`Messages`]).
//! A [`Signature`] holds whole distributions, so that it can stand for the machine in a replay; a [`Comparison`] says which of
//! two is noisier.

mod batches;
mod compare;
mod counters;
mod detours;
mod figure;
mod host;
mod job;
mod loggp;
mod messages;
mod mpi;
mod period;
mod ping_pong;
mod quanta;
mod quantiles;
mod signature;
mod text;
mod trace;

pub use compare::{Change, Comparison, Verdict};
pub use counters::Counters;
pub use detours::{Detours, LengthBin};
pub use figure::figure;
pub use host::Host;
pub use job::{Options, measure};
pub use loggp::LogGp;
pub use messages::{Messages, Pair, Times};
pub use period::Period;
pub use quanta::{FixedTime, FixedWork};
pub use quantiles::Quantiles;
pub use signature::{RankNoise, Signature};
pub use text::{comparison_text, text};
pub use trace::Trace;
