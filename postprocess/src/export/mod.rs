//! Profiles in the formats of other tools: one module for each, over one model ([`Profile`]).

mod by;
mod caliper;
mod calls;
mod cube;
mod extrap;
mod folded;
mod hatchet;
mod places;
mod profile;
#[cfg(test)]
mod samples;
mod text;

pub use by::By;
pub use caliper::caliper;
pub use cube::cube;
pub use extrap::{Basis, extrap};
pub use folded::folded;
pub use hatchet::hatchet;
pub use profile::{Group, Profile};
