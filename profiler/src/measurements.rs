//! After the end: notes how the process ended in its measurement, and gives back the file's unused length.

use std::fs::{self, File, OpenOptions};
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use falloff_format::header::{ENDED_BY_EXIT, ENDED_BY_SIGNAL, HEADER_LEN, Header, STATE_ENDED};
use falloff_format::{Measurement, header::EXTENSION};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use zerocopy::IntoBytes;

/// Closes the measurements of a program that has ended as process `pid`. Gives whether it left one.
///
/// Faults are passed over: the files are complete without this, only longer than they need be.
pub(crate) fn close(measurements: &Path, run_id: &str, pid: u32, status: ExitStatus) -> bool {
    let host = nix::unistd::gethostname().unwrap_or_default();
    let host = format!("-{}-", host.to_string_lossy());
    let mut own = Vec::new();
    for entry in fs::read_dir(measurements).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.contains(&host) && n.ends_with(EXTENSION));
        let Some((file, header)) = ours.then(|| open(&entry.path(), run_id)).flatten() else { continue };
        if header.pid == pid {
            own.push((header.start_realtime_ns, file, header));
        } else if header.state == STATE_ENDED || !is_alive(header.pid) {
            cut(&file, &header);
        }
    }
    own.iter().for_each(|(_, file, header)| cut(file, header));
    // A process that executed several images ended in the last.
    if let Some((_, file, _)) = own.iter().max_by_key(|(started, ..)| *started) {
        note(file, status);
    }
    !own.is_empty()
}

fn open(path: &Path, run_id: &str) -> Option<(File, Header)> {
    let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    let mut bytes = [0; HEADER_LEN];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let header = *Measurement::parse(&bytes).ok()?.header();
    let of_run = header.run_id.split(|b| *b == 0).next() == Some(run_id.as_bytes());
    of_run.then_some((file, header))
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
