//! Files that a target reads, in a directory of this process.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory, in memory if the environment puts temporary files there.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// An empty one.
    ///
    /// # Panics
    /// If there is no place for temporary files.
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("no place for temporary files"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If that fails: it is no finding, but nothing would be tested.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, bytes).expect("failed to write a temporary file");
        path
    }
}

/// A directory of files that came with the source.
pub(crate) fn source(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(below)
}

/// What a directory holds, sorted by name.
///
/// # Panics
/// If it cannot be read.
pub(crate) fn list(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("failed to read {}: {e}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
