//! A measurement file that has been opened.

use std::path::{Path, PathBuf};

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, STATE_ENDED};

use super::warnings::Warnings;
use crate::database::SourceFile;
use crate::error::Error;
use crate::map::Map;

/// A measurement file whose header is good.
pub(crate) struct Source {
    pub path: PathBuf,
    /// File name, for messages.
    pub name: String,
    bytes: Map,
}

impl Source {
    fn open(path: &Path) -> Result<Source, String> {
        // The header first: the file is as long as it might have become, and mostly a hole.
        let head = Map::open(path, HEADER_LEN as u64).map_err(|e| e.to_string())?;
        let used = Measurement::parse(&head).map_err(|e| e.to_string())?.header().next;
        let bytes = Map::open(path, used.max(HEADER_LEN as u64)).map_err(|e| e.to_string())?;
        Measurement::parse(&bytes).map_err(|e| e.to_string())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { path: path.to_owned(), name, bytes })
    }

    /// The measurement in it; `None` if the file was changed meanwhile.
    pub fn measurement(&self) -> Option<Measurement<'_>> {
        Measurement::parse(&self.bytes).ok()
    }

    /// Run that it says it belongs to.
    pub fn run_id(&self) -> String {
        let id = self.measurement().map(|m| m.header().run_id).unwrap_or([0; 64]);
        text_of(&id)
    }

    /// Its state, to see later whether it has changed.
    pub fn state(&self) -> SourceFile {
        let header = self.measurement().map(|m| *m.header());
        SourceFile {
            name: self.name.clone(),
            ended: header.is_some_and(|h| h.state == STATE_ENDED),
            used_bytes: header.map_or(0, |h| h.next),
        }
    }
}

/// Text that is padded with zeros.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Opens all files; those that cannot be read become warnings.
pub(crate) fn open_all(files: &[PathBuf], warnings: &mut Warnings) -> Vec<Source> {
    let mut sources = Vec::with_capacity(files.len());
    for path in files {
        match Source::open(path) {
            Ok(source) => sources.push(source),
            Err(reason) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                warnings.add(&name, format!("left out: {reason}"));
            }
        }
    }
    sources
}

/// Checks that all files belong to one run.
///
/// # Errors
/// [`Error::MixedRuns`] with a file of each.
pub(crate) fn check_one_run(sources: &[Source]) -> Result<(), Error> {
    let Some((first, rest)) = sources.split_first() else { return Ok(()) };
    let id = first.run_id();
    match rest.iter().find(|other| other.run_id() != id) {
        Some(other) => Err(Error::MixedRuns { first: first.path.clone(), second: other.path.clone() }),
        None => Ok(()),
    }
}
