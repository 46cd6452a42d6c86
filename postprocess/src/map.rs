//! Memory maps of files: the one place with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::{Mmap, MmapOptions, UncheckedAdvice};

/// A file in memory, read-only.
pub(crate) struct Map(Option<Mmap>);

impl Map {
    /// Maps a regular file up to `limit` bytes.
    ///
    /// # Errors
    /// What the system said; a directory or device is refused.
    pub fn open(path: &Path, limit: u64) -> io::Result<Map> {
        Map::of(&File::open(path)?, limit)
    }

    /// Maps a regular file that is open.
    ///
    /// # Errors
    /// As for [`Map::open`].
    pub fn of(file: &File, limit: u64) -> io::Result<Map> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let length = metadata.len().min(limit);
        if length == 0 {
            return Ok(Map(None));
        }
        let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the map is private to this process and read-only. A measurement file may still be written
        // by the program under test: all readers copy values out byte by byte and check them, and no reference
        // to anything but bytes is made. A file that somebody truncates meanwhile ends this process by SIGBUS,
        // as it would any reader that maps files; nothing is corrupted by it.
        let map = unsafe { MmapOptions::new().len(length).map(file)? };
        Ok(Map(Some(map)))
    }

    /// Gives the memory of the pages that a range touches back to the system, which reads them from the file again if they are looked
    /// at again.
    pub fn release(&self, range: Range<usize>) {
        let Some(map) = &self.0 else { return };
        let length = range.end.min(map.len()).saturating_sub(range.start);
        if length > 0 {
            // SAFETY: the map is shared and read-only: its pages hold what the file holds, before and after. That the system
            // does not do as asked costs memory and nothing else.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, length) };
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
