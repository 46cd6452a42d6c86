//! A location: one thread of one process.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::clock::Clocks;
use super::health::reached_rate;
use super::losses::{Drops, Partials};

/// How the last was heard of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessState {
    /// It went through exit; totals are final.
    Ended,
    /// It was killed, replaced its image, or still ran: the sample in flight may be missing.
    #[default]
    Killed,
}

impl ProcessState {
    /// The word that databases and reports use.
    pub fn word(self) -> &'static str {
        match self {
            ProcessState::Ended => "ended",
            ProcessState::Killed => "killed",
        }
    }

    /// The state with this [`ProcessState::word`].
    pub fn from_word(word: &str) -> Option<ProcessState> {
        [ProcessState::Ended, ProcessState::Killed].into_iter().find(|s| s.word() == word)
    }
}

/// One thread of one process, with or without samples. A process that named no thread counts as one location.
///
/// Locations are ordered by their fields, so a database lists them by rank, host, process and thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Rank that the launcher gave.
    pub rank: Option<u32>,
    /// Host name.
    pub host: String,
    /// Start of measuring the process, ns since 1970.
    pub start_ns: u64,
    /// Process id.
    pub pid: u32,
    /// Number of the thread in its process, from 0.
    pub ordinal: u32,
    /// Kernel thread id.
    pub tid: u32,
    /// Parent process id.
    pub ppid: u32,
    /// Ranks in the job, 0 if not known.
    pub ranks: u32,
    /// Path of the executable.
    pub image: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Thread name.
    pub thread: String,
    /// The thread that began the process.
    pub main: bool,
    /// Started by a run-time library for its own work (progress threads and the like), not by the application.
    pub helper: bool,
    /// How the process ended.
    pub state: ProcessState,
    /// The process began by fork without exec.
    pub forked: bool,
    /// The process replaced its image by exec; this is the later image.
    pub exec: bool,
    /// How its CPU time was sampled and its waits were found.
    pub clocks: Clocks,
    /// Asked sampling rate, samples a second of CPU time; 0 if not known.
    pub rate_hz: u32,
    /// Asked distance of two samples of each metric that is sampled itself, in the metric's unit.
    pub periods: Vec<(String, u64)>,
    /// Time measured, ns of wall clock; 0 if the end is not known.
    pub wall_ns: u64,
    /// CPU time while measured, ns.
    pub cpu_ns: u64,
    /// Time off the CPU of its own accord that was found, ns.
    pub blocked_ns: u64,
    /// Time ready to run but not running that was found, ns.
    pub preempted_ns: u64,
    /// Wall time spent in the sampler's handler, ns.
    pub handler_ns: u64,
    /// Samples of CPU time and of events.
    pub samples: u64,
    /// Samples of waits.
    pub wait_samples: u64,
    /// Samples that left no cost, by kind.
    pub dropped: Drops,
    /// Samples whose path could not be followed to its root, by reason.
    pub partial: Partials,
    /// Samples whose path was deeper than is kept.
    pub truncated: u64,
    /// Expiries that came while another was pending, and events that the kernel held back.
    pub overruns: u64,
}

impl Location {
    /// File name of the executable.
    pub fn program(&self) -> &str {
        self.image.rsplit('/').next().unwrap_or(&self.image)
    }

    /// Samples of CPU time and of events for each second of CPU time; `None` if it used none.
    pub fn reached_rate_hz(&self) -> Option<f64> {
        reached_rate(self.samples, self.cpu_ns)
    }

    /// Whether both are threads of one process image.
    pub fn same_process(&self, other: &Location) -> bool {
        self.process() == other.process()
    }

    /// What tells process images apart.
    pub(super) fn process(&self) -> (Option<u32>, &str, u32, u64, &str) {
        (self.rank, &self.host, self.pid, self.start_ns, &self.image)
    }
}

/// Whether each location counts in statistics and is shown if nothing else is asked for: all that the program started, or
/// all if it started none.
pub(crate) fn counted(locations: &[Location]) -> Vec<bool> {
    let helpers_only = locations.iter().all(|l| l.helper);
    locations.iter().map(|l| helpers_only || !l.helper).collect()
}

/// Marks the locations of process images that follow another one of the same process: they were begun by exec.
pub(crate) fn mark_exec(locations: &mut [Location]) {
    let mut first: FxHashMap<(String, u32, u32), u64> = FxHashMap::default();
    for l in locations.iter() {
        let start = first.entry((l.host.clone(), l.pid, l.ppid)).or_insert(l.start_ns);
        *start = l.start_ns.min(*start);
    }
    for l in locations {
        let start = first.get(&(l.host.clone(), l.pid, l.ppid));
        l.exec = !l.forked && start.is_some_and(|s| *s < l.start_ns);
    }
}
