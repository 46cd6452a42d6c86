//! An outlook as text for people, and as JSON and CSV for programs.

mod csv;
mod json;
mod laws;
pub mod sizes;
mod terms;
mod text;

pub use csv::{laws, notes, paths};
pub use json::json;
pub use text::{OutlookOptions, text};
