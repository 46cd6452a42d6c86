//! The command line as typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use falloff_messages::Distribution;
use falloff_messages::graph::Window;
use falloff_postprocess::views::{Selection, ViewKind};
use falloff_postprocess::{Database, Debuginfod, OpenOptions, symbol_cache_dir};
use falloff_profiler::event::rate_hz;
use falloff_workflow::gate::Limits;
use falloff_workflow::grid::Point;
use falloff_workflow::outlook::{AskedTerms, Given, Target, Term};
use falloff_workflow::replay::Parameter;
use falloff_workflow::results::Results;
use falloff_workflow::scoring::{OwnExpectation, Run};
use falloff_workflow::template::Argument;

use crate::algebra_args::{
    CollapseArgs, CombineArgs, CutArgs, DiffArgs, FilterArgs, MergeMetricsArgs, ScaleArgs,
};
use crate::measure_args::MeasureArgs;
use crate::merge;
use crate::values::{self, SweepOf, Times};
use crate::view_args::ViewArgs;

/// Shows where a parallel program's speed-up falls off.
#[derive(Debug, Parser)]
#[command(name = "falloff", version, before_long_help = EXAMPLES, disable_help_subcommand = true)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "EXAMPLES
  falloff demo                                       see the known losses of a built-in program
  falloff sweep -n 1,2,4 -o scaling -- ./app input   run it three times at each count, by mpirun
  falloff score scaling                              say where and how much work is excess
  falloff run -o profile -- ./app input              profile one run
  falloff view profile --view callers                look at it";

/// Stands for `{n}`, which would end a line in help texts.
pub const COUNT_IN_HELP: &str = "{#}";

/// `falloff run` alone. Every rank of a job is started by it: to build all that the other commands take would be a tenth of what
/// it costs. What this does not understand, [`Cli`] explains.
#[derive(Debug, Parser)]
pub struct RunOnly {
    #[command(subcommand)]
    pub verb: RunVerb,
}

#[derive(Debug, Subcommand)]
pub enum RunVerb {
    Run(RunArgs),
}

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 a threshold was missed, 2 usage, 3 measurement incomplete or not comparable, \
4 the program failed, 5 not enough data to decide, 70 a bug in falloff. `run` passes on what the program ended with.";

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Profile one run of a program, also under a launcher
    Run(RunArgs),
    /// Profile a program at several processor counts, with repetitions
    Sweep(SweepArgs),
    /// Show the profile of a run
    View(ViewArgs),
    /// Score a sweep: excess work of every call path
    Score(ScoreArgs),
    /// Model a sweep: what every call path will cost at larger counts, and how many processors pay
    Model(ModelArgs),
    /// Compare two sweeps: whether the new one is slower, and whether that can be told
    Check(CheckArgs),
    /// Say what the ranks of a run waited for, and who made them wait
    Waits(WaitsArgs),
    /// Replay the messages of a run under other noise, on another network, with other computing
    Replay(ReplayArgs),
    /// Write the profile of a run in the format of another tool
    Export(ExportArgs),
    /// Make one database of a run, of a part of it, or of several databases
    Merge(MergeArgs),
    /// Say what one run costs more than another, and where
    Diff(DiffArgs),
    /// Make one database of the mean values of several
    Mean(CombineArgs),
    /// Make one database of the sums of several
    Sum(CombineArgs),
    /// Make one database of the smallest values of several
    Min(CombineArgs),
    /// Make one database of the largest values of several
    Max(CombineArgs),
    /// Multiply all values of a database
    Scale(ScaleArgs),
    /// Keep some metrics and locations of a database
    Filter(FilterArgs),
    /// Cut the call paths of a database at the frames that match
    Cut(CutArgs),
    /// Make one location of many in a database
    Collapse(CollapseArgs),
    /// Measure how much this machine disturbs programs, and how messages travel; compare two measurements
    Noise(NoiseArgs),
    /// Say what can be measured on this machine, and what would enable the rest
    Doctor(DoctorArgs),
    /// Sweep and score a built-in program whose losses are known
    Demo(DemoArgs),
    /// One process of the demonstration
    #[command(hide = true)]
    DemoWorker(WorkerArgs),
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff run -- ./app input                        into falloff-app-1
  mpirun -n 4 falloff run -o profile -- ./app       all ranks into one directory
  falloff run -e time@1000 -- ./app                 1000 samples per second
  falloff run -e time,page-faults -- ./app          page faults as well
  falloff run -e cycles/1000000,instructions/1000000 -- ./app
                                                    a sample each million of both, and nothing else
  falloff run --only solver -- ./job.sh             of all that the script starts, the solver")]
