//! After the end: notes how the process ended in its measurement, gives back the file's unused length, keeps what names the
//! code that the process generated, and seals the measurement.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use falloff_format::header::{
    ENDED_BY_EXIT, ENDED_BY_SIGNAL, HEADER_LEN, Header, NO_RANK, SEALED_MAGIC, STATE_ENDED,
};
use falloff_format::{Measurement, header::EXTENSION};
use flate2::read::GzDecoder;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use zerocopy::IntoBytes;

use crate::rank::own_rank;
use crate::seal::seal;
use crate::{MEASUREMENTS, code_files};

/// What a program left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing that can be read.
    Nothing,
    /// A measurement of some process of its run, not of itself.
    Others,
    /// A measurement of itself.
    Own,
}

/// Closes the measurements of a program that has ended as process `pid`. Gives what it left.
///
/// Faults are passed over: the files are complete without this, only longer than they need be.
pub(crate) fn close(measurements: &Path, run_id: &str, pid: u32, status: ExitStatus) -> Left {
    close_of_rank(own_rank().unwrap_or(NO_RANK), measurements, run_id, pid, status)
}

fn close_of_rank(rank: i32, measurements: &Path, run_id: &str, pid: u32, status: ExitStatus) -> Left {
    let mut own = Vec::new();
    let mut left = Left::Nothing;
    for found in of_this_host(measurements) {
        let Found { file, header, sealed, .. } = &found;
        if header.run_id.split(|b| *b == 0).next() != Some(run_id.as_bytes()) {
            continue;
        }
        left = Left::Others;
        // By its own launcher: nothing is left to do.
        if *sealed {
            continue;
        }
        // Ranks in containers share the host's name and have the same numbers, or such as nobody else can see.
        let is_other_rank = rank != NO_RANK && header.told_rank() != rank;
        let is_gone = header.pid == pid || !is_alive(header.pid);
        if header.state == STATE_ENDED || is_gone && !is_other_rank {
            cut(file, header);
        }
        // Until then it may add to what names its code.
        if is_gone {
            code_files::keep(measurements, file, header);
        }
        if header.pid == pid && !is_other_rank {
            own.push(found);
        }
    }
    // A process that executed several images ended in the last.
    if let Some(last) = own.iter().max_by_key(|found| found.header.start_realtime_ns) {
        note(&last.file, status);
    }
    // Others' may still be written, or be looked at by their own launchers.
    own.iter().for_each(|found| seal(&found.path, &found.file, found.header.next));
    if own.is_empty() { left } else { Left::Own }
}

/// Waits until the processes of this host that are measured in the directory of a run have ended, but not longer than
/// `limit`: ranks of a job do not end all at once.
pub fn settle(dir: &Path, limit: Duration) {
    const STEP: Duration = Duration::from_millis(10);
    let measurements = dir.join(MEASUREMENTS);
    let end = Instant::now() + limit;
    while of_this_host(&measurements).any(|found| !found.sealed && is_alive(found.header.pid))
        && Instant::now() < end
    {
        std::thread::sleep(STEP);
    }
}

/// A measurement of a process of this host.
struct Found {
    path: PathBuf,
    file: File,
    header: Header,
    sealed: bool,
}

/// The measurements that processes of this host wrote or are writing.
fn of_this_host(measurements: &Path) -> impl Iterator<Item = Found> {
    let host = nix::unistd::gethostname().unwrap_or_default();
    let host = format!("-{}-", host.to_string_lossy());
    fs::read_dir(measurements).into_iter().flatten().flatten().filter_map(move |entry| {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.contains(&host) && n.ends_with(EXTENSION));
        ours.then(|| open(entry.path())).flatten()
    })
}

fn open(path: PathBuf) -> Option<Found> {
    let file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
    let mut bytes = [0; HEADER_LEN];
    // A sealed one may be shorter than its header.
    let length = file.read_at(&mut bytes, 0).ok()?;
    let sealed = bytes.starts_with(&SEALED_MAGIC);
    if sealed {
        GzDecoder::new(&file).read_exact(&mut bytes).ok()?;
    } else if length < HEADER_LEN {
        return None;
    }
    let header = *Measurement::parse(&bytes).ok()?.header();
    Some(Found { path, file, header, sealed })
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH))
}

