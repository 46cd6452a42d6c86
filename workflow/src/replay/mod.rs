//! Replay: the questions that users ask of a run's message graph, and their answers written down.
//!
//! A [`Question`] makes the scenarios that `falloff_messages` replays; [`Answer`] has what each case does to the run; [`report`]
//! writes it down.

mod answer;
mod faster;
mod parameter;
mod question;
pub mod report;
mod words;

pub use answer::{Answer, Case};
pub use faster::shares;
pub use parameter::Parameter;
pub use question::{Faster, Question};
pub use words::{USUAL, measured_network, network};
