//! Finding the law of a cost: the laws that are tried, how one is chosen, and what it predicts.

mod basis;
mod candidate;
mod choice;
mod hypothesis;
mod model;
mod next_run;
mod term;

pub use basis::{Basis, Pairs};
pub use hypothesis::Hypothesis;
pub use model::{EXTRAPOLATION_MAX, Model, Prediction, Refusal, WIDTH_MAX, within_reach};
pub use next_run::NextRun;
pub use term::{Factor, Term};
