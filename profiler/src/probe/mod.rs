//! Asks this machine what can be measured on it, and why the rest cannot.

mod machine;
mod measurable;
mod obstacle;
mod perf;

pub use machine::Machine;
pub use measurable::{Missing, measurable, missing_line};
pub use obstacle::{Obstacle, obstacle, permission_remedy};
pub use perf::Access;
