//! Why a run loses what it loses.
//!
//! [`Frames`] knows operations of run-time libraries by the names of their functions; [`Classified`] says of every context
//! what its time is spent on. From that come the partition of the excess by [`Cause`], the bounds of waiting, and the
//! [`Efficiencies`] of whole runs. All are functions of samples alone.

mod activity;
mod analysis;
mod classify;
mod efficiency;
mod frames;
mod ledger;
mod partition;
mod waits;

pub use activity::Activity;
pub use analysis::{Analysis, ScaleEfficiency};
pub use classify::Classified;
pub use efficiency::{
    CountedScaling, Counters, Efficiencies, Useful, efficiencies, serialisation_and_transfer,
};
pub use frames::Frames;
pub use partition::{Cause, CauseLoss};
pub use waits::{WaitBounds, wait_bounds};
