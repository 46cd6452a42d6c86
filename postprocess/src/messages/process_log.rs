//! The log of one process's measurement file.

use std::io;
use std::ops::Range;

use falloff_format::chunk::{CHUNK_HEADER_LEN, Kind};
use falloff_format::events::{CommunicatorRecord, Ranks};
use falloff_format::header::STATE_ENDED;
use falloff_format::read::Record;
use falloff_format::records::keys;
use falloff_format::{Measurement, header::NO_RANK};
use falloff_messages::CommId;
use rustc_hash::FxHashMap;

use super::communicators::{Communicators, Group};
use crate::load::{Kept, Source};

/// A measurement file with a log.
pub(super) struct ProcessLog {
    /// Its name, for messages.
    pub name: String,
    /// The file's bytes.
    pub kept: Kept,
    /// Number among all ranks.
    pub rank: u32,
    /// How many ranks there are.
    pub ranks: u32,
    /// Process number.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// Threads that made calls, by their ordinals, with where in the file their items are.
    pub threads: Vec<(u32, Vec<Range<usize>>)>,
    /// Whether nothing is missing at the end.
    pub is_whole: bool,
    /// Why the log ends before the process, if it does.
    pub stopped: Option<String>,
    /// Names of functions by their numbers in the file.
    pub functions: FxHashMap<u32, String>,
    communicators: Vec<CommunicatorRecord>,
    groups: FxHashMap<u32, Group>,
}

impl ProcessLog {
    /// Looks into a file; `None` if it has no calls of a rank.
    ///
    /// # Errors
    /// It cannot be read any more.
    pub fn open(source: &Source) -> io::Result<Option<ProcessLog>> {
        let content = source.log_content()?;
        let Ok(measurement) = Measurement::parse(&content) else { return Ok(None) };
        let header = *measurement.header();
        let mut threads: Vec<(u32, Vec<Range<usize>>)> = Vec::new();
        for chunk in measurement.chunks().flatten().filter(|c| c.header.kind == Kind::Events as u16) {
            let first = chunk.offset as usize + CHUNK_HEADER_LEN;
            let range = first..first + chunk.payload.len();
            match threads.iter_mut().find(|(ordinal, _)| *ordinal == chunk.header.owner) {
                Some((_, ranges)) => ranges.push(range),
                None => threads.push((chunk.header.owner, vec![range])),
            }
        }
        let (Ok(rank), true) = (u32::try_from(header.rank), header.rank != NO_RANK && !threads.is_empty())
        else {
            return Ok(None);
        };
        threads.sort_by_key(|(ordinal, _)| *ordinal);
        let mut log = ProcessLog {
            name: source.name.clone(),
            rank,
            ranks: u32::try_from(header.ranks).unwrap_or(0).max(rank + 1),
            pid: header.pid,
            host: String::new(),
            threads,
            is_whole: header.state == STATE_ENDED && measurement.missing_bytes() == 0,
            stopped: None,
            functions: FxHashMap::default(),
            communicators: Vec::new(),
            groups: FxHashMap::default(),
            kept: Kept::Memory(Vec::new()),
        };
        measurement.records().flatten().for_each(|record| log.note(&record));
        log.is_whole &= log.stopped.is_none();
        log.kept = source.keep(content);
        Ok(Some(log))
    }

    fn note(&mut self, record: &Record<'_>) {
        match *record {
            Record::Meta(key, value) if key == keys::HOST.as_bytes() => self.host = text(value),
            Record::Meta(key, value) if key == keys::EVENTS_STOPPED.as_bytes() => {
                self.stopped = Some(text(value));
            }
            Record::Function(function, name) => {
                self.functions.insert(function.number, text(name));
            }
            Record::Group(group, ranks) => {
                let ranks = Ranks::new(ranks).take(group.size as usize).collect();
                self.groups.insert(group.id, Group { hash: group.members, ranks });
            }
            Record::EventCommunicator(communicator) => self.communicators.push(communicator),
            _ => {}
        }
    }

    /// How many bytes its calls take.
    pub fn bytes(&self) -> usize {
        self.threads.iter().flat_map(|(_, ranges)| ranges).map(Range::len).sum()
    }

    /// By number of a communicator in the file, its number among all of the run.
    pub fn numbers(&self, all: &mut Communicators) -> FxHashMap<u32, CommId> {
        let empty = Group::default();
        let number = |record: &CommunicatorRecord| {
            let group = self.groups.get(&record.group).unwrap_or(&empty);
            let others = (record.others != 0).then(|| self.groups.get(&record.others).unwrap_or(&empty));
            (record.id, all.number(record, group, others))
        };
        self.communicators.iter().map(number).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
