//! Resolved addresses of modules, kept by build id in the user's cache directory for the next run of the same build.
//!
//! An entry is a gzip file, whose checksum guards it: a line of JSON that says what it was made of, then one for each
//! address. Entries are written beside their place and renamed, so any number of processes may write one: the last
//! wins, and what it lacks is resolved again. Whatever cannot be read counts as absent.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use super::debug_files::hex;
use super::elf::{Elf, Files};
use super::resolved::{Interner, Resolved};
use crate::database::SymbolSource;

/// Bytes of all entries above which the longest unused ones go, and what is left of them then.
const TOTAL_MAX: u64 = 256 << 20;
const TOTAL_AFTER: u64 = TOTAL_MAX / 4 * 3;
/// Addresses in an entry.
const ADDRESSES_MAX: usize = 200_000;
/// Bytes of an unpacked entry.
const ENTRY_MAX: u64 = 512 << 20;
/// A file that was not renamed for so long was left behind by a process that is gone.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Where resolved symbols are kept: `FALLOFF_CACHE` if it is a directory's path, else `falloff/symbols` in
/// `XDG_CACHE_HOME` or `~/.cache`; `None` if `FALLOFF_CACHE` is `0` or there is no such place.
pub fn symbol_cache_dir() -> Option<PathBuf> {
    dir_from(|name| env::var_os(name))
}

fn dir_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match variable("FALLOFF_CACHE") {
        Some(value) if value == "0" => None,
        _ => path("FALLOFF_CACHE").or_else(|| {
            let caches = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")))?;
            Some(caches.join("falloff").join("symbols"))
        }),
    }
}

/// The place of a module's entry, and what it must have been made of.
pub(super) struct Entry {
    path: PathBuf,
    identity: Identity,
}

/// What resolved addresses depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Identity {
    /// Build of this program.
    falloff: String,
    /// Name of the module, which is in the names of code that has none.
    module: String,
    /// The module's file and its debug files: build id, size and time of the last change.
    files: Vec<(String, u64, i64, i64)>,
    path_maps: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    identity: Identity,
    source: SymbolSource,
}

/// What was kept.
pub(super) struct Kept {
    pub source: SymbolSource,
    pub addresses: Vec<(u64, Resolved)>,
}

impl Entry {
    /// Of a module with a build id and its debug files.
    pub fn new(dir: &Path, module: &str, files: &[&Elf], path_maps: &[(String, String)]) -> Option<Entry> {
        let build_id = files.first()?.build_id();
        let files = files.iter().map(|elf| {
            let metadata: Metadata = elf.path.metadata().ok()?;
            Some((hex(elf.build_id()), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
        });
        let identity = Identity {
            falloff: this_build()?.to_owned(),
            module: module.to_owned(),
            files: files.collect::<Option<_>>()?,
            path_maps: path_maps.to_vec(),
        };
        let mut hasher = FxHasher::default();
        identity.hash(&mut hasher);
        let path = dir.join(format!("{}-{:016x}.gz", hex(build_id), hasher.finish()));
        (!build_id.is_empty()).then_some(Entry { path, identity })
    }

    /// What was kept of the module; `None` if nothing was, or nothing that can be used.
    pub fn load(&self) -> Option<Kept> {
        let file = File::open(&self.path).ok()?;
        let mut bytes = Vec::new();
        GzDecoder::new(&file).take(ENTRY_MAX).read_to_end(&mut bytes).ok()?;
        let mut lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let head: Head = serde_json::from_slice(lines.next()?).ok()?;
        if head.identity != self.identity {
            return None;
        }
        let mut interner = Interner::default();
        let read = |line| serde_json::from_slice::<(u64, Resolved)>(line).ok().filter(|(_, r)| r.is_sound());
        let addresses: Option<Vec<_>> = lines
            .map(|line| read(line).map(|(address, resolved)| (address, interner.shared(resolved))))
            .collect();
        // The time of the last use; only the order of entries that go depends on it.
        let _ = File::options().write(true).open(&self.path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(Kept { source: head.source, addresses: addresses? })
    }

    /// Keeps addresses; failing to costs nothing but time.
    pub fn store<'a>(&self, source: SymbolSource, addresses: impl Iterator<Item = (u64, &'a Resolved)>) {
        let mut addresses: Vec<(u64, &Resolved)> = addresses.take(ADDRESSES_MAX + 1).collect();
        let Some(dir) = self.path.parent().filter(|_| addresses.len() <= ADDRESSES_MAX) else { return };
        addresses.sort_unstable_by_key(|(address, _)| *address);
        if self.write(dir, source, &addresses).is_ok() {
            trim(dir, TOTAL_MAX, TOTAL_AFTER);
        }
    }

    fn write(&self, dir: &Path, source: SymbolSource, addresses: &[(u64, &Resolved)]) -> io::Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let partial = dir.join(format!("{TEMPORARY}{}-{count}", std::process::id()));
        // One that a killed process left under the same number.
        let _ = fs::remove_file(&partial);
        let write = || {
            let file = File::options().write(true).create_new(true).mode(0o600).open(&partial)?;
            let mut out = GzEncoder::new(io::BufWriter::new(file), Compression::fast());
            serde_json::to_writer(&mut out, &Head { identity: self.identity.clone(), source })?;
            for address in addresses {
                out.write_all(b"\n")?;
                serde_json::to_writer(&mut out, address)?;
            }
            out.finish()?.flush()?;
            fs::rename(&partial, &self.path)
        };
        let result = write();
        if result.is_err() {
            let _ = fs::remove_file(&partial);
        }
        result
    }
}

