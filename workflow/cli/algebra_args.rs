//! The command line of operations on databases, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use falloff_postprocess::algebra::{Fraction, Gathering, Locations, Overlap};
use falloff_postprocess::views::{Pattern, Selection};

use crate::args::{DebugArgs, SourceArgs, ThreadArgs};

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff diff after before                     what costs more after, and what less
  falloff diff after before -o difference       and keep it: every command opens it
  falloff diff after before --metric cpu --format json")]
pub struct DiffArgs {
    /// Directory of a run or a database
    pub a: PathBuf,
    /// The one that it is compared with: positive changes are what A costs more
    pub b: PathBuf,
    /// Directory for the difference, a database; it must not be there or be empty
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What is listed: time, cpu, blocked, preempted, samples or an event; time if it was measured
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// Write a page for the browser with all views of the difference, one file that needs no network, instead of printing it
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub locations: LocationArgs,
    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

/// Of several databases.
#[derive(Debug, Args)]
pub struct CombineArgs {
    /// Directories of runs or databases
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    #[command(flatten)]
    pub locations: LocationArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

/// Of `falloff merge`.
#[derive(Debug, Args)]
pub struct MergeMetricsArgs {
    /// The databases are of runs that measured different metrics: put their metrics together, as if one run had measured them
    #[arg(long, conflicts_with = "shard")]
    pub metrics: bool,
    /// Whose values count where several have a metric; numbers of samples are added up if nothing is said
    #[arg(long, value_enum, requires = "metrics", default_value_t = OverlapWord::Refuse)]
    pub overlap: OverlapWord,
    #[command(flatten)]
    pub locations: LocationArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OverlapWord {
    Refuse,
    First,
    Last,
    Mean,
}

impl OverlapWord {
    pub fn overlap(self) -> Overlap {
        match self {
            OverlapWord::Refuse => Overlap::Refuse,
            OverlapWord::First => Overlap::First,
            OverlapWord::Last => Overlap::Last,
            OverlapWord::Mean => Overlap::Mean,
        }
    }
}

#[derive(Debug, Args)]
pub struct ScaleArgs {
    /// Directory of a run or a database
    pub dir: PathBuf,
    /// What all values are multiplied by, exactly: for example 2, 0.25 or 1/3
    #[arg(allow_negative_numbers = true, value_name = "FACTOR")]
    pub factor: Fraction,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Directory of a run or a database
    pub dir: PathBuf,
    /// Metrics that are kept; all if not given
    #[arg(long = "metric", value_name = "METRIC,...", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// Locations that are kept: rank=0-3,8, pid=K, host=NAME or thread=NAME; all if not given
    #[arg(long, value_name = "WHICH")]
    pub location: Option<Selection>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff cut profile --root '^solve$' -o solve         solve and what it calls, wherever it was called from
  falloff cut profile --prune '^P?MPI_' -o without-mpi  what MPI functions cost is booked in their callers")]
pub struct CutArgs {
    /// Directory of a run or a database
    pub dir: PathBuf,
    #[command(flatten)]
    pub at: CutAt,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct CutAt {
    /// Frames that match become the outermost ones; all else is left out
    #[arg(long, value_name = "REGEX")]
    pub root: Option<Pattern>,
    /// Frames that match are taken out with all that they call; their cost is their callers'
    #[arg(long, value_name = "REGEX")]
    pub prune: Option<Pattern>,
}

#[derive(Debug, Args)]
pub struct CollapseArgs {
    /// Directory of a run or a database
    pub dir: PathBuf,
    /// One location for everything, or for each rank or host
    #[arg(long, value_enum, default_value_t = To::One)]
    pub to: To,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Directory for the result, a database; it must not be there or be empty
    #[arg(short = 'o', value_name = "DIR")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct LocationArgs {
    /// Pair ranks and threads, or collapse them to one location; if not given, they are paired where all have the same
    #[arg(long, value_enum, value_name = "HOW")]
    pub locations: Option<HowLocations>,
}

impl LocationArgs {
    pub fn how(&self) -> Locations {
        match self.locations {
            None => Locations::PairIfAlike,
            Some(HowLocations::Pair) => Locations::Pair,
            Some(HowLocations::Collapse) => Locations::Collapse,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HowLocations {
    Pair,
    Collapse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DiffFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum To {
    One,
    Ranks,
    Hosts,
}

impl To {
    pub fn gathering(self) -> Gathering {
        match self {
            To::One => Gathering::All,
            To::Ranks => Gathering::Ranks,
            To::Hosts => Gathering::Hosts,
        }
    }
}
