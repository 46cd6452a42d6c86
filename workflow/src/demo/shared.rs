//! The memory that the processes of the demonstration share: a map of one file.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::{Duration, Instant};

use memmap2::{MmapMut, MmapOptions};
use zerocopy::FromBytes;

/// Words of a process's border.
pub(super) const SLOT_WORDS: usize = 512;
/// How long a process waits for the others before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest sleep while waiting. Waiting costs next to no CPU time.
const NAP: Duration = Duration::from_millis(1);

/// The map: one word that counts arrivals at barriers, then each process's sum, then each process's border.
pub(super) struct Shared {
    map: &'static [AtomicU64],
    size: u64,
}

impl Shared {
    /// Joins the other processes. Rank 0 makes the file `path` and removes its name once all have it mapped.
    pub fn join(path: &Path, rank: u64, size: u64) -> io::Result<Shared> {
        let bytes = 8 * (1 + size * (1 + SLOT_WORDS as u64));
        if rank == 0 {
            let new = path.with_extension("new");
            OpenOptions::new().write(true).create_new(true).open(&new)?.set_len(bytes)?;
            fs::rename(&new, path)?;
        }
        let started = Instant::now();
        while !path.exists() {
            wait_a_little(started)?;
        }
        let words = <[AtomicU64]>::mut_from_bytes(map(path, bytes)?)
            .map_err(|_| io::Error::other("the map does not hold whole words"))?;
        let shared = Shared { map: words, size };
        shared.barrier(1)?;
        if rank == 0 {
            fs::remove_file(path)?;
        }
        Ok(shared)
    }

    /// Waits, asleep, until every process has come to its `count`-th barrier.
    #[inline(never)]
    pub fn barrier(&self, count: u64) -> io::Result<()> {
        let wanted = count * self.size;
        let started = Instant::now();
        if self.map[0].fetch_add(1, AcqRel) + 1 >= wanted {
            return Ok(());
        }
        while self.map[0].load(Acquire) < wanted {
            wait_a_little(started)?;
        }
        Ok(())
    }

    /// A process's sum.
    pub fn sum(&self, rank: u64) -> &AtomicU64 {
        &self.map[1 + rank as usize]
    }

    /// A process's border.
    pub fn slot(&self, rank: u64) -> &[AtomicU64] {
        let start = 1 + self.size as usize + rank as usize * SLOT_WORDS;
        &self.map[start..start + SLOT_WORDS]
    }
}

fn wait_a_little(since: Instant) -> io::Result<()> {
    if since.elapsed() > PATIENCE {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the other processes did not come"));
    }
    std::thread::sleep(NAP);
    Ok(())
}

/// Maps the first `bytes` of a file for as long as the process lives.
#[expect(unsafe_code, reason = "memory shared between processes cannot be had without a map")]
fn map(path: &Path, bytes: u64) -> io::Result<&'static mut [u8]> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.len() != bytes {
        return Err(io::Error::other("the shared file has another size; is it of another run?"));
    }
    // SAFETY: the file is as long as the map and is never cut: it was made for this run by rank 0, which takes its
    // name away. All access goes through the atomic words made of the map in `Shared::join`.
    let map: MmapMut = unsafe { MmapOptions::new().len(bytes as usize).map_mut(&file)? };
    Ok(&mut Box::leak(Box::new(map))[..])
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn processes_meet_and_see_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shared");
        std::thread::scope(|scope| {
            for rank in 0..3u64 {
                let path = &path;
                scope.spawn(move || {
                    let shared = Shared::join(path, rank, 3).unwrap();
                    shared.sum(rank).store(rank + 10, Relaxed);
                    shared.slot(rank)[SLOT_WORDS - 1].store(rank + 20, Relaxed);
                    shared.barrier(2).unwrap();
                    let next = (rank + 1) % 3;
                    assert_eq!(shared.sum(next).load(Relaxed), next + 10);
                    assert_eq!(shared.slot(next)[SLOT_WORDS - 1].load(Relaxed), next + 20);
                });
            }
        });
        assert!(!path.exists());
    }
}
