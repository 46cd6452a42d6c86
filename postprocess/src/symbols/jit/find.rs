//! Finding the files of a process: in the run directory, or where the process wrote them.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::load::Maker;

/// What a place outside the run directory must agree with.
pub(super) struct Here {
    /// Name of this host: processes of other hosts left nothing here.
    pub host: String,
    /// The user; files of others but root are not trusted.
    pub user: Option<u32>,
    /// Where processes write by convention.
    pub temporary: PathBuf,
}

impl Here {
    /// This host and user.
    pub fn now() -> Here {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let user = fs::metadata("/proc/self").ok().map(|m| m.uid());
        Here { host: host.trim_end().to_owned(), user, temporary: "/tmp".into() }
    }

    /// The perf map of a process and what is in it.
    pub fn perf_map(&self, maker: &Maker) -> Option<(PathBuf, Vec<u8>)> {
        self.find(maker, &format!("perf-{}.map", maker.pid), &[&self.temporary])
    }

    /// The jitdump file of a process and what is in it.
    pub fn jitdump(&self, maker: &Maker) -> Option<(PathBuf, Vec<u8>)> {
        self.find(maker, &format!("jit-{}.dump", maker.pid), &[&maker.cwd, &self.temporary])
    }

    fn find(&self, maker: &Maker, name: &str, elsewhere: &[&Path]) -> Option<(PathBuf, Vec<u8>)> {
        let kept = maker.dir.join(name);
        if let Some(bytes) = read(&kept, |_| true) {
            return Some((kept, bytes));
        }
        if maker.host != self.host {
            return None;
        }
        let ours = |file: &fs::Metadata| {
            let trusted = file.uid() == 0 || Some(file.uid()) == self.user;
            trusted && changed_ns(file) >= i128::from(maker.start_ns)
        };
        let places = elsewhere.iter().filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
        places.into_iter().find_map(|path| read(&path, ours).map(|bytes| (path, bytes)))
    }
}

/// When a file was last written, ns since 1970.
fn changed_ns(file: &fs::Metadata) -> i128 {
    i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec())
}

/// A regular file that is as it should be. Links are not followed: anybody can put one in a temporary directory.
fn read(path: &Path, good: impl Fn(&fs::Metadata) -> bool) -> Option<Vec<u8>> {
    let named = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let opened = file.metadata().ok()?;
    let same = (opened.dev(), opened.ino()) == (named.dev(), named.ino());
    let mut bytes = Vec::new();
    (same && good(&opened) && file.read_to_end(&mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_process_itself_are_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (run, temporary) = (dir.path().join("run"), dir.path().join("tmp"));
        for dir in [&run, &temporary] {
            fs::create_dir(dir).unwrap();
        }
        let here = Here { temporary: temporary.clone(), ..Here::now() };
        let maker =
            Maker { pid: 12, start_ns: 1, host: here.host.clone(), cwd: "relative".into(), dir: run.clone() };
        let found = |here: &Here, maker: &Maker| here.perf_map(maker).map(|(path, _)| path);
        assert_eq!(found(&here, &maker), None);
        let path = temporary.join("perf-12.map");
        fs::write(&path, "1 1 a").unwrap();
        assert_eq!(found(&here, &maker), Some(path.clone()));
        assert_eq!(found(&here, &Maker { host: "elsewhere".into(), ..maker.clone() }), None);
        assert_eq!(found(&here, &Maker { start_ns: u64::MAX, ..maker.clone() }), None);
        let owner = fs::metadata(&path).unwrap().uid();
        let stranger = Here { user: Some(owner + 1), temporary: temporary.clone(), ..Here::now() };
        assert_eq!(found(&stranger, &maker).is_some(), owner == 0);
        // A copy in the run directory is taken first, whatever its age.
        fs::write(run.join("perf-12.map"), "1 1 b").unwrap();
        let old = Maker { start_ns: u64::MAX, host: "elsewhere".into(), ..maker.clone() };
        assert_eq!(found(&here, &old), Some(run.join("perf-12.map")));
        // Links are left alone.
        let linked = Maker { pid: 13, ..maker };
        std::os::unix::fs::symlink(&path, temporary.join("perf-13.map")).unwrap();
        assert_eq!(found(&here, &linked), None);
    }
}
