//! Finding a module's file, and its separate debug file, by build id, link and name.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::Object;

use super::debuginfod::{Artifact, Debuginfod};
use super::elf::{Elf, Files};
use super::vdso;
use crate::load::{ModuleKey, Origin};
use crate::open::OpenOptions;

/// Where distributions put debug files.
const SYSTEM_DEBUG: &str = "/usr/lib/debug";
/// Files of one directory that are looked at for a build id.
const LISTED_FILES: usize = 10_000;

/// Where files are searched.
pub(super) struct Search<'a> {
    debug_paths: &'a [PathBuf],
    servers: Option<&'a Debuginfod>,
    /// What went wrong while asking servers.
    notes: RefCell<BTreeSet<String>>,
}

impl<'a> Search<'a> {
    /// With the user's options.
    pub fn new(options: &'a OpenOptions) -> Search<'a> {
        Search {
            debug_paths: &options.debug_paths,
            servers: options.debuginfod.as_ref(),
            notes: RefCell::default(),
        }
    }

    /// What went wrong so far, as sentences.
    pub fn notes(&self) -> BTreeSet<String> {
        self.notes.borrow().clone()
    }

    /// The file of a module as it was when measured: of a file without a build id, no more is known than that it must
    /// not have changed since `since_ns` (nanoseconds since 1970).
    ///
    /// # Errors
    /// Why no such file can be had, as the end of a sentence.
    pub fn binary<'f>(&self, key: &ModuleKey, since_ns: u64, files: &'f Files) -> Result<Elf<'f>, String> {
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
        let first = Elf::open(path, files).and_then(|elf| match elf.build_id() == key.build_id {
            true if key.build_id.is_empty() && changed_after(path, since_ns) => {
                Err("the file has no build id and was changed after the measurement began".to_owned())
            }
            true => Ok(elf),
            false => Err("the file is another build than the one that was measured".to_owned()),
        });
        let elsewhere = || {
            let by_id = self.debug_paths.iter().filter_map(|root| by_build_id(root, &key.build_id, ""));
            let listed = self.debug_paths.iter().flat_map(|root| files_in(root));
            let found = by_id.chain(listed).find_map(|path| open_build(&path, &key.build_id, files));
            found.or_else(|| self.served(&key.build_id, Artifact::Executable, files))
        };
        first.or_else(|reason| elsewhere().ok_or(reason))
    }

    /// Debug information that was split off a module.
    pub fn debug<'f>(&self, binary: &Elf<'f>, files: &'f Files) -> Option<Elf<'f>> {
        let build_id = binary.build_id();
        let by_id = self.roots().filter_map(|root| by_build_id(root, build_id, ".debug"));
        let listed = self.debug_paths.iter().flat_map(|root| files_in(root));
        // Not the stripped module itself, which has the same build id.
        let says_more = |elf: &Elf| elf.has_debug_info() || elf.object.symbols().next().is_some();
        let open = |path: PathBuf| open_build(&path, build_id, files).filter(says_more);
        by_id
            .chain(listed)
            .find_map(open)
            .or_else(|| self.linked(binary, files))
            .or_else(|| self.served(build_id, Artifact::DebugInfo, files))
    }

    /// The debug file that a module names, with the checksum or build id that it should have.
    fn linked<'f>(&self, binary: &Elf<'f>, files: &'f Files) -> Option<Elf<'f>> {
        let (name, checksum) = binary.object.gnu_debuglink().ok().flatten()?;
        let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
        let dir = binary.path.parent()?;
        let build_id = binary.build_id();
        let beside = [dir.join(name), dir.join(".debug").join(name)];
        let below = self
            .roots()
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
    }

    /// The file that several debug files share parts of (`.gnu_debugaltlink`, `.debug_sup`).
    pub fn shared<'f>(&self, debug: &Elf<'f>, files: &'f Files) -> Option<Elf<'f>> {
        let (name, id) = debug.shared_link()?;
        let name = Path::new(std::str::from_utf8(name).ok()?);
        // Names are relative to where the debug file is, and debug files may be links.
        let real = debug.path.canonicalize().ok();
        let places = [Some(&debug.path), real.as_ref()];
        let named = places.into_iter().flatten().filter_map(|path| Some(path.parent()?.join(name)));
        let by_id = self.roots().filter_map(|root| by_build_id(root, id, ".debug"));
        let listed = self.debug_paths.iter().flat_map(|root| files_in(root));
        let open = |path: PathBuf| {
            let elf = Elf::open(&path, files).ok()?;
            (!id.is_empty() && elf.shared_id() == id).then_some(elf)
        };
        let found = named.chain(by_id).chain(listed).find_map(open);
        found.or_else(|| self.served(id, Artifact::DebugInfo, files))
    }

    fn roots(&self) -> impl Iterator<Item = &'a Path> {
        self.debug_paths.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM_DEBUG)])
    }

    /// A file from a server, if the user named any.
    fn served<'f>(&self, build_id: &[u8], artifact: Artifact, files: &'f Files) -> Option<Elf<'f>> {
        match self.servers?.find(build_id, artifact) {
            Ok(path) => open_build(&path?, build_id, files),
            Err(reason) => {
                self.notes.borrow_mut().insert(reason);
                None
            }
        }
    }
}

/// Whether a file was replaced or written to after a moment; true if that is not known.
fn changed_after(path: &Path, since_ns: u64) -> bool {
    let Ok(metadata) = path.metadata() else { return true };
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    changed > i128::from(since_ns)
}

/// A file, if it has this build id.
pub(super) fn open_build<'a>(path: &Path, build_id: &[u8], files: &'a Files) -> Option<Elf<'a>> {
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
    let mut checksum = flate2::Crc::new();
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(checksum.sum()),
            n => checksum.update(&buffer[..n]),
        }
    }
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

    #[test]
    fn a_file_is_as_old_as_its_last_change() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(changed_after(file.path(), 0));
        assert!(!changed_after(file.path(), u64::MAX));
        assert!(changed_after(Path::new("/nowhere"), u64::MAX));
    }
}
