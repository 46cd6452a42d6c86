//! A test's own temporary directory and its turn on the machine.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tempfile::TempDir;

/// The machine's processors: held alone by tests that measure shares of CPU time, shared by all others.
static MACHINE: RwLock<()> = RwLock::new(());

type SharedTurn = RwLockReadGuard<'static, ()>;

thread_local! {
    /// The turn that workshops of this test share: a second one would wait for a test that wants to be alone and waits for
    /// the first.
    static SHARED: RefCell<Weak<SharedTurn>> = const { RefCell::new(Weak::new()) };
}

enum Turn {
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
    Shared(#[expect(dead_code, reason = "held, not read")] Rc<SharedTurn>),
}

/// A temporary directory, removed at the end, together with a turn on the machine.
pub struct Workshop {
    dir: TempDir,
    _turn: Turn,
}

impl Workshop {
    /// For tests that measure: no other test's programs run meanwhile.
    pub fn alone() -> Self {
        assert_eq!(SHARED.with_borrow(Weak::strong_count), 0, "this test has a turn that is shared");
        Self::with(Turn::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// For tests whose result does not depend on what else runs.
    pub fn shared() -> Self {
        let take = || Rc::new(MACHINE.read().unwrap_or_else(PoisonError::into_inner));
        let turn = SHARED.with_borrow(Weak::upgrade).unwrap_or_else(take);
        SHARED.set(Rc::downgrade(&turn));
        Self::with(Turn::Shared(turn))
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

#[test]
fn a_test_has_one_turn_for_all_its_workshops() {
    let first = Workshop::shared();
    let alone = std::thread::spawn(|| drop(Workshop::alone()));
    // It stands in line by now, and nobody else gets a turn.
    std::thread::sleep(std::time::Duration::from_millis(50));
    drop(Workshop::shared());
    drop(first);
    alone.join().expect("it gets its turn");
}
