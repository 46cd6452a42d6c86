//! Replay: what other noise, networks and computing would make of a run.

mod by_size;
mod calibration;
#[cfg(test)]
mod calibration_tests;
mod changes;
mod collective;
mod delays;
mod detours;
mod draw;
mod eager;
mod effect;
mod histogram;
mod network;
mod perturbation;
mod profile;
mod run;
mod selection;
mod simulation;
#[cfg(test)]
mod tests;
mod tree;

pub use calibration::Calibration;
pub use changes::{Balanced, Changes, Faster, LessNoise};
pub use delays::{Burst, Calls, Delays};
pub use detours::{Detours, DetoursError};
pub use effect::Effect;
pub use network::Network;
pub use perturbation::{Noise, Perturbation};
pub use profile::Profile;
pub use run::{Replayed, Run, Scenario, effects_by_path, replay};
pub use selection::Selection;
