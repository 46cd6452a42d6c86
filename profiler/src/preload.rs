//! The preload, carried inside the binary and written out where the loader can load it from.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::geteuid;

use crate::Error;

/// The bytes of the preload and their hash, which names the file.
#[derive(Debug)]
pub struct Preload {
    bytes: &'static [u8],
    hash: &'static str,
}

impl Preload {
    /// The preload with these bytes and this hash of them, in characters that a file name may have.
    pub const fn new(bytes: &'static [u8], hash: &'static str) -> Preload {
        Preload { bytes, hash }
    }

    /// Path of a file with these bytes, written if need be. The name holds their hash, so versions live side by side
    /// and any number of processes may write it at once.
    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        let name = format!("libfalloff-{}.so", self.hash);
        let mut tried = Vec::new();
        for place in places() {
            match self.in_place(&place, &name) {
                Ok(path) => return Ok(path),
                Err(reason) => tried.push(format!("{}: {reason}", place.display())),
            }
        }
        Err(Error::NoPreloadPlace(tried.join("; ")))
    }

    fn in_place(&self, place: &Path, name: &str) -> io::Result<PathBuf> {
        // The loader splits its list at blanks and colons.
        if place.to_str().is_none_or(|p| !p.starts_with('/') || p.contains([' ', '\t', '\n', ':'])) {
            return Err(io::Error::other("the loader cannot take such a path"));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let owner = fs::symlink_metadata(place)?;
        if !owner.is_dir() || owner.uid() != geteuid().as_raw() || owner.mode() & 0o022 != 0 {
            return Err(io::Error::other("others may write there"));
        }
        if statvfs(place)?.flags().contains(FsFlags::ST_NOEXEC) {
            return Err(io::Error::other("mounted noexec"));
        }
        let path = place.join(name);
        if !self.is_at(&path) {
            let temporary = place.join(format!(".{name}.{}", std::process::id()));
            let _ = fs::remove_file(&temporary);
            let mut file =
                fs::OpenOptions::new().write(true).create_new(true).mode(0o500).open(&temporary)?;
            file.write_all(self.bytes)?;
            drop(file);
            fs::rename(&temporary, &path)?;
        }
        Ok(path)
    }

    /// Whether the file is ours, whole, and nobody else's.
    fn is_at(&self, path: &Path) -> bool {
        let own = fs::symlink_metadata(path)
            .is_ok_and(|m| m.is_file() && m.uid() == geteuid().as_raw() && m.mode() & 0o022 == 0);
        own && fs::File::open(path).and_then(|file| is_same(file, self.bytes)).unwrap_or(false)
    }
}

/// Whether a file has these bytes and no others. Every start of a program waits for it: the file is not read into new memory.
fn is_same(mut file: impl Read, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = [0; 16 << 10];
    let mut rest = bytes;
    loop {
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            return Ok(rest.is_empty());
        }
        match rest.strip_prefix(&buffer[..count]) {
            Some(after) => rest = after,
            None => return Ok(false),
        }
    }
}

/// Where the preload may be kept, best first: the user's cache, then places that exist on clusters without one.
fn places() -> Vec<PathBuf> {
    let user = geteuid();
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache"));
    let shared = ["/dev/shm", "/tmp", "/var/tmp"].map(|p| PathBuf::from(p).join(format!("falloff-{user}")));
    cache.or(home).map(|p| p.join("falloff")).into_iter().chain(shared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_once_and_repairs() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        let preload = Preload::new(b"not really a library", "0");
        let path = preload.in_place(&place, "lib.so").unwrap();
        let first = fs::metadata(&path).unwrap().ino();
        preload.in_place(&place, "lib.so").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().ino(), first);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "something else").unwrap();
        preload.in_place(&place, "lib.so").unwrap();
        assert_eq!(fs::read(&path).unwrap(), preload.bytes);
    }

    #[test]
    fn refuses_places_the_loader_cannot_take() {
        let folder = tempfile::tempdir().unwrap();
        let preload = Preload::new(b"x", "0");
        assert!(preload.in_place(&folder.path().join("with blank"), "lib.so").is_err());
        assert!(preload.in_place(&folder.path().join("with:colon"), "lib.so").is_err());
        assert!(preload.in_place(Path::new("relative"), "lib.so").is_err());
    }
}
