//! A test's own temporary directory and its turn on the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tempfile::TempDir;

/// The machine's processors: held alone by tests that measure shares of CPU time, shared by all others.
static MACHINE: RwLock<()> = RwLock::new(());

enum Turn {
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
    Shared(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>),
}

/// A temporary directory, removed at the end, together with a turn on the machine.
pub struct Workshop {
    dir: TempDir,
    _turn: Turn,
}

impl Workshop {
    /// For tests that measure: no other test's programs run meanwhile.
    pub fn alone() -> Self {
        Self::with(Turn::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// For tests whose result does not depend on what else runs.
    pub fn shared() -> Self {
        Self::with(Turn::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn with(turn: Turn) -> Self {
        let dir = tempfile::Builder::new().prefix("falloff-test-").tempdir().expect("no temporary directory");
        Self { dir, _turn: turn }
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The path of `name` inside the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Copies the files of a folder (no deeper) into the directory.
    pub fn copy_folder(&self, from: &Path) {
        for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("failed to list {}: {e}", from.display())) {
            let from = entry.expect("unreadable directory entry").path();
            let name = from.file_name().expect("an entry has a name");
            fs::copy(&from, self.dir().join(name))
                .unwrap_or_else(|e| panic!("failed to copy {}: {e}", from.display()));
        }
    }
}
