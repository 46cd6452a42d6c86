//! From measurement files to what people read: merging, symbols, the calling context tree, the database and
//! its views.
//!
//! Data flows one way: [`open`] finds the measurement files of a run, decodes them, resolves every load module
//! once, merges all threads of all processes into one calling context tree ([`Tree`]) with exact integer values
//! per location, and keeps the result as a [`Database`] beside the run. [`views`] and [`export`] are pure
//! functions over a database.
#![deny(unsafe_code)]

pub mod algebra;
mod cct;
pub mod database;
#[cfg(feature = "entrances")]
#[doc(hidden)]
pub mod entrances;
mod error;
pub mod export;
mod isolate;
mod load;
mod map;
mod measurements;
mod merge;
pub mod messages;
mod module_table;
mod open;
#[cfg(test)]
mod open_tests;
mod openmp;
mod run_info;
mod scratch;
pub mod sections;
mod structure;
mod symbols;
#[cfg(test)]
mod synthetic;
pub mod views;

pub use cct::{Context, Scope, ScopeKind, Tree, TreeBuilder, union};
pub use database::{
    ClockGroups, Clocks, CpuClock, Database, Drops, Health, Input, InputCost, Level, Location, Metric,
    ModuleInfo, Operation, Partials, ProcessState, Provenance, Shard, SymbolSource, Unit, Value, WaitClock,
};
pub use error::Error;
pub use open::{OpenOptions, is_merged, merge_into, open, open_lazily};
pub use symbols::{Debuginfod, symbol_cache_dir};
