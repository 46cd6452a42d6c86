//! Columns of the tables that version 2 has changed.

use crate::database::column::Kind;
use crate::database::v2::{self, METRICS, VALUES};

/// Columns of a table that reading needs.
pub(in crate::database) fn columns(table: &str) -> &'static [(&'static str, Kind)] {
    match table {
        METRICS => &[("name", Kind::Text), ("unit", Kind::Text)],
        VALUES => &[
            ("context", Kind::U32),
            ("location", Kind::U32),
            ("metric", Kind::U32),
            ("exclusive", Kind::U64),
        ],
        unchanged => v2::columns(unchanged),
    }
}
