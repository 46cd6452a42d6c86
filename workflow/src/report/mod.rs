//! Reports: a score as text for people, and as JSON and CSV for programs.

mod causes;
pub mod csv;
mod functions;
pub mod json;
mod json_causes;
mod names;
mod paint;
pub(crate) mod table;
mod text;
mod tree;
pub mod verdict;

pub use paint::Paint;
pub use text::{TextOptions, text};
