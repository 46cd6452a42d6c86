//! Sealing: a measurement that nobody writes any more is kept compressed, in a third of the room.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// What a file system gives room by, at least.
const BLOCK: u64 = 4096;
/// Beyond this the ratio hardly grows and the time does.
const LEVEL: u32 = 4;

/// Replaces the measurement at `path`, the first `used` bytes of `file`, by a compressed one. Nobody may have it mapped.
///
/// What cannot be sealed, or would not take a block less, stays as it is.
pub(crate) fn seal(path: &Path, file: &File, used: u64) {
    let temporary = path.with_extension("sealing");
    let taken = file.metadata().map_or(0, |m| m.blocks() * 512);
    let sealed = compressed(file, used).and_then(|bytes| {
        if (bytes.len() as u64).next_multiple_of(BLOCK) >= taken {
            return Ok(());
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?.write_all(&bytes)?;
        fs::rename(&temporary, path)
    });
    if sealed.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&temporary);
    }
}

fn compressed(mut file: &File, used: u64) -> io::Result<Vec<u8>> {
    io::Seek::rewind(&mut file)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    io::copy(&mut file.take(used), &mut encoder)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn sealed(used: u64, content: &[u8]) -> (tempfile::TempDir, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0-host-1-1-prog.falloff");
        fs::write(&path, content).unwrap();
        seal(&path, &File::open(&path).unwrap(), used);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left lying about");
        let bytes = fs::read(path).unwrap();
        (dir, bytes)
    }

    #[test]
    fn what_is_used_is_kept_and_takes_less_room() {
        let mut content = vec![7; 20_000];
        content.resize(50_000, 0);
        let (dir, bytes) = sealed(20_000, &content);
        assert!(bytes.len() < 4096 && bytes.starts_with(&[0x1f, 0x8b]));
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut back).unwrap();
        assert_eq!(back, content[..20_000]);
        let file = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_one_block_stays() {
        assert_eq!(sealed(300, &[7; 300]).1, [7; 300]);
    }

    #[test]
    fn what_stands_in_the_way_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0-host-1-1-prog.falloff");
        fs::write(&path, [7; 20_000]).unwrap();
        // A directory cannot be opened as the temporary file, nor removed as a file.
        fs::create_dir(path.with_extension("sealing")).unwrap();
        seal(&path, &File::open(&path).unwrap(), 20_000);
        assert_eq!(fs::read(&path).unwrap(), [7; 20_000]);
        assert!(path.with_extension("sealing").is_dir());
    }
}
