//! What ranks of a run wait for: the analysis of its calls of MPI, as text for people, and as JSON and CSV for programs.

mod csv;
mod json;
mod text;
#[cfg(test)]
mod text_tests;
mod waiting;

pub use csv::csv;
pub use json::json;
pub use text::{TextOptions, text};
pub use waiting::{Delay, Sufferer, Waiting};
