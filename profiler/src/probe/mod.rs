//! Asks this machine what can be measured on it, and why the rest cannot.

mod machine;
mod measurable;
mod obstacle;
mod perf;

pub use machine::Machine;
pub use measurable::{Missing, measurable, missing_line};
pub(crate) use obstacle::refusal;
pub use obstacle::{Obstacle, obstacle, permission_remedy};
pub use perf::Access;

#[cfg(test)]
pub(crate) use obstacle::tests;
