//! A measurement file that has been looked into.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, Header, STATE_ENDED};

use super::sealed::{self, Inflated, NoRoom, is_sealed};
use super::warnings::Warnings;
use crate::database::SourceFile;
use crate::error::Error;
use crate::map::Map;
use crate::scratch::Scratch;

/// Bytes from which the header can be had, of a sealed file too.
const HEAD: u64 = 1 << 14;

/// A measurement file whose header is good. Nothing of it is held open or mapped: a run may have more files than a
/// process may.
pub(crate) struct Source {
    pub path: PathBuf,
    /// File name, for messages.
    pub name: String,
    header: Header,
    sealed: bool,
    /// Length of the file.
    length: u64,
    /// What was inflated into a file, and what is wrong with it.
    inflated: OnceLock<(Scratch, Option<String>)>,
}

/// The bytes of a measurement, and what is wrong with them; none by default.
#[derive(Default)]
pub(crate) struct Content {
    bytes: Bytes,
    pub fault: Option<String>,
}

enum Bytes {
    Mapped(Map),
    Inflated(Vec<u8>),
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::Inflated(Vec::new())
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Inflated(bytes) => bytes,
        }
    }
}

/// Where the bytes of a measurement are that are read piece by piece.
pub(crate) enum Kept {
    /// In memory, since they are few.
    Memory(Vec<u8>),
    /// In a file, which is opened for each piece.
    File(PathBuf),
    /// Inflated.
    Scratch(Scratch),
}

impl Kept {
    /// Reads a piece.
    ///
    /// # Errors
    /// What the system said, also that there is less.
    pub fn read(&self, bytes: &mut [u8], offset: usize) -> io::Result<()> {
        match self {
            Kept::Memory(all) => {
                let piece = all.get(offset..).and_then(|rest| rest.get(..bytes.len()));
                bytes.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Kept::File(path) => File::open(path)?.read_exact_at(bytes, offset as u64),
            Kept::Scratch(scratch) => scratch.read(bytes, offset as u64),
        }
    }
}

/// What tells measured process images apart: rank, process, and when its measurement began by both clocks.
pub(crate) type Identity = (i32, u32, u64, u64);

impl Source {
    fn open(path: &Path) -> Result<Source, String> {
        let (head, length) = head(path).map_err(|e| e.to_string())?;
        let sealed = is_sealed(&head);
        let header = if sealed {
            sealed::header(&head)?
        } else {
            *Measurement::parse(&head).map_err(|e| e.to_string())?.header()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { path: path.to_owned(), name, header, sealed, length, inflated: OnceLock::new() })
    }

    /// The measurement's bytes, mapped or inflated by every call, so that memory holds only what is being decoded.
    ///
    /// # Errors
    /// What the system said.
    pub fn content(&self) -> io::Result<Content> {
        if let Some((scratch, fault)) = self.inflated.get() {
            return Ok(Content { bytes: Bytes::Mapped(scratch.map()?), fault: fault.clone() });
        }
        if self.sealed {
            let (bytes, fault) = sealed::inflate(&Map::open(&self.path, u64::MAX)?, &self.header);
            return Ok(Content { bytes: Bytes::Inflated(bytes), fault });
        }
        // No more than was used when it was looked into: the file is as long as it might become, and mostly a hole.
        let map = Map::open(&self.path, self.header.next.max(HEADER_LEN as u64))?;
        Ok(Content { bytes: Bytes::Mapped(map), fault: None })
    }

    /// The same for whoever looks for a log of MPI's calls. One that is sealed and not short is inflated into a file, which serves from
    /// then on.
    ///
    /// # Errors
    /// What the system said, within a [`NoRoom`] if that was about this file.
    pub fn log_content(&self) -> io::Result<Content> {
        if !self.sealed || self.inflated.get().is_some() {
            return self.content();
        }
        let inflated = sealed::inflate_log(&Map::open(&self.path, u64::MAX)?, &self.header);
        match inflated.map_err(NoRoom::into_io)? {
            (Inflated::Memory(bytes), fault) => Ok(Content { bytes: Bytes::Inflated(bytes), fault }),
            (Inflated::Scratch(scratch), fault) => {
                self.inflated.get_or_init(|| (scratch, fault));
                self.content()
            }
        }
    }

    /// Where the bytes are to be read piece by piece that [`Source::log_content`] gave.
    pub fn keep(&self, content: Content) -> Kept {
        match (self.inflated.get(), content.bytes) {
            (Some((scratch, _)), _) => Kept::Scratch(scratch.clone()),
            (None, Bytes::Inflated(bytes)) => Kept::Memory(bytes),
            (None, Bytes::Mapped(_)) => Kept::File(self.path.clone()),
        }
    }

    /// Bytes that are in use.
    pub fn used_bytes(&self) -> u64 {
        self.header.next
    }

    /// Which process image it measures.
    pub fn identity(&self) -> Identity {
        let Header { rank, pid, start_realtime_ns, start_monotonic_ns, .. } = self.header;
        (rank, pid, start_realtime_ns, start_monotonic_ns)
    }

    /// How much it tells, to choose among files of one process: whether the process had ended, and how much there is.
    fn telling(&self) -> (bool, u64, u64) {
        let there = if self.sealed { self.header.next } else { self.header.next.min(self.length) };
        (self.header.state == STATE_ENDED, there, self.length)
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

/// The beginning of a regular file, and the file's length.
fn head(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    Ok((head, metadata.len()))
}

/// Text that is padded with zeros.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A file that cannot be read.
pub(crate) struct Unreadable {
    name: String,
    reason: String,
}

impl Unreadable {
    /// Says so.
    pub fn warn(&self, warnings: &mut Warnings) {
        warnings.add(&self.name, self.sentence());
    }

    /// A line about it.
    pub fn line(&self) -> String {
        format!("{}: {}", self.name, self.sentence())
    }

    fn sentence(&self) -> String {
        format!("left out: {}", self.reason)
    }
}

/// Looks into all files.
pub(crate) fn open_all(files: &[PathBuf]) -> (Vec<Source>, Vec<Unreadable>) {
    let (mut sources, mut unreadable) = (Vec::with_capacity(files.len()), Vec::new());
    for path in files {
        match Source::open(path) {
            Ok(source) => sources.push(source),
            Err(reason) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                unreadable.push(Unreadable { name, reason });
            }
        }
    }
    (sources, unreadable)
}

/// One file of every process image, the one that tells most; the others become warnings.
pub(crate) fn without_copies(mut sources: Vec<Source>, warnings: &mut Warnings) -> Vec<Source> {
    sources.sort_by(|a, b| {
        let key = |s: &Source| (s.identity(), std::cmp::Reverse(s.telling()));
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    let mut kept: Vec<Source> = Vec::with_capacity(sources.len());
    for source in sources {
        if kept.last().is_some_and(|last| last.identity() == source.identity()) {
            warnings.add(&source.name, "left out: it measures the same process as another file");
        } else {
            kept.push(source);
        }
    }
    kept.sort_by(|a, b| a.path.cmp(&b.path));
    kept
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
