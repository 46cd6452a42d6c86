//! Sealing: a measurement that nobody writes any more is kept compressed, in a third of the room.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// What a file system gives room by, at least.
const BLOCK: u64 = 4096;
/// A longer one would hold the program's end up for more than a second.
const LENGTH_MAX: u64 = 64 << 20;
/// Beyond this the ratio hardly grows and the time does.
const LEVEL: u32 = 4;

/// Replaces the measurement at `path`, the first `used` bytes of `file`, by a compressed one. Nobody may have it mapped.
///
/// What cannot be sealed, or would not take a block less, stays as it is.
pub(crate) fn seal(path: &Path, file: &File, used: u64) {
    // Not the blocks that it takes now: some file systems count them only when they have written them.
    let length = file.metadata().map_or(0, |m| m.len().min(used));
    if !(BLOCK + 1..=LENGTH_MAX).contains(&length) {
        return;
    }
    if let Ok(bytes) = compressed(file, length)
        && (bytes.len() as u64).div_ceil(BLOCK) < length.div_ceil(BLOCK)
    {
        let _ = replace(path, &bytes);
    }
}

fn compressed(mut file: &File, length: u64) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    if io::copy(&mut file.take(length), &mut encoder)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    encoder.finish()
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("sealing");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let replaced = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced
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
        assert_eq!(sealed(4096, &[7; 9000]).1, [7; 9000]);
    }

    #[test]
    fn what_saves_no_block_stays() {
        let mut state = 1u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let noise: Vec<u8> = noise.take(20_000).collect();
        assert_eq!(sealed(20_000, &noise).1, noise);
    }

    #[test]
    fn what_is_used_may_be_more_than_there_is() {
        let (_dir, bytes) = sealed(u64::MAX, &[7; 20_000]);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut back).unwrap();
        assert_eq!(back, [7; 20_000]);
    }

    #[test]
    fn what_stands_in_the_way_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0-host-1-1-prog.falloff");
        fs::write(&path, [7; 20_000]).unwrap();
        let others = path.with_extension("sealing");
        fs::write(&others, "another's").unwrap();
        seal(&path, &File::open(&path).unwrap(), 20_000);
        assert_eq!(fs::read(&path).unwrap(), [7; 20_000]);
        assert_eq!(fs::read(&others).unwrap(), b"another's");
    }

    #[test]
    fn a_name_that_cannot_be_taken_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let content = dir.path().join("content");
        fs::write(&content, [7; 20_000]).unwrap();
        // A directory that is not empty cannot be replaced by a file.
        let path = dir.path().join("0-host-1-1-prog.falloff");
        fs::create_dir_all(path.join("below")).unwrap();
        seal(&path, &File::open(&content).unwrap(), 20_000);
        assert!(path.join("below").is_dir());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
