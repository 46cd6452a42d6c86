//! Sealed measurements: files that the launcher has compressed by gzip when their process had ended.

use std::env::temp_dir;
use std::io::{self, Read};

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, Header, SEALED_MAGIC};
use falloff_format::read::Record;
use falloff_format::records::keys;
use flate2::bufread::GzDecoder;

use crate::scratch::Scratch;

/// Four times what a process maps: whatever claims to be longer is damaged, and may not fill the memory.
const LENGTH_MAX: u64 = 1 << 30;

/// So much of a log may be in memory; within it stands that it is one.
const BEGINNING: u64 = 1 << 16;

/// What can be inflated of a sealed measurement.
pub(super) enum Inflated {
    Memory(Vec<u8>),
    Scratch(Scratch),
}

/// No room for an inflated log.
#[derive(Debug, thiserror::Error)]
#[error("failed to inflate it into a file in {}: {source}", temp_dir().display())]
pub(crate) struct NoRoom {
    source: io::Error,
}

impl NoRoom {
    /// As an error of reading.
    pub fn into_io(self) -> io::Error {
        io::Error::new(self.source.kind(), self)
    }

    /// Whether an error of reading is one.
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<NoRoom>())
    }
}

/// Whether a file that begins so is sealed.
pub(super) fn is_sealed(file: &[u8]) -> bool {
    file.starts_with(&SEALED_MAGIC)
}

/// The header of a sealed measurement.
///
/// # Errors
/// Why it cannot be had.
pub(super) fn header(sealed: &[u8]) -> Result<Header, String> {
    let mut bytes = [0; HEADER_LEN];
    GzDecoder::new(sealed)
        .read_exact(&mut bytes)
        .map_err(|e| format!("sealed, but its header is lost: {e}"))?;
    Measurement::parse(&bytes).map(|m| *m.header()).map_err(|e| e.to_string())
}

/// What can be inflated of a sealed measurement with a good header, and what is wrong with it.
///
/// No more than its header says is taken, so that zeros without end cost nothing.
pub(super) fn inflate(sealed: &[u8], header: &Header) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let mut decoder = decoder(sealed, header);
    let read = decoder.read_to_end(&mut bytes).map(|_| ());
    (bytes, fault(read, decoder))
}

/// The same; what tells that it has a log of MPI's calls, and is not short, is inflated into a file, block by block.
///
/// # Errors
/// The file cannot be written.
pub(super) fn inflate_log(sealed: &[u8], header: &Header) -> Result<(Inflated, Option<String>), NoRoom> {
    let mut bytes = Vec::new();
    let mut decoder = decoder(sealed, header);
    let read = (&mut decoder).take(BEGINNING).read_to_end(&mut bytes);
    if read.is_err() || !tells_of_log(&bytes) || (bytes.len() as u64) < BEGINNING {
        let read = read.and_then(|_| decoder.read_to_end(&mut bytes)).map(|_| ());
        return Ok((Inflated::Memory(bytes), fault(read, decoder)));
    }
    let no_room = |source| NoRoom { source };
    let mut scratch = Scratch::reserve(decoder.limit() + BEGINNING).map_err(no_room)?;
    let read = loop {
        scratch.append(&bytes).map_err(no_room)?;
        bytes.resize(BEGINNING as usize, 0);
        match decoder.read(&mut bytes) {
            Ok(0) => break Ok(()),
            Ok(length) => bytes.truncate(length),
            Err(error) => break Err(error),
        }
    };
    Ok((Inflated::Scratch(scratch), fault(read, decoder)))
}

fn decoder<'a>(sealed: &'a [u8], header: &Header) -> io::Take<GzDecoder<&'a [u8]>> {
    GzDecoder::new(sealed).take(header.next.clamp(HEADER_LEN as u64, LENGTH_MAX))
}

/// What is wrong with a measurement that was read as far as it can be.
fn fault(read: io::Result<()>, decoder: io::Take<GzDecoder<&[u8]>>) -> Option<String> {
    // The checksum is compared where the end is met, which lies behind the last byte.
    read.and_then(|()| decoder.into_inner().read(&mut [0])).err().map(damage)
}

