//! Memory maps of files: the one place with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

/// A file in memory, read-only.
pub(crate) struct Map(Option<Mmap>);

impl Map {
    /// Maps a regular file up to `limit` bytes.
    ///
    /// # Errors
    /// What the system said; a directory or device is refused.
    pub fn open(path: &Path, limit: u64) -> io::Result<Map> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Map::part(&file, 0, metadata.len().min(limit))
    }

    /// Maps so many bytes from an offset of a file, which has them.
    ///
    /// # Errors
    /// What the system said.
    pub fn part(file: &File, offset: u64, length: u64) -> io::Result<Map> {
        if length == 0 {
            return Ok(Map(None));
        }
        let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the map is private to this process and read-only. A measurement file may still be written
        // by the program under test: all readers copy values out byte by byte and check them, and no reference
        // to anything but bytes is made. A file that somebody truncates meanwhile ends this process by SIGBUS,
        // as it would any reader that maps files; nothing is corrupted by it.
        let map = unsafe { MmapOptions::new().offset(offset).len(length).map(file)? };
        Ok(Map(Some(map)))
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