pub struct RunArgs {
    /// Directory for the measurements; falloff-PROGRAM-1 or the next that is free if not given
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Say at the end, on standard error, how complete the measurement is
    #[arg(long)]
    pub health: bool,
    /// By it the ranks of one job meet in one directory; found from the launcher if not given
    #[arg(long, value_name = "ID", env = "FALLOFF_RUN_ID", hide_env_values = true)]
    pub run_id: Option<String>,
    /// The program
    #[arg(value_name = "PROGRAM", required = true)]
    pub program: OsString,
    /// Its arguments
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff sweep -n 1,2,4,8 -o scaling -- ./app input
  falloff sweep -n 1,2,4 --launcher threads -- ./openmp-app
  falloff sweep -n 1,2,4 --weak --arg 'size={1:100,2:126,4:159}' -- ./app --size {size}
  falloff sweep -n 2,4 --launcher \"mpirun.mpich -n {#}\" -- ./app --tiles {#}
  falloff sweep -n 1,4 --repeat 10 -o change --versus ./old ./new input

The same command again goes on where it stopped and repeats what failed.")]
pub struct SweepArgs {
    /// Processor counts
    #[arg(short = 'n', value_name = "N,N,...", value_delimiter = ',', required = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub scales: Vec<u32>,
    /// Threads of each process (OMP_NUM_THREADS): every pair with -n is run, its processor count is the product
    #[arg(long, value_name = "T,T,...", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Vec<u32>,
    /// The whole problem keeps its size (the default)
    #[arg(long, conflicts_with = "weak")]
    pub strong: bool,
    /// The problem of each processor keeps its size
    #[arg(long)]
    pub weak: bool,
    /// What functions that match, with all that they call, cost each process: 'solve=N^3/p', of the processor count p and of
    /// names given by --arg; may be repeated
    #[arg(long, value_name = "PATTERN=FORMULA", value_parser = OwnExpectation::parse)]
    pub expect: Vec<OwnExpectation>,
    /// Runs at each processor count
    #[arg(long, value_name = "M", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Directory of the sweep; falloff-sweep-PROGRAM-1 or the next that is free if not given
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// mpirun, srun, sbatch (a batch job for each run), threads (OMP_NUM_THREADS), plain (n local processes with PMI_RANK and RANK set), or words to
    /// put before the program, with {#} in them and {command} where the program goes if not at the end
    #[arg(long, value_name = "LAUNCHER", default_value = "mpirun")]
    pub launcher: String,
    /// Options that are passed on to sbatch: "--partition=x --time=10"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub sbatch: Option<String>,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Samples per second of time, cpu and blocked; the same as a rate behind their names
    #[arg(long, value_name = "HZ", value_parser = rate_hz)]
    pub rate: Option<u32>,
    /// Longest time for one run, for example 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,
    /// A TOML file with options of this command by their long names, n, and program; see docs/sweep.md
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A name in braces for the program's arguments, and its value at each count: 'size={1:100,2:126}' or size=100*n
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// A variable of the program, with {#} and names in braces
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub environment: Vec<String>,
    /// A regular expression that the output of a good run matches
    #[arg(long, value_name = "REGEX")]
    pub check: Option<String>,
    /// A shell command that succeeds after a good run; FALLOFF_RUN_DIR, FALLOFF_OUTPUT and FALLOFF_N are set
    #[arg(long, value_name = "COMMAND")]
    pub check_command: Option<String>,
    /// Run every count once before, not to be scored
    #[arg(long)]
    pub warm_up: bool,
    /// How often a run that failed is made again at once
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub retries: u32,
    /// An older build, swept with the same arguments in turns with the program, into DIR/old and DIR/new
    #[arg(long, value_name = "OLD")]
    pub versus: Option<String>,
    /// Print the commands and run nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub debug: DebugArgs,
    /// The program and its arguments; {#} stands for the processor count, {run} for the run's directory
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff score scaling
  falloff score scaling --base 4 --at 16 --view callers
  falloff score scaling --expect '^exchange=1+log2(p)' --expect '^solve=N^3/p' --arg 'N={1:100,8:200}'
  falloff score scaling --format json > score.json
  falloff score scaling --format csv --table causes > causes.csv
  falloff score scaling --plots figures")]
pub struct ScoreArgs {
    /// Directory of a sweep
    pub dir: PathBuf,
    /// Processor count that is compared with; the smallest if not given; 4x2 is 4 processes of 2 threads
    #[arg(long, value_name = "P")]
    pub base: Option<Point>,
    /// Processor count that is scored; the largest if not given; 4x2 is 4 processes of 2 threads
    #[arg(long, value_name = "P")]
    pub at: Option<Point>,
    /// What to score: time, cpu, blocked or preempted; time if it was measured
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Expect the same total work at every count, whatever the sweep was made for
    #[arg(long, conflicts_with = "weak")]
    pub strong: bool,
    /// Expect the same work on every processor, whatever the sweep was made for
    #[arg(long)]
    pub weak: bool,
    /// Whether waiting for the last in collectives counts where it is waited, or for the work that makes the others wait
    #[arg(long, value_enum, default_value_t = ChargeTo::Place)]
    pub charge: ChargeTo,
    /// What functions that match, with all that they call, cost each process, beside what the sweep expects: 'solve=N^3/p', of
    /// the processor count p and of names given by --arg; may be repeated
    #[arg(long, value_name = "PATTERN=FORMULA", value_parser = OwnExpectation::parse)]
    pub expect: Vec<OwnExpectation>,
    /// A name in formulas and its number at each count, beside those of the sweep: 'N={1:100,2:126}' or N=100*n
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = Argument::parse)]
    pub arguments: Vec<Argument>,
    /// The tree that the text shows and the view that CSV holds
    #[arg(long, value_enum, default_value_t = View::Context)]
    pub view: View,
    #[arg(long, value_enum, default_value_t = ScoreFormat::Text)]
    pub format: ScoreFormat,
    /// What CSV holds
    #[arg(long, value_enum, default_value_t = ScoreTable::View)]
    pub table: ScoreTable,
    /// Write a page for the browser with all views, one file that needs no network, instead of printing the score
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "table", "view", "steps", "threshold"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArgs,
    /// What each step from count to count adds, for every call path, in JSON
    #[arg(long)]
    pub steps: bool,
    /// A directory for figures of the sweep as SVG, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Rows with less excess are left out, percent; if not given 0 in JSON, and 0.5 or what fits in text
    #[arg(long, value_name = "PCT", value_parser = values::percent)]
    pub threshold: Option<f64>,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff model scaling
  falloff model scaling --target 64 --target 1024
  falloff model scaling --format json > model.json
  falloff model scaling --format csv --table laws > laws.csv
  falloff model 500=small 1000=middle 2000=large --target p=16,N=4000
  falloff model 500=small 1000=middle --terms 'work=N^3/p' --terms 'messages=N*log2(p)'")]
pub struct ModelArgs {
    /// Directory of a sweep; or several of one program, each with the size N of its problem in front, for laws of N and p
    #[arg(value_name = "[SIZE=]DIR", required = true, value_parser = values::sweep_of)]
    pub sweeps: Vec<SweepOf>,
    /// What to predict: a processor count, 1024 or p=1024; over sizes a size N=4000 or both, p=16,N=4000, where what is not said is the
    /// largest measured; if not given twice and eight times the largest count, over sizes twice the largest of each and of both;
    /// may be repeated
    #[arg(long = "target", value_name = "TARGET")]
    pub targets: Vec<Target>,
    /// A count that the time of the whole run is made of, by a formula of p, N (over sizes) and measured metrics, such as
    /// 'messages=N*log2(p)'; what one of each costs is fitted; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", value_parser = Term::parse)]
    pub terms: Vec<Term>,
    /// What one of a term costs in seconds, if it is known: 'messages=5e-6'; may be repeated
    #[arg(long, value_name = "NAME=SECONDS", value_parser = Given::parse, requires = "terms")]
    pub given: Vec<Given>,
    /// What to model: time, cpu, blocked or preempted; what is scored by default if not given
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// The whole problem keeps its size at every count, whatever the sweep was made for
    #[arg(long, conflicts_with = "weak")]
    pub strong: bool,
    /// The problem of each processor keeps its size, whatever the sweep was made for
    #[arg(long)]
    pub weak: bool,
    #[arg(long, value_enum, default_value_t = ScoreFormat::Text)]
    pub format: ScoreFormat,
    /// What CSV holds
    #[arg(long, value_enum, default_value_t = ModelTable::Paths)]
    pub table: ModelTable,
    /// Call paths with a smaller share of the run, now and predicted, are left out of text and JSON, percent; if not given 0
    /// in JSON and 0.5 in text
    #[arg(long, value_name = "PCT", value_parser = values::percent)]
    pub threshold: Option<f64>,
    /// Most call paths in text; 12 if not given
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub debug: DebugArgs,
}

impl ModelArgs {
    /// The terms and their costs.
    pub fn asked_terms(&self) -> AskedTerms {
        AskedTerms { terms: self.terms.clone(), given: self.given.clone() }
    }
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff check base new
  falloff check base new --threshold 5 --format junit > check.xml
  falloff check base new --limits limits.toml --format markdown

Exit code 0 if nothing grew by the threshold, 1 if something did, 3 if the sweeps are incomplete or not comparable, 5 if
there is not enough data to tell.")]
pub struct CheckArgs {
    /// Directory of the sweep that is compared with
    pub base: PathBuf,
    /// Directory of the sweep that is judged
    pub new: PathBuf,
    /// What to compare: time, cpu, blocked or preempted; what is scored by default if not given
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Growth that is a regression, percent of the whole run
    #[arg(long, value_name = "PCT", default_value_t = Limits::DEFAULT_PERCENT, value_parser = values::percent)]
    pub threshold: f64,
    /// TOML file with thresholds of the run and of functions
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CheckFormat {
    Text,
    Json,
    Junit,
    Markdown,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  mpirun -n 4 falloff run --events mpi -o profile -- ./app
  falloff waits profile                             what ranks waited for, and because of whom
  falloff view profile --metric late-sender         one pattern by call path")]
pub struct WaitsArgs {
    /// Directory of a run whose calls of MPI were logged
    pub dir: PathBuf,
    #[arg(long, value_enum, default_value_t = ScoreFormat::Text)]
    pub format: ScoreFormat,
    /// Bytes up to which messages of standard mode go into a buffer, and their senders wait for nobody; 4096 if not given
    #[arg(long, value_name = "BYTES")]
    pub eager: Option<u64>,
    /// Smallest share of all time that the text shows, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.5, value_parser = values::percent)]
    pub threshold: f64,
    /// Most rows of each list of the text
    #[arg(long, value_name = "ROWS", default_value_t = 12)]
    pub limit: usize,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff replay profile --noise exponential:20000          20 us of noise before each call, in the mean
  falloff replay profile --ideal-network                    on a network that costs nothing
  falloff replay profile --faster '^solve$=2'               as if that function took half the time
  falloff replay profile --sweep latency=500,1000,5000      at these latencies")]
pub struct ReplayArgs {
    /// Directory of a run whose calls of MPI were logged
    pub dir: PathBuf,
    /// More noise of each burst of computing, in nanoseconds: a number, constant:C, exponential:MEAN, uniform:LOW:HIGH or
    /// normal:MEAN:DEVIATION; or a file that `falloff noise` wrote, or one with a line `START<TAB>LENGTH` for each detour, whose
    /// detours then go on all the time
    #[arg(long, value_name = "SPEC|FILE")]
    pub noise: Option<String>,
    /// What the run itself had, a file that `falloff noise` wrote when the machine was as it was then: of those of --noise only the
    /// detours beyond these are added, since these are in its log
    #[arg(long, value_name = "FILE", requires = "noise")]
    pub noise_beyond: Option<PathBuf>,
    /// All ranks have the detours of the file at the same time, and not each at its own
    #[arg(long, requires = "noise")]
    pub co_scheduled: bool,
    /// More latency of each message, in nanoseconds, as --noise; or a file that `falloff noise` wrote, with messages
    #[arg(long, value_name = "SPEC|FILE")]
    pub latency_noise: Option<String>,
    /// More time of each byte, in nanoseconds, as --noise
    #[arg(long, value_name = "SPEC")]
    pub byte_noise: Option<Distribution>,
    /// What all random numbers are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The network that the run had: latency=NS,overhead=NS,gap=NS,bandwidth=BYTES_A_SECOND,eager=BYTES, or a file that `falloff noise`
    /// wrote; if not given, what the calls of the run tell
    #[arg(long, value_name = "NETWORK|FILE")]
    pub network: Option<String>,
    /// Another network; what is not said is as in --network
    #[arg(long, value_name = "NETWORK|FILE")]
    pub other_network: Option<String>,
    /// A network that costs nothing: gives the serialisation and the transfer efficiency
    #[arg(long)]
    pub ideal_network: bool,
    /// Bursts of computing come nearer to the shortest of their kind, by this part of their length, 0 to 1
    #[arg(long, value_name = "PART", value_parser = values::share)]
    pub less_noise: Option<f64>,
    /// Functions that match, with all that they call, so many times faster; may be repeated
    #[arg(long, value_name = "PATTERN=TIMES", value_parser = Times::parse)]
    pub faster: Vec<Times>,
    /// A section in which all ranks compute the same; may be repeated
    #[arg(long, value_name = "SECTION")]
    pub balance: Vec<String>,
    /// noise, latency, overhead (nanoseconds), bandwidth (bytes a second) or eager (bytes), and the values that it takes
    #[arg(long, value_name = "PARAMETER=V,V,...", value_parser = values::varied)]
    pub sweep: Option<(Parameter, Vec<f64>)>,
    /// Most calls and messages that may wait for their other side at a time; any number if not given
    #[arg(long, value_name = "N")]
    pub live_max: Option<usize>,
    /// Directory for a database of what arises, is taken over and is absorbed in each case, by call path and rank
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = ScoreFormat::Text)]
    pub format: ScoreFormat,
    /// What has a line of its own in --format csv
    #[arg(long, value_enum, default_value_t = ReplayRows::Rank)]
    pub by: ReplayRows,
    #[command(flatten)]
    pub debug: DebugArgs,
}

/// What has a line of its own in the CSV of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayRows {
    /// Each rank.
    Rank,
    /// Each call path.
    Path,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff export profile --format folded -o - | flamegraph.pl > profile.svg
  falloff export profile --format folded --by rank -o profile.folded
  falloff export profile --format pprof --by rank -o profile.pb.gz
  falloff export profile --format cube -o profile.cubex
  falloff export profile --format hpctoolkit -o profile-hpctoolkit
  falloff export scaling --format extrap -o scaling.json
  falloff export scaling --format hpctoolkit -o scaling-hpctoolkit
  falloff export profile --format perfetto -o calls.json
  falloff export profile --format dot --window 0.5..0.51 --location rank=0-3 -o - | dot -Tsvg > messages.svg")]
pub struct ExportArgs {
    /// Directory of a run or a database; of a sweep for extrap, hpctoolkit and hpctoolkit-hatchet
    pub dir: PathBuf,
    /// Format: folded, speedscope, pprof, firefox, callgrind, csv, parquet, hatchet, caliper, cube, hpctoolkit,
    /// hpctoolkit-hatchet or extrap; of a run with --events mpi also dot, graphml, perfetto or otf2
    #[arg(long, value_name = "FORMAT")]
    pub format: String,
    /// What to write: time, cpu, blocked, preempted, samples or an event; if not given time in folded,
    /// speedscope and firefox, all in other formats
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// What is kept apart; if not given threads in cube, nothing in other formats; always threads in hpctoolkit
    #[arg(long, value_enum)]
    pub by: Option<By>,
    /// What a value at a processor count is in extrap: the time of a process, which is the sum over all threads divided by
    /// the count, or the sum; mean if not given
    #[arg(long, value_enum)]
    pub basis: Option<Basis>,
    /// Of a sweep in hpctoolkit, processor count that is compared with; the smallest if not given
    #[arg(long, value_name = "P")]
    pub base: Option<u32>,
    /// Of a sweep in hpctoolkit, processor count whose excess is written; the largest if not given
    #[arg(long, value_name = "P")]
    pub at: Option<u32>,
    /// Of calls of MPI, those that are under way from A to B, seconds after the first: 0.5..0.75, 2.. or ..10
    #[arg(long, value_name = "A..B")]
    pub window: Option<Window>,
    /// Of calls of MPI, those of some ranks: rank=K, rank=0-3,8, pid=K or host=NAME
    #[arg(long, value_name = "WHICH")]
    pub location: Option<Selection>,
    /// File to write, - for standard output; a directory that is not there yet for formats that are directories
    #[arg(short = 'o', value_name = "PATH")]
    pub output: PathBuf,
    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub loops: LoopArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff merge profile -o database                  all processes of a run
  falloff merge profile --shard 3/8 -o parts         into parts/part-3-of-8
  srun -n 8 falloff merge profile --shard auto -o parts
                                                     each rank a part
  falloff merge parts -o database                    the same database as in one go
  falloff merge profile-a profile-b -o both          databases and runs, side by side
  falloff merge cycles misses --metrics -o both      metrics that two runs of one program measured")]
pub struct MergeArgs {
    /// Directory of a run, or directories of databases or of parts
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,
    /// Merge only this part of the run's processes: I/N with I from 1 to N, or auto for that of this rank
    #[arg(long, value_name = "I/N", value_parser = merge::part)]
    pub shard: Option<merge::Part>,
    #[command(flatten)]
    pub metrics: MergeMetricsArgs,
    /// Directory of the database; with --shard, of the parts
    #[arg(short = 'o', value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub debug: DebugArgs,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff doctor
  srun -N 1 falloff doctor --format json

Exit code 0 if time can be measured, 3 if not.")]
pub struct DoctorArgs {
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
}

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff noise                                      this machine, 10 s
  mpirun -n 2 falloff noise -o signature.json        messages between ranks as well
  srun -N 2 -n 2 falloff noise -o two-nodes.json     across two nodes
  falloff noise --compare quiet.json busy.json       which one is noisier")]
pub struct NoiseArgs {
    /// File for the signature as JSON, - for standard output
    #[arg(short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Time to look for noise; messages take about half as long again
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = values::duration)]
    pub seconds: Duration,
    /// The library of MPI, for messages; that of the launcher is looked for if not given
    #[arg(long, value_name = "LIB")]
    pub mpi: Option<PathBuf>,
    /// File for a figure as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Compare two signatures instead of measuring
    #[arg(long, value_names = ["FIRST", "SECOND"], num_args = 2, conflicts_with_all = ["output", "seconds", "mpi", "svg"])]
    pub compare: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Directory of the sweep; falloff-demo-1 or the next that is free if not given
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// File through which the processes meet
    pub shared: PathBuf,
    /// One step by one process, whatever a launcher says, with nothing to print
    #[arg(long)]
    pub alone: bool,
}

#[derive(Debug, Args)]
pub struct ThreadArgs {
    /// Take in threads that the program did not start, such as the progress threads of an MPI library
    #[arg(long)]
    pub helpers: bool,
}

impl ThreadArgs {
    /// What is asked of a run.
    pub fn of(&self, database: Database) -> Database {
        if self.helpers { database } else { database.without_helpers() }
    }
}

#[derive(Debug, Args)]
pub struct LoopArgs {
    /// Put what is in loops under their functions
    #[arg(long)]
    pub no_loops: bool,
}

impl LoopArgs {
    /// What is asked of a run.
    pub fn of(&self, database: Database) -> Database {
        if self.no_loops { database.without_loops() } else { database }
    }

