//! Views: the tree from above (calling contexts), from below (callers) and by program structure (flat).
//!
//! Values are sums of exclusive input values, hence linear in the columns: any linear combination of columns of
//! a view is the view of the combination.
//!
//! An [`Excerpt`] is what a [`Query`] leaves of a database, a [`Sheet`] a view of it with all its columns, [`Shown`] the rows
//! of it that [`text`], [`json`] and [`csv`] write. A [`Source`] is the lines of a source file with their cost.

mod callers;
mod column;
pub mod csv;
mod derived;
mod excerpt;
mod flat;
mod formula;
mod grouped;
mod health;
pub mod json;
mod label;
mod layout;
mod narrow;
mod pattern;
mod query;
#[cfg(test)]
mod query_tests;
mod scale;
mod selection;
mod sheet;
mod shown;
mod source;
pub mod source_data;
pub mod source_text;
mod spread;
#[cfg(test)]
mod tests;
pub mod text;
mod view;

pub use crate::cct::ScopeKind as RowKind;
pub use derived::{Derived, DerivedColumn, DerivedError};
pub use excerpt::{Excerpt, Step};
pub use formula::{Formula, FormulaError};
pub use health::{LEFT_OUT, health_lines, left_out_line};
pub(crate) use label::cut;
pub use layout::Layout;
pub use narrow::Narrow;
pub use pattern::{Pattern, PatternError};
pub use query::{Query, QueryError, metric};
pub use selection::{Selection, SelectionError};
pub use sheet::Sheet;
pub use shown::{HOT_SHARE, RowOptions, Shown, Sort};
pub use source::{LineCost, Source};
pub use spread::{Balance, Groups, SpreadOptions};
pub(crate) use view::Costs;
pub use view::{Row, View, ViewKind, build};
