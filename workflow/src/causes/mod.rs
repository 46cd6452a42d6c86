//! Why a run loses what it loses.
//!
//! [`Frames`] knows operations of run-time libraries by the names of their functions; [`Classified`] says of every context
//! what its time is spent on. [`Accounts`] has the runs of a sweep sorted by that. From them come the partition of the excess
//! by [`Cause`], what its parts look like ([`Diagnosis`]), the bounds of waiting, and the [`Efficiencies`] of whole runs and of
//! call paths. All are functions of samples alone, but for
//! what a network that costs nothing would change, which logs of the calls of MPI tell.

mod accounts;
mod activity;
mod amounts;
mod analysis;
mod cause;
mod charge;
mod classify;
mod correlation;
mod costs;
mod diagnosis;
mod disturbance;
mod efficiency;
mod frames;
mod law;
mod ledger;
#[cfg(test)]
mod oracles;
mod partition;
mod region;
mod replicated;
mod rules;
mod spread;
mod subtree;
mod waits;
mod waterfall;

pub use accounts::{Accounts, Charge};
pub use activity::Activity;
pub use analysis::{Analysis, ScaleEfficiency};
pub use cause::Cause;
pub use charge::{Charges, Work, charge};
pub use classify::Classified;
pub use correlation::rank_correlation;
pub use costs::{Cost, Participant, RunCosts};
pub use diagnosis::{Confidence, Diagnosis, Evidence, Ground, Rule};
pub use disturbance::Disturbance;
pub use efficiency::{CountedScaling, Counters, Efficiencies, NetworkShare, Useful, efficiencies};
pub use frames::Frames;
pub use law::{Law, law};
pub use partition::CauseLoss;
pub use spread::Spread;
pub use subtree::Subtree;
pub use waits::{WaitBounds, Waiting, wait_bounds};
pub use waterfall::{Factor, Step, waterfall};
