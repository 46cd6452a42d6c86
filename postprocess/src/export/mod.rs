//! Profiles in the formats of other tools: one module for each, over one model ([`Profile`]).

mod by;
mod folded;
mod profile;

pub use by::By;
pub use folded::folded;
pub use profile::{Group, Profile};