/// Nobody claims more of it: what lies behind the last chunk is a hole.
fn cut(file: &File, header: &Header) {
    if file.metadata().is_ok_and(|m| m.len() > header.next) {
        let _ = file.set_len(header.next);
    }
}

fn note(file: &File, status: ExitStatus) {
    let (kind, value) = match status.signal() {
        Some(signal) => (ENDED_BY_SIGNAL, signal),
        None => (ENDED_BY_EXIT, status.code().unwrap_or(0)),
    };
    let _ = file.write_all_at([kind, value as u32].as_bytes(), offset_of!(Header, ending) as u64);
}

#[cfg(test)]
mod tests {
    use falloff_format::header::{BYTE_ORDER, MAGIC, MAJOR};
    use zerocopy::FromZeros;

    use super::*;

    const RUN: &str = "a-run";
    const LENGTH: u64 = 40_000;

    /// A directory of measurements.
    struct Measurements(tempfile::TempDir);

    impl Measurements {
        fn new() -> Measurements {
            Measurements(tempfile::tempdir().unwrap())
        }

        fn path(&self, pid: u32, image: &str) -> PathBuf {
            let host = nix::unistd::gethostname().unwrap();
            self.0.path().join(format!("x-{}-{pid}-1-{image}.falloff", host.to_string_lossy()))
        }

        fn write(&self, pid: u32, image: &str, start: u64) {
            let mut header = Header::new_zeroed();
            (header.magic, header.major, header.byte_order) = (MAGIC, MAJOR, BYTE_ORDER);
            (header.header_len, header.node_key_len) = (HEADER_LEN as u32, 16);
            (header.pid, header.rank, header.next, header.start_realtime_ns) = (pid, 1, LENGTH, start);
            header.run_id[..RUN.len()].copy_from_slice(RUN.as_bytes());
            let mut bytes = header.as_bytes().to_vec();
            bytes.resize(2 * LENGTH as usize, 0);
            fs::write(self.path(pid, image), bytes).unwrap();
        }

        fn close(&self, rank: i32, pid: u32) -> Left {
            close_of_rank(rank, self.0.path(), RUN, pid, ExitStatus::from_raw(9))
        }

        fn found(&self, pid: u32, image: &str) -> Found {
            open(self.path(pid, image)).unwrap()
        }
    }

    /// No process has so high a number.
    const GONE: u32 = i32::MAX as u32;

    #[test]
    fn only_the_programs_own_images_are_sealed() {
        let there = Measurements::new();
        there.write(GONE, "first", 1);
        there.write(GONE, "second", 2);
        there.write(GONE - 1, "child", 3);
        assert_eq!(there.close(1, GONE), Left::Own);
        let [first, second] = ["first", "second"].map(|image| there.found(GONE, image));
        assert!(first.sealed && second.sealed);
        assert_eq!((first.header.ending, second.header.ending), (0, ENDED_BY_SIGNAL));
        assert_eq!(second.header.ending_value, 9);
        let child = there.found(GONE - 1, "child");
        assert!(!child.sealed);
        assert_eq!(child.file.metadata().unwrap().len(), LENGTH, "it is cut all the same");
    }

    #[test]
    fn a_sealed_one_counts_and_stays() {
        let there = Measurements::new();
        assert_eq!(there.close(1, GONE), Left::Nothing);
        there.write(GONE, "other", 1);
        there.close(1, GONE);
        let before = fs::read(there.path(GONE, "other")).unwrap();
        assert_eq!(there.close(1, GONE - 1), Left::Others);
        // Nor is it taken for a measurement of a later process with the same number.
        assert_eq!(there.close(1, GONE), Left::Others);
        assert_eq!(fs::read(there.path(GONE, "other")).unwrap(), before);
    }

    #[test]
    fn other_ranks_with_the_same_number_are_left_alone() {
        let there = Measurements::new();
        there.write(GONE, "prog", 1);
        assert_eq!(there.close(2, GONE), Left::Others);
        let other = there.found(GONE, "prog");
        assert!(!other.sealed && other.file.metadata().unwrap().len() == 2 * LENGTH);
        // Without ranks the number says all.
        assert_eq!(there.close(NO_RANK, GONE), Left::Own);
        assert!(there.found(GONE, "prog").sealed);
    }
}
