//! Cube's .cubex: an archive of one XML description and two files for each metric.

mod anchor;
mod archive;
mod metrics;
mod system;
mod values;
mod xml;

pub use archive::cube;
