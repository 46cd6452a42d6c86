//! A measurement file that has been opened.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, Header, STATE_ENDED};

use super::sealed::{self, is_sealed};
use super::warnings::Warnings;
use crate::database::SourceFile;
use crate::error::Error;
use crate::map::Map;

/// A measurement file whose header is good.
pub(crate) struct Source {
    pub path: PathBuf,
    /// File name, for messages.
    pub name: String,
    header: Header,
    /// The file, as far as it is used.
    file: Map,
}

/// The bytes of a measurement, and what is wrong with them.
pub(crate) struct Content<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub fault: Option<String>,
}

impl Source {
    fn open(path: &Path) -> Result<Source, String> {
        let map = |length| Map::open(path, length).map_err(|e| e.to_string());
        let parse = |bytes: &[u8]| Measurement::parse(bytes).map(|m| *m.header()).map_err(|e| e.to_string());
        // The header first: the file is as long as it might have become, and mostly a hole.
        let head = map(HEADER_LEN as u64)?;
        let (file, header) = if is_sealed(&head) {
            let file = map(u64::MAX)?;
            let header = sealed::header(&file)?;
            (file, header)
        } else {
            let file = map(parse(&head)?.next.max(HEADER_LEN as u64))?;
            let header = parse(&file)?;
            (file, header)
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { path: path.to_owned(), name, header, file })
    }

    /// The measurement's bytes: of a sealed one inflated by every call, so that memory holds only what is being decoded.
    pub fn content(&self) -> Content<'_> {
        if is_sealed(&self.file) {
            let (bytes, fault) = sealed::inflate(&self.file, &self.header);
            return Content { bytes: bytes.into(), fault };
        }
        Content { bytes: (&*self.file).into(), fault: None }
    }

    /// Run that it says it belongs to.
    pub fn run_id(&self) -> String {
        text_of(&self.header.run_id)
    }

    /// Its state, to see later whether it has changed.
    pub fn state(&self) -> SourceFile {
        SourceFile {
            name: self.name.clone(),
            ended: self.header.state == STATE_ENDED,
            used_bytes: self.header.next,
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
