//! Names of the tables and their columns.

use crate::database::column::Kind;

pub(in crate::database) const CONTEXTS: &str = "contexts";
pub(in crate::database) const LOCATIONS: &str = "locations";
pub(in crate::database) const METRICS: &str = "metrics";
pub(in crate::database) const MODULES: &str = "modules";
pub(in crate::database) const VALUES: &str = "values";
pub(super) const SUMMARY: &str = "summary";

/// Ends each item of a list in one text column.
pub(super) const ITEM_END: char = '\u{1f}';

/// Columns of a table that reading needs.
pub(in crate::database) fn columns(table: &str) -> &'static [(&'static str, Kind)] {
    match table {
        CONTEXTS => &[
            ("parent", Kind::U32),
            ("kind", Kind::Text),
            ("name", Kind::Text),
            ("module", Kind::MaybeText),
            ("file", Kind::MaybeText),
            ("line", Kind::MaybeU32),
            ("call_line", Kind::MaybeU32),
        ],
        LOCATIONS => &[
            ("rank", Kind::MaybeU32),
            ("host", Kind::Text),
            ("start_ns", Kind::U64),
            ("pid", Kind::U32),
            ("ordinal", Kind::U32),
            ("tid", Kind::U32),
            ("ppid", Kind::U32),
            ("ranks", Kind::U32),
            ("image", Kind::Text),
            ("argv", Kind::Text),
            ("thread", Kind::Text),
            ("main", Kind::Flag),
            ("helper", Kind::Flag),
            ("state", Kind::Text),
            ("forked", Kind::Flag),
            ("exec", Kind::Flag),
            ("cpu_clock", Kind::Text),
            ("wait_clock", Kind::Text),
            ("rate_hz", Kind::U32),
            ("periods", Kind::Text),
            ("wall_ns", Kind::U64),
            ("cpu_ns", Kind::U64),
            ("blocked_ns", Kind::U64),
            ("preempted_ns", Kind::U64),
            ("handler_ns", Kind::U64),
            ("samples", Kind::U64),
            ("wait_samples", Kind::U64),
            ("dropped_room", Kind::U64),
            ("dropped_unready", Kind::U64),
            ("partial_no_module", Kind::U64),
            ("partial_no_cfi", Kind::U64),
            ("partial_bad_read", Kind::U64),
            ("partial_not_advancing", Kind::U64),
            ("partial_unsupported", Kind::U64),
            ("truncated", Kind::U64),
            ("overruns", Kind::U64),
        ],
        METRICS => &[("name", Kind::Text), ("unit", Kind::Text), ("divisor", Kind::U64)],
        MODULES => &[
            ("path", Kind::Text),
            ("build_id", Kind::Text),
            ("source", Kind::Text),
            ("debug_file", Kind::MaybeText),
        ],
        VALUES => &[
            ("context", Kind::U32),
            ("location", Kind::U32),
            ("metric", Kind::U32),
            ("exclusive", Kind::I64),
        ],
        _ => &[],
    }
}
