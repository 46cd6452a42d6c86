//! The directory of one run: `run.json`, which says what was run, and `measurements/`, one file a process.
//!
//! Ranks of one job arrive in any order. The first writes `run.json`; the others find their own run id in it and
//! join; another run finds another id and is refused.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::run_file::{RunFile, RunIdentity};

/// Name of the file that describes a run.
pub const RUN_FILE: &str = "run.json";
/// Name of the folder for measurement files.
pub const MEASUREMENTS: &str = "measurements";
/// What later steps keep beside them.
const DATABASE: &str = "database";

/// Makes the directory, or joins it if it is this run's already; gives the folder for measurements, absolute.
pub(crate) fn enter(dir: &Path, run: &RunFile) -> Result<PathBuf, Error> {
    make(dir)?;
    let file = dir.join(RUN_FILE);
    if !file.exists() {
        refuse_foreign(dir)?;
        write_first(&file, run)?;
    }
    let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
    let ours = serde_json::from_str::<RunIdentity>(&text).is_ok_and(|there| there.run_id == run.run_id);
    if !ours {
        return Err(Error::OtherRun(dir.to_owned()));
    }
    let measurements = dir.join(MEASUREMENTS);
    make(&measurements)?;
    // Everything of the program may change its working directory.
    let measurements = fs::canonicalize(&measurements).map_err(Error::io("find", &measurements))?;
    probe(&measurements)?;
    Ok(measurements)
}

fn make(dir: &Path) -> Result<(), Error> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(Error::io("make the directory", dir))
}

/// A directory without `run.json` must be empty but for what another rank may be making just now and for logs.
fn refuse_foreign(dir: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let name = entry.map_err(Error::io("read", dir))?.file_name();
        let name = name.to_string_lossy();
        let expected = name == MEASUREMENTS
            || name.starts_with(RUN_FILE)
            || name.starts_with('.')
            || name.ends_with(".log");
        if name == DATABASE {
            return Err(Error::OtherRun(dir.to_owned()));
        }
        if !expected {
            return Err(Error::NotARun(dir.to_owned()));
        }
    }
    Ok(())
}

/// Writes the file whole or not at all; whoever comes second finds it written.
fn write_first(file: &Path, run: &RunFile) -> Result<(), Error> {
    let temporary = file.with_file_name(format!("{RUN_FILE}.{}", crate::fresh_run_id()));
    let text = serde_json::to_string_pretty(run).unwrap_or_default();
    fs::write(&temporary, text + "\n").map_err(Error::io("write", &temporary))?;
    let linked = fs::hard_link(&temporary, file);
    let _ = fs::remove_file(&temporary);
    match linked {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(Error::io("write", file)(e)),
        _ => Ok(()),
    }
}

/// Whether files can be made there, found out before the program starts and not by its sampler.
fn probe(measurements: &Path) -> Result<(), Error> {
    let file = measurements.join(format!(".probe.{}", crate::fresh_run_id()));
    fs::write(&file, "").map_err(Error::io("write to", measurements))?;
    fs::remove_file(&file).map_err(Error::io("write to", measurements))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> RunFile {
        RunFile::new(id, &["app".into()], &crate::Request::default().prepare().unwrap())
    }

    #[test]
    fn ranks_of_a_run_meet_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("a/b");
        let first = enter(&dir, &run("one")).unwrap();
        assert_eq!(enter(&dir, &run("one")).unwrap(), first);
        assert!(first.is_absolute() && first.ends_with(MEASUREMENTS));
        assert!(matches!(enter(&dir, &run("two")), Err(Error::OtherRun(_))));
        fs::write(dir.join(RUN_FILE), "{ damaged").unwrap();
        assert!(matches!(enter(&dir, &run("one")), Err(Error::OtherRun(_))));
    }

    #[test]
    fn a_directory_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "").unwrap();
        assert!(matches!(enter(folder.path(), &run("one")), Err(Error::NotARun(_))));
        let file = folder.path().join("thesis.tex");
        assert!(matches!(enter(&file, &run("one")), Err(Error::Io { .. })));
    }

    #[test]
    fn many_ranks_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run");
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..16).map(|_| scope.spawn(|| enter(&dir, &run("job")).is_ok())).collect();
            assert!(ranks.into_iter().all(|r| r.join().unwrap()));
        });
    }
}