    /// What is asked of the runs of a sweep.
    pub fn of_sweep(&self, results: Results) -> Results {
        let runs = results.runs.into_iter().map(|run| Run { database: self.of(run.database), ..run });
        Results { runs: runs.collect(), ..results }
    }
}

/// What a page for the browser holds beside the measurements.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Put the texts of the source files into the page too: whoever gets the page can read them
    #[arg(long, requires = "html")]
    pub embed_sources: bool,
}

#[derive(Debug, Default, Args)]
pub struct DebugArgs {
    /// A directory with debug files and binaries, searched by build-id; may be repeated
    #[arg(long = "debug-path", value_name = "DIR")]
    pub debug_paths: Vec<PathBuf>,
    /// Sources that were compiled in OLD are in NEW; may be repeated
    #[arg(long = "map-path", value_name = "OLD=NEW", value_parser = values::path_map)]
    pub path_maps: Vec<(String, String)>,
    /// Put the call paths of OpenMP workers under the parallel regions that they work for
    #[arg(long)]
    pub graft_openmp: bool,
    /// Put call paths under the sections that they ran in (docs/sections.md)
    #[arg(long)]
    pub by_section: bool,
}

impl DebugArgs {
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            debug_paths: self.debug_paths.clone(),
            path_maps: self.path_maps.clone(),
            symbol_cache: symbol_cache_dir(),
            debuginfod: Debuginfod::from_env(),
            graft_openmp: self.graft_openmp,
            by_section: self.by_section,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum View {
    Context,
    Callers,
    Flat,
}

impl View {
    pub fn kind(self) -> ViewKind {
        match self {
            View::Context => ViewKind::Context,
            View::Callers => ViewKind::Callers,
            View::Flat => ViewKind::Flat,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TextOrJson {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreTable {
    /// Rows of a view
    View,
    /// The sweep as a whole, in one line
    Summary,
    /// All planned runs
    Runs,
    /// The whole run at every count
    Scales,
    /// Call paths from count to count
    Steps,
    /// Parts of the excess
    Causes,
    /// Where these are
    Places,
    /// Efficiencies at every count
    Efficiencies,
    /// What to look at
    Findings,
    /// From perfect scaling to the work efficiency
    Waterfall,
    /// What call paths take from the speed-up
    Bounds,
    /// Waiting in collective call paths
    Waiting,
    /// Efficiencies of call paths
    Paths,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelTable {
    /// Call paths, one line for each target
    Paths,
    /// What the laws of the whole run say
    Laws,
    /// Data that do not fit together
    Notes,
    /// Sections that the program has marked, one line for each target
    Sections,
    /// Their times, one line for each count
    SectionTimes,
    /// What they take from the speed-up
    Bounds,
    /// Their times by processes and threads, and how many threads they are best run with
    Grid,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ChargeTo {
    Place,
    Cause,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScoreFormat {
    Text,
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum By {
    None,
    Process,
    Rank,
    Thread,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Basis {
    #[default]
    Mean,
    Sum,
}
