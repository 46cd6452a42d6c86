//! The logs of a run's ranks as one.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use falloff_messages::{Broken, Call, Communicator, Location, Log};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::communicators::Communicators;
use super::cursor::{Cursor, Next, Numbers};
use super::process_log::ProcessLog;
use crate::error::Error;
use crate::load::{NoRoom, Source, Warnings, find, open_all, without_copies};

/// Bytes of logs that are in memory of all threads together,
const PIECES: usize = 64 << 20;
/// of each at least,
const PIECE_MIN: usize = 4 << 10;
/// and at most.
const PIECE_MAX: usize = 64 << 10;

/// The calls of MPI that all ranks of a run made, as their measurement files tell them.
///
/// Files are read piece by piece as they are asked for. Sealed ones are inflated into a file without a name.
///
/// A clone reads the same files at its own pace.
#[derive(Clone)]
pub struct RunLog {
    files: Arc<Files>,
    /// By location.
    threads: Vec<Thread>,
}

/// What does not change as a log is read.
#[derive(Default)]
struct Files {
    processes: Vec<ProcessLog>,
    /// By process: the number of its host's clock.
    clocks: Vec<u32>,
    numbers: Vec<Numbers>,
    locations: Vec<Location>,
    communicators: Vec<Communicator>,
    functions: Vec<String>,
    /// Sentences about what is missing.
    warnings: Vec<String>,
}

/// A thread of a rank's process.
#[derive(Clone)]
struct Thread {
    /// Index of the process; `None` of a rank without a log.
    process: Option<usize>,
    ordinal: u32,
    cursor: Cursor,
    /// The call in which the log ends.
    last: Option<Call>,
}

/// Whose log it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged<'a> {
    /// Name of the measurement file.
    pub file: &'a str,
    /// Host that the process ran on.
    pub host: &'a str,
    /// Process number.
    pub pid: u32,
    /// Ordinal of the thread in its process.
    pub ordinal: u32,
}

impl RunLog {
    /// Opens the logs in the measurement files of a run directory; `None` if no calls were logged.
    ///
    /// # Errors
    /// [`Error::NoMeasurements`], [`Error::NoRoom`], and those of reading the directory. What is wrong with single files is a warning.
    pub fn open(dir: &Path) -> Result<Option<RunLog>, Error> {
        let (sources, unreadable) = open_all(&find(dir)?);
        let mut warnings = Warnings::default();
        unreadable.iter().for_each(|file| file.warn(&mut warnings));
        let sources = without_copies(sources, &mut warnings);
        RunLog::of(&sources).map_err(|reason| Error::NoRoom { path: dir.to_owned(), reason })
    }

    /// The logs in these files; an error if there is no room to inflate one.
    pub(crate) fn of(sources: &[Source]) -> Result<Option<RunLog>, String> {
        let mut warnings = Vec::new();
        let mut processes: Vec<ProcessLog> = Vec::new();
        let opened: Vec<io::Result<Option<ProcessLog>>> = sources.par_iter().map(ProcessLog::open).collect();
        for (source, log) in sources.iter().zip(opened) {
            match log {
                Ok(log) => processes.extend(log),
                Err(error) if NoRoom::is(&error) => return Err(format!("{}: {error}", source.name)),
                Err(error) => warnings.push(format!("{}: its log cannot be read: {error}", source.name)),
            }
        }
        // Of a rank whose process has run several programs, the one that has called most.
        processes.sort_by_key(|log| (log.rank, std::cmp::Reverse(log.bytes())));
        processes.dedup_by(|other, kept| {
            let same = other.rank == kept.rank;
            if same {
                warnings.push(format!("{}: left out: {} has rank {} too", other.name, kept.name, kept.rank));
            }
            same
        });
        let Some(ranks) = processes.iter().map(|log| log.ranks).max() else { return Ok(None) };
        let mut files = Files { warnings, ..Files::default() };
        let mut threads = files.add(processes, ranks);
        let piece = (PIECES / threads.len().max(1)).clamp(PIECE_MIN, PIECE_MAX);
        threads.iter_mut().for_each(|thread| thread.cursor.piece = piece);
        Ok(Some(RunLog { files: Arc::new(files), threads }))
    }

    /// The nodes of its measurement file that a location called from, each with the section that was open (0 where sections are not
    /// asked for), in order.
    pub(super) fn callers(&self, location: usize, by_section: bool) -> Vec<(u32, u16)> {
        let mut thread = self.threads[location].clone();
        thread.rewind();
        let mut callers = FxHashSet::default();
        let mut last = None;
        let mut insert = |call: &Call| {
            let caller = (call.context, if by_section { call.section } else { 0 });
            if last.replace(caller) != Some(caller) {
                callers.insert(caller);
            }
        };
        let mut call = Call::default();
        while let Ok(true) = thread.next(&self.files, &mut call) {
            insert(&call);
        }
        thread.last.iter().for_each(insert);
        let mut callers: Vec<_> = callers.into_iter().collect();
        callers.sort_unstable();
        callers
    }

