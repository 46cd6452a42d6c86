//! Replay: what other noise, networks and computing would make of a run.

mod changes;
mod collective;
mod detours;
mod draw;
mod effect;
mod network;
mod perturbation;
mod profile;
mod run;
mod selection;
mod simulation;
#[cfg(test)]
mod tests;
mod tree;

pub use changes::{Balanced, Changes, Faster, LessNoise};
pub use detours::{Detours, DetoursError};
pub use effect::Effect;
pub use network::Network;
pub use perturbation::{Noise, Perturbation};
pub use profile::Profile;
pub use run::{Replayed, Run, Scenario, effects_by_path, replay};
pub use selection::Selection;
