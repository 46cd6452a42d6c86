//! What the reader of a model should know about its data: runs and scales that do not belong, and changes of law.

mod split;
mod stray;

pub use split::Split;
pub use stray::{StrayRun, StrayScale, stray_runs};
