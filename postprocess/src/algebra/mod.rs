//! Operations on databases whose results are databases again.
//!
//! Values are exact: whole numbers over one divisor for each metric, so the laws that one expects hold without rounding,
//! such as `a = diff(a, b) + b`. What a database does not have counts as 0. Call paths of different builds are matched in
//! four levels ([`crate::Level`]); locations are paired where both runs have the same ranks and threads, else gathered.
//! Metrics that follow from others (`time`) are made anew from the result's. Every result tells in its history what it was
//! made of and by which operation.

mod alignment;
mod builds;
mod collapse;
mod comparable;
mod cut;
mod derived;
mod difference;
mod filter;
mod fraction;
mod gathered;
mod json;
mod merge;
mod nearest;
mod operand;
mod places;
mod pointwise;
mod siblings;
#[cfg(test)]
mod tests;
mod text;
mod united;

pub use collapse::collapse;
pub use cut::{Cut, cut};
pub(crate) use derived::Content;
pub use difference::{Change, Difference, Presence, diff};
pub use filter::{Filter, filter};
pub use fraction::Fraction;
pub use gathered::Gathering;
pub use json::json;
pub use merge::{Overlap, merge};
pub use operand::Operand;
pub use places::Locations;
pub use pointwise::{max, mean, min, scale, sum};
pub use text::text;
