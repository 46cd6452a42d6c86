//! Copies of source files.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::section::ascii;

/// Folder of the copies.
const FOLDER: &str = "src";
/// No source file that somebody wrote is larger; bytes.
const LARGEST: u64 = 64 << 20;

/// Where viewers find a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourcePath {
    /// Relative to the database if it was copied, else as debug information has it.
    pub path: String,
    /// Whether it was copied.
    pub copied: bool,
}

/// Copies a source file into a database if it can be read.
///
/// A copy's path is that of the original below `src/`, with the characters that the database has in its place, so that what
/// viewers look for is there. Relative paths tell nobody where the file is; they are not copied.
pub(super) fn copy(path: &str, database: &Path) -> io::Result<SourcePath> {
    let original = Path::new(path);
    let kept = || SourcePath { path: outside(path), copied: false };
    let readable = original.is_absolute()
        && fs::metadata(original).is_ok_and(|about| about.is_file() && about.len() <= LARGEST);
    let Some(text) = readable.then(|| fs::read(original).ok()).flatten() else {
        return Ok(kept());
    };
    let inside = Path::new(FOLDER).join(below_root(original));
    let Some(inside) = inside.to_str().map(ascii) else { return Ok(kept()) };
    match write(&database.join(&inside), &text) {
        Ok(()) => Ok(SourcePath { path: inside, copied: true }),
        // Names grow where characters are written as their numbers.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Ok(kept()),
        Err(error) => Err(error),
    }
}

fn write(copy: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = copy.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(copy, text)
}

/// A path that is not that of a copy.
fn outside(path: &str) -> String {
    if Path::new(path).starts_with(FOLDER) { format!("./{path}") } else { path.to_owned() }
}

/// The path from the root of the file system on, without `.` and `..`, which would lead out of the database.
fn below_root(path: &Path) -> PathBuf {
    let mut below = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => {
                below.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_files_are_copied_below_their_paths() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("database");
        let source = dir.path().join("größe.c");
        fs::write(&source, "int x;").unwrap();
        let winding = dir.path().join("../../..").join(source.strip_prefix("/").unwrap());
        let copied = copy(winding.to_str().unwrap(), &database).unwrap();
        assert!(
            copied.copied && copied.path.is_ascii() && copied.path.ends_with("/gr\\u{f6}\\u{df}e.c"),
            "{copied:?}"
        );
        assert_eq!(fs::read_to_string(database.join(&copied.path)).unwrap(), "int x;");
    }

    #[test]
    fn what_cannot_be_read_keeps_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let long = format!("/{}.c", "x".repeat(10_000));
        for path in ["/no/such.c", "rel.c", "/", "/dev/null", &long] {
            let expected = SourcePath { path: path.into(), copied: false };
            assert_eq!(copy(path, dir.path()).unwrap(), expected);
        }
        assert_eq!(copy("src/rel.c", dir.path()).unwrap().path, "./src/rel.c");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_path_leads_out_of_the_database() {
        assert_eq!(below_root(Path::new("/../../etc/./x/../hosts")), Path::new("etc/hosts"));
    }
}
