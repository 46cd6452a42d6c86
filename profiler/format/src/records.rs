//! Records: what is known about process, metrics, modules and threads.
//!
//! A record is a [`RecordHeader`], a fixed part (for all but META) and text; the whole is padded
//! with zeros to a multiple of 8. Fixed parts may be updated in place while the process runs.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Length of [`RecordHeader`].
pub const RECORD_HEADER_LEN: usize = 8;

/// Head of a record.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug)]
#[repr(C)]
pub struct RecordHeader {
    /// A [`Kind`] number.
    pub kind: u16,
    /// Zero bytes at the end that are padding only.
    pub padding: u16,
    /// Length with this head and the padding, bytes.
    pub length: u32,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// Text only: key, zero byte, value. Keys: see [`keys`].
    Meta = 1,
    /// [`MetricRecord`], then the name.
    Metric = 2,
    /// [`ModuleRecord`], then the path.
    Module = 3,
    /// [`ThreadRecord`], no text.
    Thread = 4,
    /// [`crate::sections::SectionRecord`], then the label.
    Section = 5,
    /// [`crate::sections::CommunicatorRecord`], no text.
    Communicator = 6,
    /// [`crate::sections::DwellRecord`], no text.
    Dwell = 7,
    /// [`crate::sections::CheckpointRecord`], no text.
    Checkpoint = 8,
    /// [`crate::events::FunctionRecord`], then the name.
    Function = 9,
    /// [`crate::events::GroupRecord`], then the ranks ([`crate::events::Ranks`]).
    Group = 10,
    /// [`crate::events::CommunicatorRecord`], no text.
    EventCommunicator = 11,
    /// [`crate::events::TopologyRecord`], then its numbers ([`crate::events::numbers`]).
    Topology = 12,
}

/// Keys of META records. A key may be repeated (`argv`, `env`).
pub mod keys {
    /// Host name.
    pub const HOST: &str = "host";
    /// Path of the executable.
    pub const IMAGE: &str = "image";
    /// One argument of the program, in order.
    pub const ARGV: &str = "argv";
    /// Working directory at start.
    pub const CWD: &str = "cwd";
    /// `NAME=value` of a launcher variable (an allow-list).
    pub const ENV: &str = "env";
    /// Which clock drives the samples, with its period: text.
    pub const CLOCK: &str = "clock";
    /// Asked sampling rate, samples a second of CPU time: decimal.
    pub const RATE: &str = "rate";
    /// Version of the writer.
    pub const WRITER: &str = "writer";
    /// Kernel release.
    pub const KERNEL: &str = "kernel";
    /// A sentence about something that could not be measured.
    pub const WARNING: &str = "warning";
    /// What events are logged of: `mpi`.
    pub const EVENTS: &str = "events";
    /// Why no more events were logged although the process went on: a sentence.
    pub const EVENTS_STOPPED: &str = "events_stopped";
}

/// Unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Unit {
    /// Plain count.
    Count = 1,
    /// Nanoseconds.
    Nanoseconds = 2,
}

/// One metric of the nodes.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug)]
#[repr(C)]
pub struct MetricRecord {
    /// Which value of a node, from 0.
    pub index: u16,
    /// A [`Unit`] number.
    pub unit: u16,
    /// Zero.
    pub reserved: u32,
    /// Asked distance of two samples, in the metric's unit; 0 if not sampled itself.
    pub period: u64,
}

/// Bytes kept of a build id.
pub const BUILD_ID_MAX: usize = 32;

/// One load module. The same file loaded again keeps its index; another file never gets it.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug)]
#[repr(C)]
pub struct ModuleRecord {
    /// Index that frames use, from 1.
    pub index: u32,
    /// Bytes of `build_id` that count; 0 if the module has none.
    pub build_id_len: u32,
    /// The GNU build id.
    pub build_id: [u8; BUILD_ID_MAX],
    /// First mapped address of the latest load.
    pub start: u64,
    /// End of the mapped range of the latest load.
    pub end: u64,
    /// Run-time address minus ELF virtual address, latest load.
    pub bias: u64,
    /// When the sampler first saw it, `CLOCK_MONOTONIC` ns.
    pub loaded_ns: u64,
    /// When it was last unloaded; 0 if it was there at the end.
    pub unloaded_ns: u64,
    /// How often it was seen loaded.
    pub loads: u32,
    /// [`MODULE_EXECUTABLE`] and others.
    pub flags: u32,
}

/// The program itself.
pub const MODULE_EXECUTABLE: u32 = 1;
/// The dynamic loader.
pub const MODULE_LOADER: u32 = 2;
/// The kernel's vDSO.
pub const MODULE_VDSO: u32 = 4;
/// falloff's own preload.
pub const MODULE_SAMPLER: u32 = 8;
/// Executable memory of no file: code that the program makes while it runs. Offsets are run-time addresses.
pub const MODULE_ANONYMOUS: u32 = 16;

