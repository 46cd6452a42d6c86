//! A measurement file that has been opened.

use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, STATE_ENDED};
use flate2::bufread::GzDecoder;

use super::warnings::Warnings;
use crate::database::SourceFile;
use crate::error::Error;
use crate::map::Map;

/// A measurement file whose header is good.
pub(crate) struct Source {
    pub path: PathBuf,
    /// File name, for messages.
    pub name: String,
    bytes: Content,
}

impl Source {
    fn open(path: &Path) -> Result<Source, String> {
        let bytes = Content::open(path)?;
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

/// Longest measurement that is inflated: its nodes could not be told apart beyond.
const INFLATED_MAX: u64 = 8 << 30;
/// How a sealed measurement begins: as all that gzip has made.
const SEALED: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a measurement.
enum Content {
    Mapped(Map),
    Inflated(Vec<u8>),
}

impl Content {
    fn open(path: &Path) -> Result<Content, String> {
        let map = |length| Map::open(path, length).map_err(|e| e.to_string());
        // The header first: the file is as long as it might have become, and mostly a hole.
        let head = map(HEADER_LEN as u64)?;
        if head.starts_with(&SEALED) {
            return Ok(Content::Inflated(inflate(&map(u64::MAX)?)));
        }
        let used = Measurement::parse(&head).map_err(|e| e.to_string())?.header().next;
        Ok(Content::Mapped(map(used.max(HEADER_LEN as u64))?))
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Content::Mapped(map) => map,
            Content::Inflated(bytes) => bytes,
        }
    }
}

/// What is whole in a sealed measurement: up to where it is cut short or damaged, and no more than its header says, so that
/// zeros without end cost nothing.
fn inflate(sealed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut decoder = GzDecoder::new(sealed).take(HEADER_LEN as u64);
    // An error ends what can be read; how much is missing is told where the chunks are read.
    if decoder.read_to_end(&mut bytes).is_ok()
        && let Ok(measurement) = Measurement::parse(&bytes)
    {
        let rest = measurement.header().next.min(INFLATED_MAX).saturating_sub(HEADER_LEN as u64);
        let _ = decoder.into_inner().take(rest).read_to_end(&mut bytes);
    }
    bytes
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever stands behind the mark of a sealed file is read without a panic and without end.
        #[test]
        fn any_bytes_can_be_inflated(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut sealed = vec![0x1f, 0x8b, 8, 0];
            sealed.extend(bytes);
            prop_assert!(inflate(&sealed).len() <= 1100 * sealed.len());
        }
    }
}