    /// The locations whose log is in the measurement file of this name.
    pub(super) fn locations_of(&self, file: &str) -> Range<usize> {
        let of_file = |location: &usize| self.logged(*location).is_some_and(|logged| logged.file == file);
        let first = (0..self.threads.len()).find(of_file).unwrap_or(0);
        first..first + (first..self.threads.len()).take_while(of_file).count()
    }

    /// Whose log that of a location is; `None` of a rank without one.
    pub fn logged(&self, location: usize) -> Option<Logged<'_>> {
        let thread = &self.threads[location];
        let process = &self.files.processes[thread.process?];
        Some(Logged { file: &process.name, host: &process.host, pid: process.pid, ordinal: thread.ordinal })
    }

    /// How many bytes its calls take.
    pub(super) fn bytes(&self) -> usize {
        self.files.processes.iter().map(ProcessLog::bytes).sum()
    }

    /// What is missing, in sentences.
    pub fn warnings(&self) -> &[String] {
        &self.files.warnings
    }

    /// To be read from the beginning again.
    pub fn rewind(&mut self) {
        self.threads.iter_mut().for_each(Thread::rewind);
    }
}

impl Files {
    /// Takes all processes; their threads, by location.
    fn add(&mut self, processes: Vec<ProcessLog>, ranks: u32) -> Vec<Thread> {
        let mut threads = Vec::new();
        let mut communicators = Communicators::of_ranks(ranks);
        let mut functions: FxHashMap<String, u16> = FxHashMap::default();
        let mut hosts: FxHashMap<String, u32> = FxHashMap::default();
        let mut rank = 0;
        for process in processes {
            while rank < process.rank {
                threads.push(self.absent(rank));
                rank += 1;
            }
            rank = process.rank + 1;
            let function = |(number, name): (&u32, &String)| {
                let next = functions.len() as u16;
                let known = *functions.entry(name.clone()).or_insert(next);
                if known == next {
                    self.functions.push(name.clone());
                }
                (*number, known)
            };
            let mut named: Vec<_> = process.functions.iter().collect();
            named.sort();
            let mut by_number = Vec::new();
            for (number, known) in named.into_iter().map(function) {
                // Items have no larger numbers.
                if let Ok(number) = u16::try_from(number) {
                    by_number.resize(by_number.len().max(usize::from(number) + 1), 0);
                    by_number[usize::from(number)] = known;
                }
            }
            let numbers =
                Numbers { functions: by_number, communicators: process.numbers(&mut communicators) };
            for (thread, (ordinal, ranges)) in (0u32..).zip(&process.threads) {
                self.locations.push(Location { rank: process.rank, thread });
                threads.push(Thread {
                    process: Some(self.processes.len()),
                    ordinal: *ordinal,
                    cursor: Cursor::new(ranges.clone()),
                    last: None,
                });
            }
            if let Some(why) = &process.stopped {
                self.warnings
                    .push(format!("{}: the log of rank {} stops early: {why}", process.name, process.rank));
            } else if !process.is_whole {
                self.warnings.push(format!("{}: rank {} did not end in order", process.name, process.rank));
            }
            let next = hosts.len() as u32;
            self.clocks.push(*hosts.entry(process.host.clone()).or_insert(next));
            self.numbers.push(numbers);
            self.processes.push(process);
        }
        threads.extend((rank..ranks).map(|rank| self.absent(rank)));
        self.communicators = communicators.finish();
        threads
    }

    /// A rank without a log.
    fn absent(&mut self, rank: u32) -> Thread {
        self.warnings.push(format!("rank {rank} has no log"));
        self.locations.push(Location { rank, thread: 0 });
        let cursor = Cursor::new(Vec::new());
        Thread { process: None, ordinal: 0, cursor, last: None }
    }
}

impl Thread {
    fn rewind(&mut self) {
        self.cursor.rewind();
        self.last = None;
    }

    /// Reads its next call; false at its end.
    fn next(&mut self, files: &Files, call: &mut Call) -> Result<bool, Broken> {
        let Some(process) = self.process else { return Ok(false) };
        let log = &files.processes[process];
        match self.cursor.next(&log.kept, &files.numbers[process], call) {
            Next::Call => Ok(true),
            Next::End => Ok(false),
            Next::Unfinished => {
                self.last = Some(call.clone());
                Ok(false)
            }
            Next::Unreadable(error) => {
                Err(Broken { place: log.name.clone(), what: format!("it can no longer be read: {error}") })
            }
            Next::Damaged(at) => Err(Broken {
                place: log.name.clone(),
                what: format!("damaged event at offset {at}; measure again, or leave this run out"),
            }),
        }
    }
}

impl Log for RunLog {
    fn locations(&self) -> &[Location] {
        &self.files.locations
    }

    fn communicators(&self) -> &[Communicator] {
        &self.files.communicators
    }

    fn functions(&self) -> Vec<&str> {
        self.files.functions.iter().map(String::as_str).collect()
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        self.threads[location].next(&self.files, call)
    }

    fn last(&self, location: usize) -> Option<&Call> {
        self.threads[location].last.as_ref()
    }

    fn is_whole(&self, location: usize) -> bool {
        self.threads[location].process.is_some_and(|process| self.files.processes[process].is_whole)
    }

    fn clock(&self, location: usize) -> u32 {
        self.threads[location].process.map_or(u32::MAX, |process| self.files.clocks[process])
    }
}