fn tells_of_log(beginning: &[u8]) -> bool {
    let is_mark =
        |record: Record<'_>| matches!(record, Record::Meta(key, _) if key == keys::EVENTS.as_bytes());
    Measurement::parse(beginning).is_ok_and(|m| m.records().flatten().any(is_mark))
}

fn damage(error: io::Error) -> String {
    format!("sealed, but damaged or cut short ({error}): what it holds may be wrong or missing")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use falloff_format::write::{Records, Writer, header as header_of_writer};

    use super::*;
    use crate::synthetic::{Synthetic, SyntheticThread};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn measurement() -> Vec<u8> {
        Synthetic { threads: vec![SyntheticThread::default()], ..Synthetic::default() }.bytes()
    }

    /// All that a reader does with a file's bytes.
    fn read(sealed: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
        is_sealed(sealed).then(|| header(sealed).ok()).flatten().map(|header| inflate(sealed, &header))
    }

    #[test]
    fn what_was_sealed_comes_back() {
        let bytes = measurement();
        let next = Measurement::parse(&bytes).unwrap().header().next as usize;
        assert_eq!(read(&gzip(&bytes)), Some((bytes[..next].to_vec(), None)));
    }

    #[test]
    fn more_than_the_header_says_is_not_inflated() {
        let mut bytes = measurement();
        let next = Measurement::parse(&bytes).unwrap().header().next;
        bytes.resize(64 << 20, 0);
        let (inflated, _) = read(&gzip(&bytes)).unwrap();
        assert_eq!(inflated.len() as u64, next);
    }

    #[test]
    fn a_wrong_checksum_is_told() {
        let mut sealed = gzip(&measurement());
        let crc = sealed.len() - 8;
        sealed[crc] ^= 1;
        let (bytes, fault) = read(&sealed).unwrap();
        assert!(!bytes.is_empty() && fault.unwrap().starts_with("sealed, but damaged"));
    }

    /// A measurement whose records are longer than what of a log may be in memory, and which tells of a log or does not.
    fn long(has_log: bool) -> Vec<u8> {
        let mut records = Records::default();
        records.meta(if has_log { keys::EVENTS } else { keys::HOST }, b"mpi");
        (0..3000_u32).for_each(|n| {
            records.meta(keys::ARGV, format!("argument {}", n.wrapping_mul(2_654_435_761)).as_bytes())
        });
        let mut writer = Writer::new();
        writer.records(&records);
        writer.finish(header_of_writer())
    }

    #[test]
    fn what_has_a_log_is_inflated_into_a_file_and_what_has_none_is_not() {
        for (has_log, is_damaged) in [(true, false), (true, true), (false, false)] {
            let bytes = long(has_log);
            assert!(bytes.len() as u64 > BEGINNING);
            let mut sealed = gzip(&bytes);
            let crc = sealed.len() - 8;
            sealed[crc] ^= u8::from(is_damaged);
            let (inflated, fault) = inflate_log(&sealed, &header(&sealed).unwrap()).unwrap();
            assert_eq!(fault.is_some(), is_damaged);
            match inflated {
                Inflated::Scratch(scratch) => assert!(has_log && *scratch.map().unwrap() == bytes[..]),
                Inflated::Memory(found) => assert!(!has_log && found == bytes),
            }
        }
    }

    proptest! {
        #[test]
        fn a_cut_gives_the_beginning(cut in any::<prop::sample::Index>()) {
            let bytes = measurement();
            let sealed = gzip(&bytes);
            let cut = &sealed[..cut.index(sealed.len())];
            if let Some((beginning, fault)) = read(cut) {
                prop_assert!(bytes.starts_with(&beginning));
                prop_assert!(fault.is_some());
            }
        }

        #[test]
        fn any_bytes_can_be_read(
            noise in prop::collection::vec(any::<u8>(), 0..2000),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        ) {
            let mut sealed = gzip(&measurement());
            for (at, value) in changes {
                let at = at.index(sealed.len());
                sealed[at] = value;
            }
            read(&sealed);
            // Noise behind a good gzip header is taken for the compressed data.
            let noise: Vec<u8> = [&sealed[..2], &[8, 0, 0, 0, 0, 0, 0, 255], &noise].concat();
            read(&noise);
        }
    }
}
