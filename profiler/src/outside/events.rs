//! perf's task clock on a process and all that it will start, one event with a ring for each processor.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd};

use nix::errno::Errno;
use perf_event::events::Software;
use perf_event::{Builder, Clock};

use super::record::{self, Record};
use super::registers;
use super::ring::{Ring, page_size};
use crate::event::PerfEvent;

/// Bytes of stack that are copied: a frame that lies further out is not seen.
const STACK: u32 = 32 << 10;
/// Bytes of a ring where as much may be locked as is wished for: 60 samples.
const RING: usize = 2 << 20;
/// What `wakeup_watermark` calls half of the ring, whatever its size.
const HALF_FULL: usize = 0;
/// Parts of `perf_event_attr::sample_type`.
const IP: u64 = 1;
const THREAD: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const PERIOD: u64 = 1 << 8;
const REGISTERS: u64 = 1 << 12;
const USER_STACK: u64 = 1 << 13;

/// The events.
pub(super) struct Events {
    events: Vec<(File, Ring)>,
    /// Keeps parents' intervals apart from their children's, see [`anchor`].
    _anchor: File,
    /// Whether samples in the kernel are among them.
    pub(super) with_kernel: bool,
}

impl Events {
    /// Opens them on a process, to begin with its exec.
    pub(super) fn open(pid: i32, period_ns: u64) -> Result<Events, Errno> {
        let (files, with_kernel) = match open_all(pid, period_ns, true) {
            Err(Errno::EACCES | Errno::EPERM) => (open_all(pid, period_ns, false)?, false),
            opened => (opened?, true),
        };
        let rings = map_all(&files)?;
        let events = files.into_iter().zip(rings).collect();
        Ok(Events { events, _anchor: anchor(pid)?, with_kernel })
    }

    /// What can be waited for: a ring is half full, or nobody is left who could fill it.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.events.iter().map(|(file, _)| file.as_fd())
    }

    /// Takes all records that have been written since the last time.
    pub(super) fn drain(&mut self, mut each: impl FnMut(Record)) {
        for (_, ring) in &mut self.events {
            ring.drain(|bytes| record::parse(bytes).into_iter().for_each(&mut each));
        }
    }

    /// CPU time of all processes so far, ns.
    pub(super) fn used_ns(&self) -> u64 {
        self.events.iter().filter_map(|(file, _)| read_count(file).ok()).sum()
    }
}

fn read_count(mut event: &File) -> io::Result<u64> {
    let mut count = [0; 8];
    io::Read::read_exact(&mut event, &mut count)?;
    Ok(u64::from_ne_bytes(count))
}

/// One event for each processor: those that are inherited can have no ring for all.
fn open_all(pid: i32, period_ns: u64, with_kernel: bool) -> Result<Vec<File>, Errno> {
    processors().into_iter().map(|cpu| open(pid, cpu, period_ns, with_kernel)).collect()
}

fn open(pid: i32, cpu: usize, period_ns: u64, with_kernel: bool) -> Result<File, Errno> {
    let event = PerfEvent::task_clock();
    let mut builder = Builder::new().observe_pid(pid).one_cpu(cpu);
    builder.exclude_kernel(!with_kernel).exclude_hv(!with_kernel);
    // Of each thread that ends, `inherit_stat` has the count written.
    builder.enable_on_exec(true).inherit(true).inherit_stat(true);
    builder.sample_period(period_ns).wakeup_watermark(HALF_FULL).clockid(Clock::MONOTONIC);
    builder.mmap(true).mmap2(true).comm(true).comm_exec(true).task(true).sample_id_all(true);
    builder.sample_regs_user(registers::MASK).sample_stack_user(STACK);
    let attributes = builder.attrs_mut();
    (attributes.type_, attributes.config) = (event.kind, event.config);
    attributes.sample_type = IP | THREAD | TIME | PERIOD | REGISTERS | USER_STACK;
    attributes.read_format = 0;
    built(builder)
}

fn built(builder: Builder<'_>) -> Result<File, Errno> {
    let counter = builder.build().map_err(|error| errno(&error))?;
    // SAFETY: the descriptor of the counter, which gives it up.
    Ok(unsafe { File::from_raw_fd(counter.into_raw_fd()) })
}

/// An event that counts nothing and is not inherited. Without it parent and child have the same events, and the kernel lets them
/// change places where it switches from one to the other: with their intervals, which a child that ends takes with it.
fn anchor(pid: i32) -> Result<File, Errno> {
    let mut builder = Builder::new().kind(Software::DUMMY).observe_pid(pid);
    builder.exclude_kernel(true).exclude_hv(true);
    built(builder)
}

/// Rings of one size, the largest that this user may lock.
fn map_all(files: &[File]) -> Result<Vec<Ring>, Errno> {
    let mut size = RING;
    loop {
        let rings: io::Result<Vec<Ring>> = files.iter().map(|file| Ring::map(file, size)).collect();
        match rings {
            Err(error) if size / 2 < page_size().max(2 * STACK as usize) => return Err(errno(&error)),
            Err(_) => size /= 2,
            Ok(rings) => return Ok(rings),
        }
    }
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// Numbers of the processors that are on.
fn processors() -> Vec<usize> {
    let list = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let found = numbers(list.trim());
    if found.is_empty() {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
    } else {
        found
    }
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> Vec<usize> {
    let number = |text: &str| text.parse::<usize>().ok();
    let ranges = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(number(first)?..=number(last)?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(numbers("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(numbers("0"), [0]);
        assert!(numbers("").is_empty() && numbers("x-").is_empty());
        assert!(!processors().is_empty());
    }
}
