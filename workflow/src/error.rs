//! What can go wrong in a sweep and in scoring it, with the exit code and the advice that belong to it.

use std::io;
use std::path::{Path, PathBuf};

use crate::exit;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that the user or the outside world caused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused an operation on a file.
    #[error("failed to {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it was refused.
        source: io::Error,
    },
    /// A file of a sweep does not hold what it should.
    #[error("failed to read `{}`: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by another major version.
    #[error("failed to read `{}`: it has version {found} of {schema}, this falloff knows {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Name of the schema.
        schema: &'static str,
        /// Version in the file.
        found: u32,
        /// Newest version that this falloff reads.
        known: u32,
    },
    /// An option does not make sense.
    #[error("failed to {action}: {reason}")]
    Usage {
        /// What was asked for, as a verb.
        action: &'static str,
        /// Why it cannot be done.
        reason: String,
        /// What to do instead.
        hint: String,
    },
    /// The directory holds another sweep, another run, or other files.
    #[error("failed to use `{}` for this sweep: {reason}", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// What is there.
        reason: String,
    },
    /// The directory is no sweep.
    #[error("failed to use `{}` as a sweep: {reason}", path.display())]
    NotASweep {
        /// The directory.
        path: PathBuf,
        /// What it is instead.
        reason: String,
        /// What to do instead.
        hint: String,
    },
    /// Too few good runs for an answer.
    #[error("the sweep `{}` says too little: {reason}", path.display())]
    NotEnoughRuns {
        /// The sweep.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// Runs whose costs were measured in different ways.
    #[error("failed to compare the runs of `{}`, which were measured in different ways: {groups}", path.display())]
    UnlikeClocks {
        /// The sweep.
        path: PathBuf,
        /// Which runs were measured by which clocks.
        groups: String,
    },
    /// Two sweeps that cannot be held against each other.
    #[error("failed to compare the two sweeps: {reason}")]
    Incomparable {
        /// Why not.
        reason: String,
        /// What to do about it.
        hint: String,
    },
    /// The program cannot be profiled as asked.
    #[error("{0}")]
    Profiler(#[from] falloff_profiler::Error),
    /// A measurement could not be opened.
    #[error("{0}")]
    Postprocess(#[from] falloff_postprocess::Error),
    /// Times that no model can be made of.
    #[error("{0}")]
    Models(#[from] falloff_models::Error),
    /// Processes of the demonstration failed to work together.
    #[error("failed to run the demonstration: {0}")]
    Demo(String),
    /// A file is no signature of a machine that can be read.
    #[error("failed to read `{}` as the signature of a machine: {reason}", path.display())]
    Signature {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file tells of no detours.
    #[error("failed to read the detours of `{}`: {reason}", path.display())]
    Detours {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and in which line.
        reason: String,
    },
    /// MPI cannot be used, or ranks do not find each other.
    #[error("failed to measure messages: {0}")]
    Mpi(String),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }

    /// The exit code that tells this error to scripts, see [`crate::exit`].
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Io { .. } | Error::Usage { .. } | Error::Occupied { .. } | Error::NotASweep { .. } => {
                exit::USAGE
            }
            Error::Malformed { .. }
            | Error::Version { .. }
            | Error::UnlikeClocks { .. }
            | Error::Models(_)
            | Error::Signature { .. }
            | Error::Detours { .. }
            | Error::Mpi(_)
            | Error::Incomparable { .. } => exit::INCOMPLETE,
            Error::Profiler(error) => error.exit_code(),
            Error::NotEnoughRuns { .. } => exit::NOT_ENOUGH_DATA,
            Error::Postprocess(error) => postprocess_code(error),
            Error::Demo(_) => exit::PROGRAM_FAILED,
        }
    }

    /// What to do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Io { action, path, source } => Some(match source.kind() {
                io::ErrorKind::NotFound if ["read", "open"].contains(action) => "check the name".into(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    format!(
                        "choose a directory you may write with `-o DIR`, or change the access of `{}`",
                        path.display()
                    )
                }
                io::ErrorKind::StorageFull => "free some space, or choose another place with `-o DIR`".into(),
                _ => format!("check `{}`, or choose another place with `-o DIR`", path.display()),
            }),
            Error::Malformed { path, .. } => {
                Some(format!("run the sweep again into a new directory; `{}` cannot be used", path.display()))
            }
            Error::Version { .. } => Some("use the falloff that wrote it, or run the sweep again".into()),
            Error::Usage { hint, .. } | Error::NotASweep { hint, .. } | Error::Incomparable { hint, .. } => {
                Some(hint.clone())
            }
            Error::Occupied { path, .. } => Some(format!(
                "choose another directory with `-o DIR`, or remove `{}` if it is not needed any more",
                path.display()
            )),
            Error::NotEnoughRuns { path, .. } => Some(format!(
                "see the logs under `{}`, then give the same `falloff sweep` command again: it repeats what failed",
                path.join("runs").display()
            )),
            Error::UnlikeClocks { .. } => Some(
                "sweep into a new directory with clocks that all machines and counts have: `falloff sweep --cpu-clock timer \
                 --waits calls …`; `falloff doctor` says what each machine has"
                    .into(),
            ),
            Error::Profiler(error) => error.hint(),
            Error::Postprocess(error) => error.hint(),
            Error::Models(_) => {
                Some("look for odd costs with `falloff view RUN`, and leave the run out or repeat it".into())
            }
            Error::Signature { .. } => Some("name a file that `falloff noise -o FILE` wrote".into()),
            Error::Detours { .. } => Some(
                "name a file that `falloff noise -o FILE` wrote, or one with a line START<TAB>LENGTH, in nanoseconds, for each detour"
                    .into(),
            ),
            Error::Mpi(_) => Some("name the library that your launcher's programs are linked with: `--mpi LIB`".into()),
            Error::Demo(_) => Some("see the output.log of the run, or start `falloff demo` again".into()),
        }
    }
}

/// Exit code for an error of opening or writing a measurement.
fn postprocess_code(error: &falloff_postprocess::Error) -> i32 {
    use falloff_postprocess::Error;
    match error {
        Error::Directory { .. }
        | Error::DatabaseWrite { .. }
        | Error::MetricOverlap { .. }
        | Error::NoMetric { .. }
        | Error::NothingLeft { .. } => exit::USAGE,
        _ => exit::INCOMPLETE,
    }
}
