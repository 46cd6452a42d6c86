//! Replay: the questions that users ask of a run's message graph, and their answers written down.
//!
//! A [`Question`] makes the scenarios that `falloff_messages` replays; [`Answer`] has what each case does to the run; [`report`]
//! writes it down.

mod answer;
mod by_path;
mod columns;
mod detour_file;
mod faster;
mod noise_file;
mod origin;
mod parameter;
mod question;
pub mod report;
mod words;

pub use answer::{Answer, Case};
pub use by_path::PathDelay;
pub use columns::{Column, columns};
pub use detour_file::detours;
pub use faster::shares;
pub use noise_file::{latency_noise_of_file, noise_of_file};
pub use origin::Origin;
pub use parameter::Parameter;
pub use question::{Faster, Question};
pub use words::{USUAL, measured_network, network};
