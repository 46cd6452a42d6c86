//! What a measurement file says about its process as a whole.

use std::path::{Path, PathBuf};

use falloff_format::header::{FLAG_FORKED, Header, NO_RANK, STATE_ENDED};
use falloff_format::records::keys;

use super::process::Maker;
use super::source::Source;
use crate::database::{ITEM_END, Location, ProcessState};

/// Beginnings of the names of dynamic loaders.
const LOADERS: [&str; 2] = ["ld-", "ld.so"];
/// Options of theirs that are followed by a value.
const LOADER_OPTIONS: [&str; 7] = [
    "--argv0",
    "--audit",
    "--glibc-hwcaps-mask",
    "--glibc-hwcaps-prepend",
    "--inhibit-rpath",
    "--library-path",
    "--preload",
];

/// Header and META records.
pub(super) struct About {
    pub header: Header,
    /// Where the file is.
    dir: PathBuf,
    host: String,
    image: String,
    cwd: PathBuf,
    rate_hz: u32,
    argv: Vec<String>,
    /// Asked distance of two samples of each metric that is sampled itself.
    pub periods: Vec<(String, u64)>,
    /// Sentences about what could not be measured.
    pub warnings: Vec<String>,
}

impl About {
    /// What the header says.
    pub fn new(source: &Source, header: Header) -> About {
        About {
            header,
            dir: source.path.parent().unwrap_or(Path::new("")).to_owned(),
            host: String::new(),
            image: String::new(),
            cwd: PathBuf::new(),
            rate_hz: 0,
            argv: Vec::new(),
            periods: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Takes a META record.
    pub fn note(&mut self, key: &[u8], value: &[u8]) {
        let value = String::from_utf8_lossy(value).into_owned();
        match std::str::from_utf8(key).unwrap_or_default() {
            keys::HOST => self.host = value,
            keys::IMAGE => self.image = value,
            keys::CWD => self.cwd = value.into(),
            keys::RATE => self.rate_hz = value.trim().parse().unwrap_or(0),
            // What ends an argument in the tables is in none.
            keys::ARGV => self.argv.push(value.replace(ITEM_END, " ")),
            keys::WARNING => self.warnings.push(value),
            _ => {}
        }
    }

    /// Path of a module as it was recorded, as a whole path.
    pub fn path(&self, recorded: String, executable: bool) -> String {
        match recorded {
            path if executable && (path.is_empty() || path == self.image) => self.path(self.program(), false),
            path if path.is_empty() || path.starts_with('/') => path,
            path => self.cwd.join(path).to_string_lossy().into_owned(),
        }
    }

    /// The program's file: what a loader was told to run, where that was called by its own name.
    fn program(&self) -> String {
        let name = self.image.rsplit('/').next().unwrap_or_default();
        if !LOADERS.iter().any(|loader| name.starts_with(loader)) {
            return self.image.clone();
        }
        let mut arguments = self.argv.iter().skip(1);
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                return argument.clone();
            }
            if LOADER_OPTIONS.contains(&argument.as_str()) {
                arguments.next();
            }
        }
        self.image.clone()
    }

    /// The process as the maker of code.
    pub fn maker(&self) -> Maker {
        Maker {
            pid: self.header.pid,
            start_ns: self.header.start_realtime_ns,
            host: self.host.clone(),
            cwd: self.cwd.clone(),
            dir: self.dir.clone(),
        }
    }

    /// A thread of which no more than its number is known.
    pub fn location(&self, ordinal: u32) -> Location {
        let header = &self.header;
        let image = match (self.image.is_empty(), self.argv.first()) {
            (true, Some(program)) => program.clone(),
            _ => self.image.clone(),
        };
        Location {
            rank: (header.rank != NO_RANK).then(|| u32::try_from(header.rank).ok()).flatten(),
            host: self.host.clone(),
            start_ns: header.start_realtime_ns,
            pid: header.pid,
            ordinal,
            tid: if ordinal == 0 { header.pid } else { 0 },
            ppid: header.ppid,
            ranks: u32::try_from(header.ranks).unwrap_or(0),
            image,
            argv: self.argv.clone(),
            main: ordinal == 0,
            state: if header.state == STATE_ENDED { ProcessState::Ended } else { ProcessState::Killed },
            forked: header.flags & FLAG_FORKED != 0,
            rate_hz: self.rate_hz,
            periods: self.periods.clone(),
            ..Location::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_runs_another_file() {
        let about = |image: &str, argv: &[&str]| About {
            header: zerocopy::FromZeros::new_zeroed(),
            dir: PathBuf::new(),
            host: String::new(),
            image: image.into(),
            cwd: "/work".into(),
            rate_hz: 0,
            argv: argv.iter().map(|a| (*a).to_owned()).collect(),
            periods: Vec::new(),
            warnings: Vec::new(),
        };
        let path = |image, argv: &[&str]| about(image, argv).path(String::new(), true);
        let loader = "/usr/lib/ld-linux-x86-64.so.2";
        assert_eq!(path("/bin/prog", &["ld-prog", "x"]), "/bin/prog");
        assert_eq!(path(loader, &["ld.so", "./prog", "--preload"]), "/work/./prog");
        assert_eq!(path(loader, &["ld.so", "--inhibit-cache", "--library-path", "/lib", "/p"]), "/p");
        assert_eq!(path(loader, &["ld.so"]), loader);
    }
}
