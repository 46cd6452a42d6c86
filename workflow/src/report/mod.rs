//! Reports: a score and an outlook as text for people, and as JSON and CSV for programs.

mod bounding;
mod causes;
mod caveats;
pub mod csv;
pub mod csv_tables;
pub(crate) mod escape;
mod findings;
mod functions;
pub mod json;
mod json_bounds;
mod json_causes;
mod json_findings;
mod names;
pub(crate) mod numbers;
pub mod outlook;
mod paint;
pub mod plots;
pub(crate) mod table;
mod text;
mod text_findings;
mod tree;
pub mod verdict;

pub(crate) use names::shorten;
pub(crate) use numbers::listed;
pub use paint::Paint;
pub use text::{TextOptions, text};
pub(crate) use text::{caveats as caveats_of, measured_lines, section};