/// One thread. Counters grow while it runs.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadRecord {
    /// Number in this process, from 0; owner of node chunks.
    pub ordinal: u32,
    /// Kernel thread id.
    pub tid: u32,
    /// Start of measuring it, `CLOCK_MONOTONIC` ns.
    pub started_ns: u64,
    /// End; 0 while it runs or if it was killed.
    pub ended_ns: u64,
    /// CPU time it had used when measuring began.
    pub cpu_start_ns: u64,
    /// CPU time at the last sample or, when it ended, at its end: all of it is booked in nodes.
    pub cpu_ns: u64,
    /// Time off the CPU of its own accord that is booked in nodes.
    pub blocked_ns: u64,
    /// Time runnable but not running that is booked in nodes.
    pub preempted_ns: u64,
    /// Samples of CPU time and of events: each has a node.
    pub samples: u64,
    /// Samples of waits: each has a node.
    pub wait_samples: u64,
    /// Samples that found no room; their time is in no node.
    pub dropped_room: u64,
    /// Samples that came while the thread could not be measured (no list of modules, no file yet).
    pub dropped_unready: u64,
    /// Expiries that came while another was pending, and events that the kernel held back. Their time is in the next sample.
    pub overruns: u64,
    /// Of the samples, those under `[partial]`, by reason: see [`PartialReason`].
    pub partial: [u64; PARTIAL_REASONS],
    /// Of the samples, those whose path was folded or truncated.
    pub truncated: u64,
    /// Wall time spent in the signal handler.
    pub handler_ns: u64,
    /// Bytes of stack that handlers have used at most, told of the main thread when it ends; else 0.
    pub handler_stack: u64,
    /// Where the thread's function is, as [`crate::Frame`]; 0 for the main thread.
    pub start_frame: u64,
    /// [`THREAD_MAIN`] and others.
    pub flags: u32,
    /// How its CPU time is sampled: a [`CpuClock`] number.
    pub cpu_clock: u16,
    /// How its waits are found: a [`WaitClock`] number.
    pub wait_clock: u16,
    /// Name as the kernel had it at the end or start, zero padded.
    pub name: [u8; 16],
}

/// The thread that began the process.
pub const THREAD_MAIN: u32 = 1;
/// No timer could be had: it has no samples.
pub const THREAD_UNTIMED: u32 = 2;
/// No thread: the CPU time that ended threads used after they were last looked at, for their own end, or that children used
/// where nobody saw them.
pub const THREAD_ENDS: u32 = 4;

/// Reasons for a partial unwind that are told apart.
pub const PARTIAL_REASONS: usize = 5;

/// Why a path could not be followed to its root; the number is the place in [`ThreadRecord::partial`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum PartialReason {
    /// Code of no module.
    NoModule = 0,
    /// Code without frame description.
    NoCfi = 1,
    /// A word of the stack could not be read.
    BadRead = 2,
    /// The caller's frame would not lie further out.
    NotAdvancing = 3,
    /// A frame description that is not supported, or a register that is lost.
    Unsupported = 4,
}

/// How the CPU time of a thread is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum CpuClock {
    /// Not at all.
    None = 0,
    /// A timer on the thread's CPU clock, which the kernel's tick drives.
    Timer = 1,
    /// perf task-clock, kernel time included.
    TaskClock = 2,
    /// perf task-clock that counts in user mode only; kernel time is booked at the next sample, or without a path where that
    /// is taken from outside.
    TaskClockUser = 3,
    /// perf task-clock at first, and the timer since the thread yielded so often that its event cost too much.
    TaskClockThenTimer = 4,
    /// The same after user mode only.
    TaskClockUserThenTimer = 5,
}

impl CpuClock {
    /// Whether a timer takes the samples now.
    pub fn is_timer(self) -> bool {
        matches!(self, CpuClock::Timer | CpuClock::TaskClockThenTimer | CpuClock::TaskClockUserThenTimer)
    }

    /// What becomes of this clock in a thread that has yielded too often for it; `None` if it stays.
    pub fn after_yields(self) -> Option<CpuClock> {
        match self {
            CpuClock::TaskClock => Some(CpuClock::TaskClockThenTimer),
            CpuClock::TaskClockUser => Some(CpuClock::TaskClockUserThenTimer),
            _ => None,
        }
    }
}

/// How the waits of a thread are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum WaitClock {
    /// Not at all.
    None = 0,
    /// perf context-switch events, each trapped on the way back to user mode.
    Switches = 1,
    /// Calls of the C library that may block are timed.
    Calls = 2,
    /// A timer on wall-clock time.
    Wall = 3,
    /// Switches at first, and calls since the thread switched so often that trapping switches cost too much.
    SwitchesThenCalls = 4,
}

/// Writes one record at the start of `out` and gives its length, or `None` if it does not fit.
///
/// The record is `fixed`, then the pieces of `text` one after another.
pub fn encode(out: &mut [u8], kind: Kind, fixed: &[u8], text: &[&[u8]]) -> Option<usize> {
    let body = text.iter().fold(fixed.len(), |n, t| n + t.len());
    let length = (RECORD_HEADER_LEN + body).next_multiple_of(8);
    let out = out.get_mut(..length)?;
    let head = RecordHeader {
        kind: kind as u16,
        padding: (length - RECORD_HEADER_LEN - body) as u16,
        length: u32::try_from(length).ok()?,
    };
    let (head_out, mut rest) = out.split_at_mut_checked(RECORD_HEADER_LEN)?;
    head_out.copy_from_slice(head.as_bytes());
    for piece in core::iter::once(&fixed).chain(text) {
        let (here, after) = rest.split_at_mut_checked(piece.len())?;
        here.copy_from_slice(piece);
        rest = after;
    }
    rest.fill(0);
    Some(length)
}
