//! An outlook as text for people, and as JSON and CSV for programs.

mod csv;
mod grid;
mod json;
mod json_part;
mod json_sections;
mod laws;
pub mod sizes;
mod terms;
mod text;
mod text_sections;

pub use csv::{bounds, grid, laws, notes, paths, section_times, sections};
pub use json::json;
pub use text::{OutlookOptions, text};
