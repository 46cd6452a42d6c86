//! Messages between the ranks of a run: matched without clocks, what ranks wait for, and what other noise and networks would change.
//!
//! Pure functions over the [`Log`]s that ranks wrote; nothing here knows of files or profiles. A [`Visitor`] is led through all
//! calls in an order in which whatever a call waited for has been seen before.
#![forbid(unsafe_code)]

mod call;
mod communicator;
mod distribution;
pub mod graph;
mod log;
mod matching;
mod members;
mod memory;
mod need;
mod replay;
#[cfg(test)]
mod script;
pub mod timeline;
mod visitor;
pub mod waits;

pub use call::{
    Call, Collective, Completion, Mode, Op, Operation, Receive, Send, Synchronisation, Transfer, TransferKind,
};
pub use communicator::{CommId, Communicator};
pub use distribution::{Distribution, DistributionError, Quantiles};
pub use log::{Broken, Location, Log};
pub use matching::{
    Awaited, Blocked, Error as MatchError, Mismatch, Options, Outcome, Place, Unmatched, lead,
};
pub use memory::MemoryLog;
pub use replay::{
    Balanced, Burst, Calibration, Calls, Changes, Delays, Detours, DetoursError, Effect, Faster, LessNoise,
    Network, Noise, Perturbation, Profile, Replayed, Run, Scenario, Selection, effects_by_path, replay,
};
pub use visitor::{Matched, Visitor};
