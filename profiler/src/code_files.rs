//! Files in which processes that generate code write down its names. They are kept beside the measurement: by convention
//! they lie in temporary directories, which other machines do not see and which are cleaned.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use falloff_format::Measurement;
use falloff_format::header::Header;
use falloff_format::read::Record;
use falloff_format::records::keys;
use nix::unistd::geteuid;

/// Where processes write them by convention.
const TEMPORARY: &str = "/tmp";
/// How far the clock of files may be behind the one that a process reads: a tick of the slowest kernels, ns.
const FILE_CLOCK_BEHIND_NS: i128 = 10_000_000;
/// The first bytes of a measurement, among which its working directory is.
const HEAD: usize = 8 << 10;

/// Copies the perf map and the jitdump file of the process that wrote `measurement` into the folder `into`.
///
/// Faults are passed over: such code then goes without names.
pub(crate) fn keep(into: &Path, measurement: &File, header: &Header) {
    keep_from(Path::new(TEMPORARY), into, measurement, header);
}

fn keep_from(temporary: &Path, into: &Path, measurement: &File, header: &Header) {
    let temporary = Some(temporary.to_owned());
    let places = [working_directory(measurement), temporary.clone()];
    keep_first(&format!("perf-{}.map", header.pid), [temporary], into, header);
    keep_first(&format!("jit-{}.dump", header.pid), places, into, header);
}

/// Keeps the first of the files of this name, unless one is kept already.
fn keep_first(name: &str, places: impl IntoIterator<Item = Option<PathBuf>>, into: &Path, process: &Header) {
    let kept = into.join(name);
    if fs::symlink_metadata(&kept).is_ok() {
        return;
    }
    if let Some(file) = places.into_iter().flatten().find_map(|dir| open(&dir.join(name), process)) {
        // Launchers of other ranks may do the same just now, and whoever reads must find it whole.
        let partial = into.join(format!(".{name}.{}", crate::fresh_run_id()));
        if copy(&file, &partial).and_then(|()| fs::rename(&partial, &kept)).is_err() {
            let _ = fs::remove_file(&partial);
        }
    }
}

/// A regular file of the user or root that is not older than the process. Links are not followed: anybody can put one
/// in a temporary directory.
fn open(path: &Path, process: &Header) -> Option<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let found = file.metadata().ok()?;
    let trusted = found.uid() == 0 || found.uid() == geteuid().as_raw();
    let written_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    let in_its_time = written_ns + FILE_CLOCK_BEHIND_NS >= i128::from(process.start_realtime_ns);
    (found.is_file() && trusted && in_its_time).then_some(file)
}

fn copy(mut from: &File, to: &Path) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut from, &mut to).map(drop)
}

/// The working directory in which the process began, if it is an absolute path.
fn working_directory(measurement: &File) -> Option<PathBuf> {
    let mut head = vec![0; HEAD];
    let length = measurement.read_at(&mut head, 0).ok()?;
    head.truncate(length);
    let measurement = Measurement::parse(&head).ok()?;
    let directory = measurement.records().flatten().find_map(|record| match record {
        Record::Meta(key, value) if key == keys::CWD.as_bytes() => {
            Some(PathBuf::from(OsStr::from_bytes(value)))
        }
        _ => None,
    });
    directory.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use falloff_format::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind as ChunkKind, NO_OWNER};
    use falloff_format::header::{BYTE_ORDER, HEADER_LEN, MAGIC, MAJOR};
    use falloff_format::node::NODE_KEY_LEN;
    use falloff_format::records::{self, Kind};
    use zerocopy::{FromZeros, IntoBytes};

    use super::*;

    /// A folder with the measurement of process 12, which began in `cwd`, and places for its files.
    struct Scene {
        folder: tempfile::TempDir,
        header: Header,
    }

    impl Scene {
        fn new() -> Scene {
            let folder = tempfile::tempdir().unwrap();
            for name in ["tmp", "cwd", "measurements"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            let mut header = Header::new_zeroed();
            header.magic = MAGIC;
            (header.major, header.byte_order) = (MAJOR, BYTE_ORDER);
            (header.header_len, header.node_key_len) = (HEADER_LEN as u32, NODE_KEY_LEN as u32);
            (header.pid, header.start_realtime_ns) = (12, 1);
            Scene { folder, header }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn measurement(&mut self) -> File {
            let mut record = [0; 512];
            let cwd = self.path("cwd");
            let text = [keys::CWD.as_bytes(), b"\0", cwd.as_os_str().as_bytes()];
            let used = records::encode(&mut record, Kind::Meta, &[], &text).unwrap() as u64;
            let length = CHUNK_HEADER_LEN as u64 + used;
            let (kind, version) = (ChunkKind::Records as u16, CHUNK_VERSION);
            let chunk = ChunkHeader { kind, version, owner: NO_OWNER, length, used, metrics: 0 };
            self.header.next = HEADER_LEN as u64 + length;
            let path = self.path("measurements/a.falloff");
            let bytes = [self.header.as_bytes(), chunk.as_bytes(), &record[..used as usize]].concat();
            fs::write(&path, bytes).unwrap();
            File::open(path).unwrap()
        }

        /// Keeps what there is, and gives what is kept.
        fn keep(&mut self) -> Vec<(String, String)> {
            let measurement = self.measurement();
            keep_from(&self.path("tmp"), &self.path("measurements"), &measurement, &self.header);
            let mut kept: Vec<(String, String)> = fs::read_dir(self.path("measurements"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name != "a.falloff")
                .map(|name| (name.clone(), fs::read_to_string(self.path("measurements").join(name)).unwrap()))
                .collect();
            kept.sort();
            kept
        }
    }

    fn file(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn names_are_kept_once() {
        let mut scene = Scene::new();
        assert_eq!(scene.keep(), []);
        fs::write(scene.path("tmp/perf-12.map"), "1 1 a").unwrap();
        fs::write(scene.path("tmp/perf-13.map"), "1 1 other").unwrap();
        fs::write(scene.path("tmp/jit-12.dump"), "not that of the working directory").unwrap();
        fs::write(scene.path("cwd/jit-12.dump"), "dump").unwrap();
        let both = [file("jit-12.dump", "dump"), file("perf-12.map", "1 1 a")];
        assert_eq!(scene.keep(), both);
        fs::write(scene.path("tmp/perf-12.map"), "1 1 later").unwrap();
        assert_eq!(scene.keep(), both);
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let mut scene = Scene::new();
        fs::write(scene.path("tmp/target"), "1 1 a").unwrap();
        std::os::unix::fs::symlink(scene.path("tmp/target"), scene.path("tmp/perf-12.map")).unwrap();
        nix::unistd::mkfifo(&scene.path("cwd/jit-12.dump"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(scene.keep(), []);
        fs::remove_file(scene.path("tmp/perf-12.map")).unwrap();
        fs::write(scene.path("tmp/perf-12.map"), "of an earlier process with this number").unwrap();
        scene.header.start_realtime_ns = u64::MAX;
        assert_eq!(scene.keep(), []);
    }
}
