//! Files without a name.

use std::env::temp_dir;
use std::fs::{File, remove_file};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::map::Map;

/// Parts of the file begin at multiples of this, bytes.
const ALIGNMENT: u64 = 1 << 16;

/// A file that goes when it is closed: its name is taken away at once.
///
/// # Errors
/// What the system said.
pub(crate) fn scratch(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    remove_file(path)?;
    Ok(file)
}

/// A part of the one file of this process for what is inflated, which is where the system has files that are needed for a while. One
/// file is enough, since a run may have more files than a process may.
#[derive(Clone)]
pub(crate) struct Scratch {
    file: Arc<File>,
    first: u64,
    length: u64,
}

impl Scratch {
    /// A part that is empty and has room for so many bytes.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn reserve(bytes: u64) -> io::Result<Scratch> {
        static ALL: Mutex<Option<(Arc<File>, u64)>> = Mutex::new(None);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = match all.take() {
            // Nobody has a part any more.
            Some((file, _)) if Arc::strong_count(&file) == 1 => {
                file.set_len(0)?;
                (file, 0)
            }
            Some(all) => all,
            None => {
                let name = format!("falloff-log-{}", std::process::id());
                (Arc::new(scratch(&temp_dir().join(name))?), 0)
            }
        };
        *all = Some((file.clone(), (end + bytes).next_multiple_of(ALIGNMENT)));
        Ok(Scratch { file, first: end, length: 0 })
    }

    /// Writes bytes behind those that are there.
    ///
    /// # Errors
    /// What the system said.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.first + self.length)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// All that was written, in memory as far as it is looked at.
    ///
    /// # Errors
    /// What the system said.
    pub fn map(&self) -> io::Result<Map> {
        Map::part(&self.file, self.first, self.length)
    }

    /// Reads what was written from an offset on.
    ///
    /// # Errors
    /// What the system said, also that there is less.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, self.first + offset)
    }
}
