//! What can go wrong, each with the file it is about and what to do next.

use std::io;
use std::path::PathBuf;

/// Why a run cannot be opened or a database not be read or written.
///
/// Damage to single measurement files is no error: it becomes a warning of the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory cannot be looked into.
    #[error("failed to read the directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Neither a database nor any measurement file is there.
    #[error("failed to open {}: it holds no measurement files and no database", path.display())]
    NoMeasurements {
        /// The directory.
        path: PathBuf,
    },
    /// There are measurement files, but none that can be read.
    #[error("failed to read any of the {count} measurement files of {}: {first}", path.display())]
    NothingReadable {
        /// The directory.
        path: PathBuf,
        /// How many files were tried.
        count: usize,
        /// What is wrong with the first.
        first: String,
    },
    /// Measurement files of different runs in one directory.
    #[error("failed to merge: {} and {} belong to different runs", first.display(), second.display())]
    MixedRuns {
        /// A file of one run.
        first: PathBuf,
        /// A file of another.
        second: PathBuf,
    },
    /// A database of a major version that this program does not know.
    #[error("failed to open the database {}: it has version {found}, this falloff reads up to version {known}", path.display())]
    DatabaseVersion {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The latest version that is read here.
        known: u64,
    },
    /// A table or the manifest of a database is missing or damaged.
    #[error("failed to read the database file {}: {reason}", path.display())]
    DatabaseDamaged {
        /// The table or the manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A database cannot be written.
    #[error("failed to write the database {}: {reason}", path.display())]
    DatabaseWrite {
        /// The database.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// There is no room to inflate what was logged of MPI's calls.
    #[error("failed to read the calls of MPI in {}: {reason}", path.display())]
    NoRoom {
        /// The run.
        path: PathBuf,
        /// Of which file, where to, and what the system said.
        reason: String,
    },
    /// Databases that do not go together.
    #[error("failed to combine databases: metric `{metric}` is in {first} in one and in {second} in another")]
    MetricUnits {
        /// The metric.
        metric: String,
        /// Unit in one of them.
        first: &'static str,
        /// Unit in another.
        second: &'static str,
    },
    /// Databases whose values have no common divisor that fits.
    #[error(
        "failed to combine databases: the values of metric `{metric}` get too large over their common divisor"
    )]
    DivisorTooLarge {
        /// The metric.
        metric: String,
    },
    /// Databases whose paths do not go together.
    #[error(
        "failed to combine databases: OpenMP worker stacks are grafted, or call paths are below their sections, in some and not \
         in others"
    )]
    MixedPaths,
    /// `time` is there without what it is the sum of, and another database has the parts.
    #[error(
        "failed to combine databases: {name} has `time` without its parts cpu, blocked and preempted, another has them"
    )]
    LostParts {
        /// The database that lacks them.
        name: String,
    },
    /// Databases of runs with other ranks or threads.
    #[error("failed to pair locations: the databases have other ranks or threads")]
    UnlikeLocations,
    /// A metric that several databases have.
    #[error("failed to merge databases: metric `{metric}` was measured in {first} and in {second}")]
    MetricOverlap {
        /// The metric.
        metric: String,
        /// A database that has it.
        first: String,
        /// Another.
        second: String,
    },
    /// A metric that is not there.
    #[error("failed to find metric `{metric}`: it was not measured")]
    NoMetric {
        /// The metric.
        metric: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// What was asked for is not in the database.
    #[error("failed to find anything in {name} for: {asked}")]
    NothingLeft {
        /// The database.
        name: String,
        /// What was asked for.
        asked: String,
    },
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Directory { .. } => {
                "name a directory that `falloff run -o DIR` or `falloff sweep -o DIR` wrote".into()
            }
            Error::NoMeasurements { path } => {
                format!("measure a program first: `falloff run -o {} -- PROGRAM ARGS...`", path.display())
            }
            Error::NothingReadable { .. } => {
                "the files may come from a program that ended at once or from a full disk; measure again"
                    .into()
            }
            Error::MixedRuns { first, .. } => format!(
                "move the files of each run to a directory of its own, for example out of {}",
                first.parent().unwrap_or(first).display()
            ),
            Error::DatabaseVersion { .. } => {
                "use the falloff that wrote it, or measure again with this one".into()
            }
            Error::DatabaseDamaged { path, .. } => format!(
                "if it was made from a run, remove {} and open the run's directory again",
                path.parent().unwrap_or(path).display()
            ),
            Error::DatabaseWrite { .. } => {
                "check that the directory can be written to and the disk has room".into()
            }
            Error::NoRoom { .. } => "name a directory on a disk with room: `export TMPDIR=DIR`".into(),
            Error::MixedPaths => {
                "make all of them with the same of `--graft-openmp` and `--by-section`".into()
            }
            Error::DivisorTooLarge { .. } => {
                "combine before taking means or scaling, or combine fewer databases".into()
            }
            Error::MetricUnits { .. } => "combine databases that measured the same events".into(),
            Error::LostParts { .. } => {
                "keep `time` alone in all of them with `falloff filter --metric time`, or its parts in all"
                    .into()
            }
            Error::UnlikeLocations => "use `--locations collapse`".into(),
            Error::MetricOverlap { .. } => {
                "say whose values count with `--overlap`, or remove the metric with `falloff filter`".into()
            }
            Error::NoMetric { known, .. } => format!("use one of: {}", known.join(", ")),
            Error::NothingLeft { name, .. } => format!("see what is there: `falloff view {name}`"),
        };
        Some(hint)
    }
}
