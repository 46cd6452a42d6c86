//! What every test needs: a place to work, commands with a time limit, compilers, and a reader of exports.

pub mod build;
pub mod clocks;
pub mod command;
pub mod cost;
pub mod event_log;
pub mod event_run;
pub mod folded;
pub mod health;
pub mod measured;
pub mod ranks;
pub mod sampling;
pub mod slurm;
pub mod source;
pub mod sweeps;
pub mod tools;
pub mod workshop;

pub use build::{build, build_with};
pub use command::{Outcome, Running, bash, data, falloff, falloff_run, outcome, programs};
pub use cost::cost;
pub use folded::{Folded, total};
pub use health::{Health, health};
pub use slurm::Slurm;
pub use workshop::Workshop;
