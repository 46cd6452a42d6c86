//! The database: the merged tree with exact integer values per location, kept as a directory of Parquet tables.
//!
//! `docs/database.md` describes the tables.

mod column;
mod files;
mod join;
mod location;
mod manifest;
mod model;
mod summary;
mod table;
mod v1;

pub(crate) use files::read_manifest;
pub use location::{Location, ProcessState};
pub(crate) use manifest::MANIFEST_FILE;
pub use manifest::{Provenance, SourceFile};
pub(crate) use model::Parts;
pub use model::{Database, Health, Metric, ModuleInfo, SymbolSource, Unit, Value};
pub use summary::{Summary, summarise};
