//! What can go wrong before the program starts.

use std::io;
use std::path::PathBuf;

/// Why a program could not be started under the sampler. Nothing of the program has run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such program.
    #[error("failed to find the program `{0}`")]
    NotFound(String),
    /// There, but not to be executed.
    #[error("failed to run `{path}`: {source}", path = path.display())]
    NotExecutable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Events that cannot be asked for together.
    #[error("failed to choose events: {0}")]
    Events(String),
    /// Not one event can be had.
    #[error("failed to measure anything: {0}")]
    NothingToMeasure(String),
    /// The directory holds another run.
    #[error("failed to use {path}: it holds another run", path = .0.display())]
    OtherRun(PathBuf),
    /// The directory holds something else.
    #[error("failed to use {path}: it is not empty and holds no run", path = .0.display())]
    NotARun(PathBuf),
    /// A file or directory that cannot be made, read or written.
    #[error("failed to {what} {path}: {source}", path = path.display())]
    Io {
        /// What was tried, as a verb.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No place for the preload that the loader can use.
    #[error("failed to write the preload to a place where programs can load it (tried {0})")]
    NoPreloadPlace(String),
    /// Processes cannot be started or waited for.
    #[error("failed to {what} the program: {source}")]
    Process {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Exit code of the command line: 2 where another command would do, 3 where the measurement cannot be made.
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::NotFound(_)
            | Error::NotExecutable { .. }
            | Error::Events(_)
            | Error::NothingToMeasure(_)
            | Error::OtherRun(_)
            | Error::NotARun(_) => 2,
            Error::Io { .. } | Error::NoPreloadPlace(_) | Error::Process { .. } => 3,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NotFound(_) => "give a path such as `./app`, or a name that is in PATH".to_owned(),
            Error::NotExecutable { .. } => "the program must be an executable file".to_owned(),
            Error::Events(_) => "give each event once, with one rate or period".to_owned(),
            Error::NothingToMeasure(_) => {
                "`-e time` works everywhere; `falloff doctor` says what else does".to_owned()
            }
            Error::OtherRun(_) => {
                "give another directory with `-o`; ranks of one job that a launcher without a job id starts meet \
                 in one directory if FALLOFF_RUN_ID is set to the same text for all of them"
                    .to_owned()
            }
            Error::NotARun(_) => "give a new or an empty directory with `-o`".to_owned(),
            Error::Io { .. } => "give a directory that you may write to with `-o`".to_owned(),
            Error::NoPreloadPlace(_) => {
                "set XDG_CACHE_HOME to a directory without blanks on a file system that is not mounted noexec"
                    .to_owned()
            }
            Error::Process { .. } => return None,
        })
    }

    /// For `map_err`: an [`Error::Io`] about a path.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { what, path, source }
    }
}
