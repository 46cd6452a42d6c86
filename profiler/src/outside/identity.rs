//! What the system says of a process that has just executed an image.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use falloff_format::job;

/// Longest argument list that is kept, bytes.
const ARGUMENTS_MAX: usize = 16 << 10;

/// A process's own data.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub arguments: Vec<Vec<u8>>,
    pub directory: Vec<u8>,
    /// Launcher variables that a measurement keeps, `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// Rank and ranks, if a launcher said.
    pub rank: Option<(i32, i32)>,
}

impl Identity {
    /// Of this process, with other arguments: what a program that it starts begins with.
    pub(super) fn inherited(arguments: Vec<OsString>) -> Identity {
        let directory = std::env::current_dir().unwrap_or_default().into_os_string().into_vec();
        let environment =
            std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        Identity {
            arguments: arguments.into_iter().map(OsString::into_vec).collect(),
            directory,
            ..Identity::of(environment)
        }
    }

    fn of(environment: impl Iterator<Item = Vec<u8>>) -> Identity {
        let all: Vec<Vec<u8>> = environment.collect();
        let value = |name: &[u8]| all.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="));
        let rank = job::rank(|name| std::str::from_utf8(value(name)?).ok()?.parse().ok());
        let environment = all.iter().filter(|entry| job::is_kept(entry)).cloned().collect();
        Identity { environment, rank, ..Identity::default() }
    }

    /// Of a process, as far as it still tells; the rest stays as it is here.
    pub(super) fn renewed(&self, pid: u32) -> Identity {
        let listed = |name: &str| {
            let mut bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            bytes.truncate(bytes.len() - usize::from(bytes.ends_with(b"\0")));
            (!bytes.is_empty()).then_some(bytes)
        };
        let strings = |bytes: Vec<u8>| bytes.split(|b| *b == 0).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let mut new = match listed("environ") {
            Some(bytes) => Identity::of(strings(bytes).into_iter()),
            None => self.clone(),
        };
        new.arguments = listed("cmdline").map_or_else(
            || self.arguments.clone(),
            |mut bytes| {
                bytes.truncate(ARGUMENTS_MAX);
                strings(bytes)
            },
        );
        let directory = fs::read_link(format!("/proc/{pid}/cwd"));
        new.directory = directory.map_or_else(|_| self.directory.clone(), |d| d.into_os_string().into_vec());
        new
    }
}

/// Last part of a path.
pub(super) fn base_name(path: &[u8]) -> &OsStr {
    OsStr::from_bytes(path.rsplit(|b| *b == b'/').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_kept_variables() {
        let entries = ["PMI_RANK=3", "PMI_SIZE=8", "SECRET=1"].map(|entry| entry.as_bytes().to_vec());
        let identity = Identity::of(entries.into_iter());
        assert_eq!(identity.rank, Some((3, 8)));
        assert_eq!(identity.environment, [b"PMI_RANK=3", b"PMI_SIZE=8"]);
    }

    #[test]
    fn a_process_that_is_gone_leaves_what_was_known() {
        let known = Identity::inherited(vec!["./prog".into()]);
        let gone = known.renewed(u32::MAX);
        assert_eq!((gone.arguments, gone.directory), (known.arguments.clone(), known.directory.clone()));
        let own = known.renewed(std::process::id());
        assert_ne!(own.arguments, known.arguments);
        assert_eq!(base_name(b"/bin/sh"), "sh");
    }
}
