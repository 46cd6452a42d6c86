//! Names of the tables and their columns.

use crate::database::column::Kind;
use crate::database::statistics::PERCENTILES;

pub(in crate::database) const CONTEXTS: &str = "contexts";
pub(in crate::database) const LOCATIONS: &str = "locations";
pub(in crate::database) const METRICS: &str = "metrics";
pub(in crate::database) const MODULES: &str = "modules";
pub(in crate::database) const VALUES: &str = "values";
pub(in crate::database) const SUMMARY: &str = "summary";

/// Ends each item of a list in one text column. No item has it.
pub(crate) const ITEM_END: char = '\u{1f}';

/// Names of the columns of statistics.
pub(super) struct StatisticsColumns {
    pub sum: &'static str,
    pub min: &'static str,
    pub percentiles: [&'static str; PERCENTILES.len()],
    pub max: &'static str,
    pub max_location: &'static str,
    pub participants: &'static str,
    pub square_sum_high: &'static str,
    pub square_sum_low: &'static str,
}

/// Names that begin alike.
macro_rules! statistics {
    ($of:literal) => {
        StatisticsColumns {
            sum: concat!($of, "_sum"),
            min: concat!($of, "_min"),
            percentiles: [
                concat!($of, "_p10"),
                concat!($of, "_p25"),
                concat!($of, "_p50"),
                concat!($of, "_p75"),
                concat!($of, "_p90"),
            ],
            max: concat!($of, "_max"),
            max_location: concat!($of, "_max_location"),
            participants: concat!($of, "_participants"),
            square_sum_high: concat!($of, "_square_sum_high"),
            square_sum_low: concat!($of, "_square_sum_low"),
        }
    };
}
pub(super) const INCLUSIVE: StatisticsColumns = statistics!("inclusive");
pub(super) const EXCLUSIVE: StatisticsColumns = statistics!("exclusive");

/// Columns of the summary that opening needs.
pub(in crate::database) const SUMS: &[(&str, Kind)] = &[
    ("context", Kind::U32),
    ("metric", Kind::U32),
    (EXCLUSIVE.sum, Kind::I64),
    (EXCLUSIVE.participants, Kind::U32),
    ("helper_sum", Kind::I64),
];

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
        SUMMARY => &[
            ("context", Kind::U32),
            ("metric", Kind::U32),
            (INCLUSIVE.sum, Kind::I64),
            (INCLUSIVE.min, Kind::I64),
            (INCLUSIVE.percentiles[0], Kind::I64),
            (INCLUSIVE.percentiles[1], Kind::I64),
            (INCLUSIVE.percentiles[2], Kind::I64),
            (INCLUSIVE.percentiles[3], Kind::I64),
            (INCLUSIVE.percentiles[4], Kind::I64),
            (INCLUSIVE.max, Kind::I64),
            (INCLUSIVE.max_location, Kind::MaybeU32),
            (INCLUSIVE.participants, Kind::U32),
            (INCLUSIVE.square_sum_high, Kind::U64),
            (INCLUSIVE.square_sum_low, Kind::U64),
            (EXCLUSIVE.sum, Kind::I64),
            (EXCLUSIVE.min, Kind::I64),
            (EXCLUSIVE.percentiles[0], Kind::I64),
            (EXCLUSIVE.percentiles[1], Kind::I64),
            (EXCLUSIVE.percentiles[2], Kind::I64),
            (EXCLUSIVE.percentiles[3], Kind::I64),
            (EXCLUSIVE.percentiles[4], Kind::I64),
            (EXCLUSIVE.max, Kind::I64),
            (EXCLUSIVE.max_location, Kind::MaybeU32),
            (EXCLUSIVE.participants, Kind::U32),
            (EXCLUSIVE.square_sum_high, Kind::U64),
            (EXCLUSIVE.square_sum_low, Kind::U64),
            ("helper_sum", Kind::I64),
        ],
        other => super::sections::columns(other),
    }
}
