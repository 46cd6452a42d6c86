//! Views: the tree from above (calling contexts), from below (callers) and by program structure (flat).
//!
//! Values are sums of exclusive input values, hence linear in the columns: any linear combination of columns of
//! a view is the view of the combination.

mod callers;
mod context;
mod flat;
mod grouped;
mod health;
pub mod json;
mod ratio;
#[cfg(test)]
mod tests;
pub mod text;
mod view;

pub use crate::cct::ScopeKind as RowKind;
pub use health::{LEFT_OUT, health_lines, left_out_line};
pub use ratio::{RATIOS, Ratio, RatioColumns, of_database};
pub use view::{Row, View, ViewKind, build};
