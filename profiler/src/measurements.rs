//! After the end: notes how the process ended in its measurement, gives back the file's unused length, keeps what names the
//! code that the process generated, and seals the measurement.

use std::fs::{self, File, OpenOptions};
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use falloff_format::header::{ENDED_BY_EXIT, ENDED_BY_SIGNAL, HEADER_LEN, Header, STATE_ENDED};
use falloff_format::{Measurement, header::EXTENSION};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use zerocopy::IntoBytes;

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
    let mut own = Vec::new();
    let mut left = Left::Nothing;
    for (path, file, header) in of_this_host(measurements) {
        if header.run_id.split(|b| *b == 0).next() != Some(run_id.as_bytes()) {
            continue;
        }
        left = Left::Others;
        let is_gone = header.pid == pid || !is_alive(header.pid);
        if is_gone || header.state == STATE_ENDED {
            cut(&file, &header);
        }
        // Until then it may add to what names its code.
        if is_gone {
            code_files::keep(measurements, &file, &header);
        }
        if header.pid == pid {
            own.push((header.start_realtime_ns, path, file, header.next));
        }
    }
    // A process that executed several images ended in the last.
    if let Some((_, _, file, _)) = own.iter().max_by_key(|(started, ..)| *started) {
        note(file, status);
    }
    // Others' may still be written, or be looked at by their own launchers.
    own.iter().for_each(|(_, path, file, used)| seal(path, file, *used));
    if own.is_empty() { left } else { Left::Own }
}

/// Waits until the processes of this host that are measured in the directory of a run have ended, but not longer than
/// `limit`: ranks of a job do not end all at once.
pub fn settle(dir: &Path, limit: Duration) {
    const STEP: Duration = Duration::from_millis(10);
    let measurements = dir.join(MEASUREMENTS);
    let end = Instant::now() + limit;
    while of_this_host(&measurements).any(|(.., header)| is_alive(header.pid)) && Instant::now() < end {
        std::thread::sleep(STEP);
    }
}

/// The measurements that processes of this host wrote or are writing, but not those that are sealed.
fn of_this_host(measurements: &Path) -> impl Iterator<Item = (PathBuf, File, Header)> {
    let host = nix::unistd::gethostname().unwrap_or_default();
    let host = format!("-{}-", host.to_string_lossy());
    fs::read_dir(measurements).into_iter().flatten().flatten().filter_map(move |entry| {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.contains(&host) && n.ends_with(EXTENSION));
        let path = entry.path();
        let (file, header) = ours.then(|| open(&path)).flatten()?;
        Some((path, file, header))
    })
}

fn open(path: &Path) -> Option<(File, Header)> {
    let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    let mut bytes = [0; HEADER_LEN];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let header = *Measurement::parse(&bytes).ok()?.header();
    Some((file, header))
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
