//! What the launcher asks for, and what the job's launcher says of this process: all from the environment.

use core::ffi::c_char;

use falloff_format::job;

use crate::text::{Text, c_bytes, decimal};

/// Directory for measurement files, absolute. Absent: do not measure.
pub const DIRECTORY: &[u8] = b"FALLOFF_MEASUREMENTS";
/// Samples a second of CPU time.
pub const RATE: &[u8] = b"FALLOFF_RATE";
/// Run that this process belongs to.
pub const RUN_ID: &[u8] = b"FALLOFF_RUN_ID";
/// Process id of the launcher, which speaks for the program that it started itself.
const LAUNCHER: &[u8] = b"FALLOFF_LAUNCHER";
/// `fallocate`: give the file its blocks at once instead of page by page, as on kernels before 5.14.
const ALLOCATE: &[u8] = b"FALLOFF_ALLOCATE";
/// `mpi`: log the calls of MPI.
const LOG: &[u8] = b"FALLOFF_LOG";
/// Bytes of an event log at most.
const LOG_LIMIT: &[u8] = b"FALLOFF_LOG_LIMIT";

const DEFAULT_RATE: u64 = 200;
const DEFAULT_LOG_LIMIT: u64 = 256 << 20;

/// The environment as the program got it.
#[derive(Clone, Copy)]
pub struct Environment(*const *const c_char);

impl Environment {
    /// # Safety
    /// `list` is null or a null-terminated array of C strings that nobody changes while this is used.
    pub unsafe fn new(list: *const *const c_char) -> Environment {
        Environment(list)
    }

    /// All `NAME=value` entries.
    pub fn entries(self) -> impl Iterator<Item = &'static [u8]> {
        let mut at = self.0;
        core::iter::from_fn(move || {
            if at.is_null() {
                return None;
            }
            // SAFETY: `at` is at or before the terminating null of the array that `new` was promised.
            let entry = unsafe { *at };
            if entry.is_null() {
                return None;
            }
            // SAFETY: not yet at the terminator, so the next element exists.
            at = unsafe { at.add(1) };
            // SAFETY: the elements are C strings by the contract of `new`.
            Some(unsafe { c_bytes(entry) })
        })
    }

    /// A variable's value; an empty one counts as absent.
    pub fn get(self, name: &[u8]) -> Option<&'static [u8]> {
        self.entries()
            .find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="))
            .filter(|value| !value.is_empty())
    }

    /// The number that a variable's value is.
    pub fn number(self, name: &[u8]) -> Option<i32> {
        self.get(name).and_then(decimal).and_then(|n| i32::try_from(n).ok())
    }

    /// The launcher's variables that a measurement keeps.
    pub fn kept(self) -> impl Iterator<Item = &'static [u8]> {
        self.entries().filter(|entry| job::is_kept(entry))
    }
}

/// What was asked.
#[derive(Clone, Copy)]
pub struct Options {
    /// Directory for the measurement file.
    pub directory: Text<1024>,
    /// Samples a second of CPU time.
    pub rate: u64,
    /// Distance of two samples, nanoseconds of CPU time.
    pub period_ns: u64,
    /// Run that this process belongs to.
    pub run_id: Text<64>,
    /// Rank, or -1.
    pub rank: i32,
    /// Ranks of the job, or 0.
    pub ranks: i32,
    /// Process id of the launcher, or 0.
    pub launcher: u32,
    /// Allocate the file's blocks at the start.
    pub allocate: bool,
    /// Bytes that the event log may take; 0 if there is to be none.
    pub events_limit: u64,
}

impl Options {
    /// Nothing asked.
    pub const fn none() -> Options {
        Options {
            directory: Text::new(),
            rate: DEFAULT_RATE,
            period_ns: period_ns(DEFAULT_RATE),
            run_id: Text::new(),
            rank: falloff_format::header::NO_RANK,
            ranks: 0,
            launcher: 0,
            allocate: false,
            events_limit: 0,
        }
    }

    /// Reads the environment; `None` if no measurement is asked for.
    pub fn from_environment(environment: Environment) -> Option<Options> {
        let mut options = Options::none();
        options.directory.push(environment.get(DIRECTORY)?);
        options.rate = environment.get(RATE).and_then(decimal).filter(|r| *r > 0).unwrap_or(DEFAULT_RATE);
        options.period_ns = period_ns(options.rate);
        options.run_id.push(environment.get(RUN_ID).unwrap_or(b""));
        options.allocate = environment.get(ALLOCATE) == Some(b"fallocate");
        let limit = || environment.get(LOG_LIMIT).and_then(decimal).unwrap_or(DEFAULT_LOG_LIMIT);
        options.events_limit = if environment.get(LOG) == Some(b"mpi") { limit() } else { 0 };
        options.launcher = environment.number(LAUNCHER).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        if let Some((rank, ranks)) = job::rank(|name| environment.number(name)) {
            (options.rank, options.ranks) = (rank, ranks);
        }
        Some(options)
    }
}

const fn period_ns(rate: u64) -> u64 {
    let period_ns = 1_000_000_000 / rate;
    if period_ns == 0 { 1 } else { period_ns }
}
