//! Signal context: yes. Kernel performance events of one thread that trap on its way back to user mode.
//!
//! A trap (`attr.sigtrap`) never interrupts a system call, so no call ever fails with EINTR because of it. The
//! descriptor is closed at once: the mapped pages keep the event alive, and there is nothing for the program to close.

use core::sync::atomic::{AtomicU64, Ordering};

use falloff_format::limits::TRAPS_KERNEL_MIN;

use crate::raw;

/// `si_code` of a trap.
pub const TRAP_PERF: i32 = 6;
/// Software events.
pub const TYPE_SOFTWARE: u32 = 1;
/// CPU time of the thread, nanoseconds.
pub const TASK_CLOCK: u64 = 1;
/// Switches away from the thread.
pub const CONTEXT_SWITCHES: u64 = 3;

const PAGE: usize = 4096;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_READ: u64 = 1 << 4;
const RECORD_SAMPLE: u32 = 9;
/// Words of a sample record: its head, the time, the count.
const SAMPLE_WORDS: u64 = 3;

const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FREQUENCY: u64 = 1 << 10;
const USE_CLOCK: u64 = 1 << 25;
const REMOVE_ON_EXEC: u64 = 1 << 36;
const SIGTRAP: u64 = 1 << 37;

/// What to count and when to trap.
#[derive(Clone, Copy)]
pub struct Request {
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// Counts between two traps, or traps a second.
    pub period: u64,
    /// Whether `period` is traps a second.
    pub is_rate: bool,
    /// Only in user mode.
    pub user_only: bool,
    /// Whether records of the traps are wanted: time and count.
    pub records: bool,
}

/// The kernel's `perf_event_attr`, version 7.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: [u32; 2],
    breakpoint: [u64; 2],
    branch_type: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    auxiliary: [u32; 4],
    signal_data: u64,
}

const _: () = assert!(size_of::<Attributes>() == 128);

/// A live event; none if null.
pub struct Event {
    pages: *mut u8,
    length: usize,
}

/// What a trap's record says.
#[derive(Clone, Copy)]
pub struct Record {
    /// When the event happened, `CLOCK_MONOTONIC` ns.
    pub time_ns: u64,
    /// Count so far.
    pub count: u64,
}

/// Whether this kernel's traps are harmless.
pub fn is_supported(release: &[u8]) -> bool {
    let mut numbers = release.split(|b| !b.is_ascii_digit()).map(crate::text::decimal);
    let mut next = || numbers.next().flatten().unwrap_or(0) as u32;
    (next(), next()) >= TRAPS_KERNEL_MIN
}

impl Event {
    /// No event.
    pub const NONE: Event = Event { pages: core::ptr::null_mut(), length: 0 };

    /// Opens an event on the calling thread that traps with `data`.
    pub fn open(request: &Request, data: u64) -> Result<Event, raw::Errno> {
        let user = if request.user_only { EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR } else { 0 };
        let rate = if request.is_rate { FREQUENCY } else { 0 };
        let attributes = Attributes {
            kind: request.kind,
            size: size_of::<Attributes>() as u32,
            config: request.config,
            period: request.period,
            sample_type: if request.records { SAMPLE_TIME | SAMPLE_READ } else { 0 },
            flags: USE_CLOCK | REMOVE_ON_EXEC | SIGTRAP | user | rate,
            clock: libc::CLOCK_MONOTONIC,
            signal_data: data,
            ..Attributes::default()
        };
        let fd = raw::perf_event_open((&raw const attributes).cast())?;
        let length = if request.records { 2 * PAGE } else { PAGE };
        let mapped = raw::map_event(fd, length);
        raw::close(fd);
        Ok(Event { pages: mapped?, length })
    }

    /// Whether there is one.
    pub fn is_live(&self) -> bool {
        !self.pages.is_null()
    }

    /// Ends it.
    pub fn close(&mut self) {
        if self.is_live() {
            // SAFETY: mapped by `open`, used by this event only.
            unsafe { raw::unmap(self.pages, self.length) };
            *self = Event::NONE;
        }
    }

    /// Forgets it, in the child of a fork, which does not have the mapping.
    pub fn forget(&mut self) {
        *self = Event::NONE;
    }

    /// The record of the last trap, and empties the buffer.
    pub fn last_record(&mut self) -> Option<Record> {
        const HEAD: usize = 1024;
        const TAIL: usize = 1032;
        if self.length < 2 * PAGE {
            return None;
        }
        // SAFETY: two words of the first mapped page that are shared with the kernel.
        let (head, tail) = unsafe {
            (
                AtomicU64::from_ptr(self.pages.add(HEAD).cast()),
                AtomicU64::from_ptr(self.pages.add(TAIL).cast()),
            )
        };
        let end = head.load(Ordering::Acquire);
        // SAFETY: a word of the data page, wherever the position lies.
        let word =
            |at: u64| unsafe { self.pages.add(PAGE + (at as usize & (PAGE - 8))).cast::<u64>().read() };
        let start = end.checked_sub(8 * SAMPLE_WORDS).filter(|s| *s >= tail.load(Ordering::Relaxed))?;
        let record = (word(start) as u32 == RECORD_SAMPLE && word(start) >> 48 == 8 * SAMPLE_WORDS)
            .then(|| Record { time_ns: word(start + 8), count: word(start + 16) });
        tail.store(end, Ordering::Release);
        record
    }

    /// Count so far, as of the thread's last switch or trap.
    pub fn count(&self) -> u64 {
        const OFFSET: usize = 16;
        if !self.is_live() {
            return 0;
        }
        // SAFETY: a word of the first mapped page.
        unsafe { self.pages.add(OFFSET).cast::<u64>().read_volatile() }
    }
}
