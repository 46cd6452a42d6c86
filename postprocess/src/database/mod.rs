//! The database: the merged tree with exact integer values per location, kept as a directory of Parquet tables.
//!
//! `docs/database.md` describes the tables.

mod clock;
mod column;
mod files;
#[cfg(test)]
mod golden_tests;
mod health;
mod join;
mod left_out;
mod location;
mod losses;
mod manifest;
mod model;
mod rational;
mod summary;
mod table;
mod time;
mod v1;
mod v2;

pub use clock::{Clocks, CpuClock, WaitClock};
pub(crate) use files::read_manifest;
pub use health::Health;
pub use location::{Location, ProcessState};
pub use losses::{Drops, Partials};
pub(crate) use manifest::MANIFEST_FILE;
pub use manifest::{Input, Operation, Provenance, SourceFile};
pub(crate) use model::Parts;
pub use model::{Database, Metric, ModuleInfo, SymbolSource, Unit, Value};
pub use rational::{common_divisor, gcd, reduce};
pub use summary::{Summary, summarise};
pub(crate) use time::with_time;
