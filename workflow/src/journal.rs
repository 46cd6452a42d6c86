//! The journal of a sweep, `journal.jsonl`: one line for each run that ended, in order.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::plan::RunKey;
use crate::{Error, Result};

/// Name of the journal in a sweep's directory.
pub const JOURNAL_FILE: &str = "journal.jsonl";

const SCHEMA: &str = "falloff.journal";
const VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It can be scored.
    Completed,
    /// It cannot; `reason` says why.
    Failed,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    schema: String,
    version: u32,
    /// Which run.
    #[serde(rename = "run")]
    pub key: RunKey,
    /// How it ended.
    pub state: State,
    /// Why it cannot be scored.
    pub reason: Option<String>,
    /// Wall time from the start of the launcher to its end.
    pub wall_seconds: f64,
    /// When it began, since 1970.
    pub started_unix_seconds: u64,
    /// Distinct ranks found in its measurements.
    pub ranks: usize,
    /// Whether more processors were asked for than this machine has.
    pub oversubscribed: bool,
    /// CPU time that other programs of this machine used meanwhile, seconds, if the system says.
    #[serde(default)]
    pub others_cpu_seconds: Option<f64>,
}

impl Entry {
    /// A completed run.
    pub fn new(key: RunKey) -> Entry {
        Entry {
            schema: SCHEMA.into(),
            version: VERSION,
            key,
            state: State::Completed,
            reason: None,
            wall_seconds: 0.0,
            started_unix_seconds: 0,
            ranks: 0,
            oversubscribed: false,
            others_cpu_seconds: None,
        }
    }

    /// The same run, not to be scored.
    pub fn failed(self, reason: String) -> Entry {
        Entry { state: State::Failed, reason: Some(reason), ..self }
    }
}

/// The journal, open for more lines.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal of the sweep in `dir` for appending, making it if needed. A last line that a crash cut
    /// off is ended, so that it stays by itself.
    pub fn open(dir: &Path) -> Result<Journal> {
        let path = dir.join(JOURNAL_FILE);
        let open = || -> io::Result<File> {
            let torn = match std::fs::read(&path) {
                Ok(text) => text.last().is_some_and(|b| *b != b'\n'),
                Err(_) => false,
            };
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            if torn {
                file.write_all(b"\n")?;
            }
            Ok(file)
        };
        let file = open().map_err(|e| Error::io("open", &path, e))?;
        Ok(Journal { path, file })
    }

    /// Appends one line and waits until it is on the disk.
    pub fn append(&mut self, entry: &Entry) -> Result<()> {
        let line = serde_json::to_string(entry)
            .map_err(|e| Error::Malformed { path: self.path.clone(), reason: e.to_string() })?;
        self.file
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|e| Error::io("write", &self.path, e))
    }

    /// The latest line about each run of the sweep in `dir`. Lines that were cut off are left out.
    pub fn read(dir: &Path) -> Result<BTreeMap<RunKey, Entry>> {
        let path = dir.join(JOURNAL_FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(e) => return Err(Error::io("read", &path, e)),
        };
        let mut latest = BTreeMap::new();
        for line in text.split(|b| *b == b'\n') {
            let Ok(head) = serde_json::from_slice::<Head>(line) else { continue };
            if head.version != VERSION {
                return Err(Error::Version { path, schema: SCHEMA, found: head.version, known: VERSION });
            }
            if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
                latest.insert(entry.key, entry);
            }
        }
        Ok(latest)
    }
}

#[derive(Deserialize)]
struct Head {
    version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_line_counts_and_a_torn_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) =
            (RunKey { repetition: 1, scale: 1, threads: 1 }, RunKey { repetition: 1, scale: 2, threads: 1 });
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.append(&Entry::new(a).failed("exit status 1".into())).unwrap();
        journal.append(&Entry::new(a)).unwrap();
        let path = dir.path().join(JOURNAL_FILE);
        let mut text = std::fs::read(&path).unwrap();
        text.extend(br#"{"schema":"falloff.journal","version":1,"run":{"rep"#);
        std::fs::write(&path, text).unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.append(&Entry::new(b)).unwrap();
        let read = Journal::read(dir.path()).unwrap();
        assert_eq!(read.keys().copied().collect::<Vec<_>>(), [a, b]);
        assert_eq!(read[&a].state, State::Completed);
    }

    #[test]
    fn no_journal_is_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Journal::read(dir.path()).unwrap().is_empty());
    }
}
