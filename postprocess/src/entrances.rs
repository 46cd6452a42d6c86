//! Entrances for fuzzers (`tests/fuzz`): what others may have damaged is read as it is read otherwise, but in pieces and
//! without a run around it. No part of the library's interface.

use std::path::Path;

pub use crate::database::entrances::{Edit, edit_table};
use crate::error::Error;
use crate::isolate::isolate;
use crate::load::find;
use crate::measurements::Measurements;
use crate::{Database, OpenOptions};

pub use crate::symbols::entrances::{
    ask_debuginfod, code, generated_code, load_cache_entry, make_cache_entry, names, resolve,
};

/// Has the handler of panics in place that keeps those of damaged files from being printed: one that is set after this
/// sees them all.
pub fn begin() {
    // Nothing can go wrong with nothing.
    let _ = isolate(|| ());
}

/// Merges the measurement files of a directory, keeping nothing.
///
/// # Errors
/// Those of opening a run.
pub fn merge(dir: &Path, graft_openmp: bool) -> Result<Database, Error> {
    let options = OpenOptions { graft_openmp, ..OpenOptions::default() };
    let measurements = Measurements::of(dir, &find(dir)?, None)?;
    let failed = |e: std::io::Error| Error::DatabaseWrite { path: dir.to_owned(), reason: e.to_string() };
    measurements.merge_in_memory(&options).map_err(failed)
}
