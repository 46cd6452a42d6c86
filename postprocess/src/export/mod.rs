//! Databases in the formats of other tools.

mod folded;

pub use folded::{By, folded};
