//! The database: the merged tree with exact integer values per location, kept as a directory of Parquet tables.
//!
//! `docs/database.md` describes the tables.

mod clock;
mod clock_groups;
mod column;
#[cfg(feature = "entrances")]
pub(crate) mod entrances;
mod files;
#[cfg(test)]
mod golden_tests;
mod health;
mod join;
mod left_out;
mod location;
mod losses;
mod manifest;
mod matched;
mod metric;
mod model;
mod module;
mod rational;
mod save;
mod section_values;
mod sorter;
mod statistics;
mod stored_file;
mod summary;
mod table;
mod time;
mod totals;
mod v1;
mod v2;
mod values;
mod without_loops;

pub use clock::{Clocks, CpuClock, WaitClock};
pub use clock_groups::ClockGroups;
pub(crate) use files::read_manifest;
pub use health::Health;
pub(crate) use join::united_provenance;
pub use location::{Location, ProcessState};
pub(crate) use location::{counted, mark_exec};
pub use losses::{Drops, Partials};
pub(crate) use manifest::MANIFEST_FILE;
pub use manifest::{Input, Operation, Provenance, Shard, SourceFile};
pub use matched::{InputCost, Level};
pub use metric::{Metric, Unit, Value};
pub use model::Database;
pub(crate) use model::{Head, Parts, SAMPLES};
pub use module::{ModuleInfo, SymbolSource};
pub use rational::{common_divisor, gcd, reduce};
pub(crate) use save::{Unfinished, check_place};
pub(crate) use sorter::{Places, Sorted, Sorter, summed};
pub use statistics::{PERCENTILES, Statistics};
pub use summary::Summary;
pub(crate) use time::{PARTS as TIME_PARTS, TIME, with_time, with_time_in_sections};
pub(crate) use v2::ITEM_END;
