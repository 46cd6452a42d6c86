//! Finding the measurement files of a run.

use std::fs;
use std::path::{Path, PathBuf};

use falloff_format::header::EXTENSION;

use crate::error::Error;

/// Where a run directory keeps them.
const MEASUREMENTS: &str = "measurements";

/// Measurement files of `dir/measurements`, or of `dir` if that is no run directory; sorted by name.
///
/// # Errors
/// [`Error::Directory`] if it cannot be read, [`Error::NoMeasurements`] if there are none.
pub(crate) fn find(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let below = dir.join(MEASUREMENTS);
    let mut files = if below.is_dir() { list(&below)? } else { Vec::new() };
    if files.is_empty() {
        files = list(dir)?;
    }
    if files.is_empty() {
        return Err(Error::NoMeasurements { path: dir.to_owned() });
    }
    files.sort();
    Ok(files)
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Directory { path: dir.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == EXTENSION) {
            files.push(path);
        }
    }
    Ok(files)
}