/// Beginning of the names of files that are not in their place yet.
const TEMPORARY: &str = ".part-";

/// Removes the longest unused entries if all are larger than `max`, down to `after`.
fn trim(dir: &Path, max: u64, after: u64) {
    let Ok(list) = fs::read_dir(dir) else { return };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in list.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let Ok(used) = metadata.modified() else { continue };
        let temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        if !temporary {
            entries.push((used, metadata.len(), entry.path()));
        } else if used.elapsed().is_ok_and(|age| age > LEFT_BEHIND) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= max {
        return;
    }
    entries.sort();
    for (_, bytes, path) in entries {
        if total <= after {
            return;
        }
        // Another process may have been faster.
        let _ = fs::remove_file(path);
        total -= bytes;
    }
}

/// What tells builds of this program apart: another one may resolve differently.
fn this_build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let path = Path::new("/proc/self/exe");
        let files = Files::default();
        let id = Elf::open(path, &files).ok().map(|elf| hex(elf.build_id())).filter(|id| !id.is_empty());
        id.or_else(|| {
            let metadata = path.metadata().ok()?;
            Some(format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
        })
    };
    BUILD.get_or_init(read).as_deref()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::super::resolved::{Function, ResolvedFrame};
    use super::*;

    fn entry(dir: &Path) -> Entry {
        let files = Files::default();
        let elf = Elf::open(&env::current_exe().unwrap(), &files).unwrap();
        Entry::new(dir, "prog", &[&elf], &[]).unwrap()
    }

    fn resolved(name: &str) -> Resolved {
        let function = Arc::new(Function { name: name.into(), file: Some("/a.c".into()), line: Some(3) });
        Resolved {
            start: Some(16),
            frames: vec![ResolvedFrame { function, call_line: None, loops: Vec::new() }],
            file: Some("/a.c".into()),
            line: Some(4),
        }
    }

    fn store(entry: &Entry, addresses: &[(u64, Resolved)]) {
        entry.store(SymbolSource::Debug, addresses.iter().map(|(a, r)| (*a, r)));
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn the_place_is_the_users() {
        let with = |set: &[(&str, &str)]| {
            dir_from(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.cache/falloff/symbols".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), Some("/c/falloff/symbols".into()));
        assert_eq!(with(&[("HOME", "/h"), ("FALLOFF_CACHE", "/x")]), Some("/x".into()));
        assert_eq!(with(&[("HOME", "/h"), ("FALLOFF_CACHE", "0")]), None);
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn what_is_kept_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("made/when/needed");
        let entry = entry(&dir);
        assert!(entry.load().is_none());
        let addresses =
            vec![(1, resolved("one")), (7, resolved("quote \" and \n line")), (9, resolved("one"))];
        store(&entry, &addresses);
        let kept = entry.load().unwrap();
        assert_eq!((kept.source, &kept.addresses), (SymbolSource::Debug, &addresses));
        let function = |at: usize| &kept.addresses[at].1.frames[0].function;
        assert!(Arc::ptr_eq(function(0), function(2)));
        assert_eq!(files(&dir), 1);
    }

    #[test]
    fn entries_of_something_else_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let mut entry = entry(dir.path());
        store(&entry, &[(1, resolved("one"))]);
        entry.identity.files[0].1 += 1;
        assert!(entry.load().is_none());
    }

    #[test]
    fn damaged_entries_are_absent() {
        let dir = tempfile::tempdir().unwrap();
        let entry = entry(dir.path());
        let addresses: Vec<_> = (0..50).map(|n| (n, resolved(&format!("name {n}")))).collect();
        store(&entry, &addresses);
        let good = fs::read(&entry.path).unwrap();
        for at in 0..good.len() {
            fs::write(&entry.path, &good[..at]).unwrap();
            assert!(entry.load().is_none(), "cut at {at}");
            let mut bytes = good.clone();
            bytes[at] ^= 0x55;
            fs::write(&entry.path, bytes).unwrap();
            // The gzip header holds a time and a system that mean nothing.
            assert!(entry.load().is_none_or(|kept| at < 10 && kept.addresses == addresses), "byte {at}");
        }
    }

    #[test]
    fn many_writers_leave_a_whole_entry() {
        let dir = tempfile::tempdir().unwrap();
        let entry = entry(dir.path());
        thread::scope(|scope| {
            for writer in 0..8u64 {
                let entry = &entry;
                scope.spawn(move || {
                    for round in 0..20 {
                        let addresses: Vec<_> =
                            (0..50).map(|n| (n, resolved(&format!("{writer} {n}")))).collect();
                        store(entry, &addresses);
                        let kept = entry.load().unwrap();
                        let names: Vec<_> = kept
                            .addresses
                            .iter()
                            .map(|(_, r)| r.frames[0].function.name.to_string())
                            .collect();
                        let by = names[0].split(' ').next().unwrap();
                        assert!(names.iter().all(|n| n.starts_with(by)), "round {round}");
                    }
                });
            }
        });
        assert_eq!(files(dir.path()), 1);
    }

    #[test]
    fn the_longest_unused_go() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..10u64 {
            let path = dir.path().join(format!("{n}.gz"));
            fs::write(&path, [0; 100]).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(n)).unwrap();
        }
        let left = dir.path().join(format!("{TEMPORARY}1-1"));
        fs::write(&left, "").unwrap();
        File::options().write(true).open(&left).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        trim(dir.path(), 1000, 500);
        assert_eq!(files(dir.path()), 10);
        trim(dir.path(), 999, 500);
        assert_eq!(files(dir.path()), 5);
        assert!(dir.path().join("9.gz").exists() && !dir.path().join("4.gz").exists());
    }
}
