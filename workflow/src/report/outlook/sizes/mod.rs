//! An outlook over problem sizes as text for people, and as JSON and CSV for programs.

mod csv;
mod json;
mod text;

pub use csv::paths;
pub use json::json;
pub use text::text;
