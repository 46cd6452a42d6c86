//! The memory that the kernel writes the records of one event into, over and over from its start.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use super::record::{self, HEAD};

/// Where the kernel says, in the first page, how far it has written since the beginning.
const WRITTEN: usize = 1024;
/// Where we say how far we have read.
const READ: usize = 1032;

/// A ring.
pub(super) struct Ring {
    memory: MmapRaw,
    page: usize,
    size: usize,
    /// The record at hand, whole.
    record: Vec<u8>,
}

impl Ring {
    /// Maps the ring of an event, with room for `size` bytes: a power of two of pages.
    pub(super) fn map(event: &File, size: usize) -> io::Result<Ring> {
        let page = page_size();
        let memory = MmapOptions::new().len(page + size).map_raw(event.as_raw_fd())?;
        Ok(Ring { memory, page, size, record: Vec::new() })
    }

    /// Reads what has been written since the last time.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        // SAFETY: aligned words of the first page, which is mapped as long as `self`; the kernel changes them atomically.
        let word = |at| unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().add(at).cast()) };
        let (written, read) = (word(WRITTEN), word(READ));
        let end = written.load(Ordering::Acquire);
        let mut at = read.load(Ordering::Relaxed);
        let mut bytes = std::mem::take(&mut self.record);
        while at < end {
            let mut head = [0; HEAD];
            self.copy(at, &mut head);
            let length = record::length(head);
            if length < HEAD || at + length as u64 > end {
                // Not a record: nothing behind it can be found.
                at = end;
                break;
            }
            bytes.resize(length, 0);
            self.copy(at, &mut bytes);
            each(&bytes);
            at += length as u64;
        }
        read.store(at, Ordering::Release);
        self.record = bytes;
    }

    /// Copies what stands at a place in all that was ever written; a record may go on at the start of the ring.
    fn copy(&self, at: u64, to: &mut [u8]) {
        let start = (at % self.size as u64) as usize;
        let first = to.len().min(self.size - start);
        let (before, after) = to.split_at_mut(first);
        for (place, piece) in [(start, before), (0, after)] {
            let from = self.memory.as_ptr().wrapping_add(self.page + place);
            // SAFETY: at most `size` bytes from the place on are mapped; the kernel does not write there before we have said
            // that we have read it.
            unsafe { std::ptr::copy_nonoverlapping(from, piece.as_mut_ptr(), piece.len()) };
        }
    }
}

/// Bytes of a page.
pub(super) fn page_size() -> usize {
    // SAFETY: no arguments that could be wrong.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
