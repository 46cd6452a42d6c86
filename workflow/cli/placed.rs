//! Output that is in its place when it is whole, and not before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside its place and moves it there. What is no regular file, as a device or a pipe, is written to as it is.
///
/// # Errors
/// Those of `write` and of the system; what was there before stays.
pub fn file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let fill = |file: File| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    };
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return fill(File::create(path)?);
    }
    // A link stays one.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let partial = beside(&place)?;
    let result = File::options().write(true).create_new(true).open(&partial).and_then(|file| {
        if let Some(metadata) = before {
            file.set_permissions(metadata.permissions())?;
        }
        fill(file)?;
        fs::rename(&partial, &place)
    });
    if result.is_err() {
        // It may not even have been made.
        let _ = fs::remove_file(&partial);
    }
    result
}

/// Makes a directory beside its place, has something written into it, and moves it there.
///
/// # Errors
/// Those of `write` and of the system; that there is something already.
pub fn directory(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let partial = beside(path)?;
    let result =
        fs::create_dir(&partial).and_then(|()| write(&partial)).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    result
}

/// A hidden name beside a path, of this process.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(path.with_file_name(format!(".{}.part-{}", name.to_string_lossy(), std::process::id())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn fail(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[b'x'; 100_000])?;
        Err(io::Error::other("no more"))
    }

    #[test]
    fn a_file_is_whole_or_as_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        assert_eq!(file(&path, fail).unwrap_err().to_string(), "no more");
        assert!(names(dir.path()).is_empty());
        file(&path, |out| out.write_all(b"one")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        file(&path, fail).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        file(&path, |out| out.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(dir.path()), ["out"]);
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        fs::write(&target, "one").unwrap();
        symlink(&target, &link).unwrap();
        file(&link, |out| out.write_all(b"two")).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"two");
        file(Path::new("/dev/null"), |out| out.write_all(b"two")).unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
        assert!(file(Path::new("/dev/full"), fail).is_err());
    }

    #[test]
    fn a_directory_is_whole_or_absent() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let part = |fails: bool| {
            move |dir: &Path| {
                fs::write(dir.join("a"), "1")?;
                if fails { Err(io::Error::other("no more")) } else { Ok(()) }
            }
        };
        assert_eq!(directory(&path, part(true)).unwrap_err().to_string(), "no more");
        assert!(names(dir.path()).is_empty());
        directory(&path, part(false)).unwrap();
        assert_eq!((names(dir.path()), names(&path)), (vec!["out".to_owned()], vec!["a".to_owned()]));
        assert_eq!(directory(&path, part(false)).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        // Not even an empty one.
        let empty = dir.path().join("empty");
        fs::create_dir(&empty).unwrap();
        assert_eq!(directory(&empty, part(false)).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
