//! Finding a module's file, and its separate debug file, by build id, link and name.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use object::Object;

use super::elf::{Elf, Files};
use super::vdso;
use crate::load::{ModuleKey, Origin};

/// Where distributions put debug files.
const SYSTEM_DEBUG: &str = "/usr/lib/debug";
/// Files of one directory that are looked at for a build id.
const LISTED_FILES: usize = 10_000;

/// The file of a module as it was when measured.
///
/// # Errors
/// Why no such file can be had, as the end of a sentence.
pub(super) fn find_binary<'a>(
    key: &ModuleKey,
    debug_paths: &[PathBuf],
    files: &'a Files,
) -> Result<Elf<'a>, String> {
    if key.origin == Origin::Vdso {
        let bytes = vdso::image().ok_or("the vDSO cannot be read")?;
        let elf = Elf::parse(Path::new(&key.path), files.keep_bytes(bytes), files)?;
        return if elf.build_id() == key.build_id {
            Ok(elf)
        } else {
            Err("measured under another kernel".into())
        };
    }
    let path = Path::new(key.path.trim_end_matches(" (deleted)"));
    // A file that was measured without a build id must still have none.
    let first = Elf::open(path, files).and_then(|elf| match elf.build_id() == key.build_id {
        true => Ok(elf),
        false => Err("the file is another build than the one that was measured".to_owned()),
    });
    let elsewhere = || {
        let by_id = debug_paths.iter().filter_map(|root| by_build_id(root, &key.build_id, ""));
        let listed = debug_paths.iter().flat_map(|root| files_in(root));
        by_id.chain(listed).find_map(|path| open_build(&path, &key.build_id, files))
    };
    first.or_else(|reason| elsewhere().ok_or(reason))
}

/// A file, if it has this build id.
fn open_build<'a>(path: &Path, build_id: &[u8], files: &'a Files) -> Option<Elf<'a>> {
    let elf = Elf::open(path, files).ok()?;
    (!build_id.is_empty() && elf.build_id() == build_id).then_some(elf)
}

/// Files of a directory that the user named, whatever they are called; sorted.
fn files_in(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.is_file()).take(LISTED_FILES).collect();
    files.sort();
    files
}

/// Debug information that was split off a module.
pub(super) fn find_debug<'a>(binary: &Elf<'a>, debug_paths: &[PathBuf], files: &'a Files) -> Option<Elf<'a>> {
    let build_id = binary.build_id();
    let roots = || debug_paths.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM_DEBUG)]);
    let by_id = roots().filter_map(|root| by_build_id(root, build_id, ".debug"));
    let listed = debug_paths.iter().flat_map(|root| files_in(root));
    // Not the stripped module itself, which has the same build id.
    let says_more = |elf: &Elf| elf.has_debug_info() || elf.object.symbols().next().is_some();
    let open = |path: PathBuf| open_build(&path, build_id, files).filter(says_more);
    by_id.chain(listed).find_map(open).or_else(|| {
        let (name, checksum) = binary.object.gnu_debuglink().ok().flatten()?;
        let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
        let dir = binary.path.parent()?;
        let beside = [dir.join(name), dir.join(".debug").join(name)];
        let below = roots()
            .flat_map(|root| [root.join(dir.strip_prefix("/").unwrap_or(dir)).join(name), root.join(name)]);
        beside.into_iter().chain(below).filter(|path| *path != binary.path).find_map(|path| {
            let elf = Elf::open(&path, files).ok()?;
            let right = if build_id.is_empty() || elf.build_id().is_empty() {
                checksum_of(&path) == Some(checksum)
            } else {
                elf.build_id() == build_id
            };
            right.then_some(elf)
        })
    })
}

/// The file that several debug files share parts of (`.gnu_debugaltlink`).
pub(super) fn find_shared<'a>(debug: &Elf<'a>, debug_paths: &[PathBuf], files: &'a Files) -> Option<Elf<'a>> {
    let (name, build_id) = debug.object.gnu_debugaltlink().ok().flatten()?;
    let name = Path::new(std::str::from_utf8(name).ok()?);
    let named = debug.path.parent().map(|dir| dir.join(name));
    let roots = debug_paths.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM_DEBUG)]);
    let by_id = roots.filter_map(|root| by_build_id(root, build_id, ".debug"));
    named.into_iter().chain(by_id).find_map(|path| open_build(&path, build_id, files))
}

/// `ROOT/.build-id/ab/cdef…` with a suffix.
fn by_build_id(root: &Path, build_id: &[u8], suffix: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    (!rest.is_empty()).then(|| root.join(".build-id").join(hex(&[*first])).join(hex(rest) + suffix))
}

/// Bytes as hexadecimal text.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// CRC-32 of a file, as `.gnu_debuglink` has it.
fn checksum_of(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    let mut buffer = vec![0; 1 << 16];
    let mut state = !0u32;
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(!state),
            n => state = buffer[..n].iter().fold(state, |state, byte| crc_step(state, *byte)),
        }
    }
}

fn crc_step(state: u32, byte: u8) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    TABLE[usize::from(state as u8 ^ byte)] ^ state >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "123456789").unwrap();
        assert_eq!(checksum_of(&path), Some(0xcbf4_3926));
    }

    #[test]
    fn build_ids_have_a_place() {
        let path = by_build_id(Path::new("/r"), &[0xab, 0x01, 0xff], ".debug");
        assert_eq!(path, Some("/r/.build-id/ab/01ff.debug".into()));
        assert_eq!(by_build_id(Path::new("/r"), &[], ""), None);
    }
}
