//! What bounds the speed-up: the partial bound of every part, and all of them together.

mod partial;
mod waterfall;

pub use partial::{PartTimes, PartialBounds, partial_bound};
pub use waterfall::{Step, Waterfall};
