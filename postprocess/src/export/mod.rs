//! Profiles in the formats of other tools: one module for each, over one model ([`Profile`]).

mod by;
mod caliper;
mod callgrind;
mod calls;
mod csv;
mod cube;
mod extrap;
mod firefox;
mod folded;
mod frames;
mod hatchet;
pub mod hpctoolkit;
mod labels;
mod negative;
mod parquet;
mod places;
mod pprof;
mod profile;
#[cfg(test)]
mod samples;
mod speedscope;
mod text;

pub use by::By;
pub use caliper::caliper;
pub use callgrind::callgrind;
pub use csv::csv;
pub use cube::cube;
pub use extrap::{Basis, extrap};
pub use firefox::firefox;
pub use folded::folded;
pub use hatchet::hatchet;
pub use hpctoolkit::{hpctoolkit, hpctoolkit_hatchet};
pub use parquet::parquet;
pub use pprof::pprof;
pub use profile::{Group, Profile};
pub use speedscope::speedscope;
