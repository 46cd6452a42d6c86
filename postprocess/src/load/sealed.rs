//! Sealed measurements: files that the launcher has compressed by gzip when their process had ended.

use std::io::{self, Read};

use falloff_format::Measurement;
use falloff_format::header::{HEADER_LEN, Header, SEALED_MAGIC};
use flate2::bufread::GzDecoder;

/// Four times what a process maps: whatever claims to be longer is damaged, and may not fill the memory.
const LENGTH_MAX: u64 = 1 << 30;

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
    let length = header.next.clamp(HEADER_LEN as u64, LENGTH_MAX);
    let mut bytes = Vec::new();
    let mut decoder = GzDecoder::new(sealed).take(length);
    // The checksum is compared where the end is met, which lies behind the last byte.
    let end = decoder.read_to_end(&mut bytes).and_then(|_| decoder.into_inner().read(&mut [0]));
    (bytes, end.err().map(damage))
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
