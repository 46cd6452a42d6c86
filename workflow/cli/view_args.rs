//! What `falloff view` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use falloff_messages::graph::Window;
use falloff_postprocess::export;
use falloff_postprocess::views::{Derived, Narrow, Pattern, Query, Selection, SpreadOptions};

use crate::args::{DebugArgs, LoopArgs, SourceArgs, ThreadArgs, View};
use crate::values;

#[derive(Debug, Args)]
#[command(before_long_help = "EXAMPLES
  falloff view profile                                    where the time goes, from main down
  falloff view profile --view callers --threshold 2       functions, and below each who called it
  falloff view profile --view flat --sort blocked --metric time,cpu,blocked
  falloff view profile --hot-path                         the one path that costs most
  falloff view profile --focus '^MPI_' --view callers     only paths through MPI calls
  falloff view profile --root '^solve$' --depth 3         only what is below solve
  falloff view profile --location rank=0-3,8              only these ranks
  falloff view profile --view flat --stats                minimum, mean and maximum over the ranks
  falloff view profile --metric cycles --derive 'ipc=instructions/cycles'
  falloff view profile --source solver.c                  lines of a source file with their cost
  falloff view profile --sections                         sections that the program has marked
  falloff view scaling/runs/n0004-r1 --format csv > view.csv
  falloff view profile --html profile.html                a page for the browser, to pass on
  falloff view profile --html profile.html --window 0..2  with a timeline of its calls of MPI")]
pub struct ViewArgs {
    /// Directory of a run or a database
    pub dir: PathBuf,
    /// Call paths from above, from below, or by program structure
    #[arg(long, value_enum, default_value_t = View::Context)]
    pub view: View,
    /// What to show: time, cpu, blocked, preempted, samples or events, with commas between; time if it was measured.
    /// Percentages are of the first
    #[arg(long, value_name = "METRIC,...", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// A further column: a formula of metrics, numbers, + - * / ( ) min() and max(), for example
    /// 'ipc=instructions/cycles' or 'wait%=100*blocked/time'; times are in seconds, and a minus has blanks around it; may be
    /// repeated
    #[arg(long, value_name = "NAME=FORMULA", value_parser = derived)]
    pub derive: Vec<Derived>,
    #[arg(long, value_enum, default_value_t = ViewFormat::Text)]
    pub format: ViewFormat,
    /// Write a page for the browser with all views and metrics, one file that needs no network, instead of printing a view
    #[arg(long, value_name = "FILE", conflicts_with_all = ["view", "format", "sort", "depth", "threshold", "hot_path", "by", "stats",
        "sections", "source"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArgs,
    /// Put a timeline into the page: the calls of MPI that are under way from A to B, seconds after the first, with the messages between
    /// ranks: 0.5..0.75, 2.., ..10 or .. for all. The run must have a log of them (docs/event-log.md)
    #[arg(long, value_name = "A..B", requires = "html")]
    pub window: Option<Window>,
    #[command(flatten)]
    pub rows: RowArgs,
    #[command(flatten)]
    pub part: PartArgs,
    /// A column for each rank, process or thread
    #[arg(long, value_enum)]
    pub by: Option<Group>,
    /// Minimum, mean, maximum and imbalance over ranks, or over what --by names; over threads in a program without ranks
    #[arg(long)]
    pub stats: bool,
    /// The sections that the program has marked, with their times and balance, instead of a view (docs/sections.md)
    #[arg(long, conflicts_with_all = ["view", "metric", "sort", "depth", "threshold", "hot_path", "location", "root", "focus",
        "ignore", "module", "by", "stats", "derive", "source"])]
    pub sections: bool,
    /// The lines of this source file with their cost, instead of a view; the end of its path is enough
    #[arg(long, value_name = "FILE", conflicts_with_all = ["view", "sort", "depth", "hot_path", "by", "stats", "derive"])]
    pub source: Option<String>,
    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub loops: LoopArgs,
    #[command(flatten)]
    pub debug: DebugArgs,
}

/// Which rows are written.
#[derive(Debug, Args)]
pub struct RowArgs {
    /// Order of rows below the same row: inclusive, exclusive, name, or a metric or other column that is shown; the largest cost
    /// first if not given, in JSON and CSV the database's order
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,
    /// Levels below the root
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Rows with a smaller inclusive share are left out, percent; 0.5 in text and 0 in JSON and CSV if not given
    #[arg(long, value_name = "PCT", value_parser = values::percent)]
    pub threshold: Option<f64>,
    /// Only the hot path: from the root to the row with the largest cost, while that is at least SHARE (0.5 if not given) of the
    /// row above
    #[arg(long, value_name = "SHARE", value_parser = values::share, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "0.5", conflicts_with_all = ["sort", "threshold"])]
    pub hot_path: Option<f64>,
}

/// Which part of the run is looked at.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// Some locations only: rank=K, rank=0-3,8, pid=K, host=NAME or thread=NAME; NAME* for names that begin so. If repeated, all
    /// must hold
    #[arg(long, value_name = "WHICH")]
    pub location: Vec<Selection>,
    /// Only what is below the outermost functions that match; they become the top
    #[arg(long, value_name = "REGEX")]
    pub root: Option<Pattern>,
    /// Only call paths through a function that matches; may be repeated
    #[arg(long, value_name = "REGEX")]
    pub focus: Vec<Pattern>,
    /// Without call paths through a function that matches; may be repeated
    #[arg(long, value_name = "REGEX")]
    pub ignore: Vec<Pattern>,
    /// Only cost of the code of this module, for example libmpi.so; may be repeated
    #[arg(long, value_name = "NAME")]
    pub module: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ViewFormat {
    Text,
    Json,
    Csv,
}

/// What has a column of its own.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Group {
    Rank,
    Process,
    Thread,
}

impl ViewArgs {
    /// What is looked at.
    pub fn query(&self) -> Query {
        let part = &self.part;
        let mut narrow: Vec<Narrow> = Vec::new();
        narrow.extend(part.root.iter().cloned().map(Narrow::Root));
        narrow.extend(part.focus.iter().cloned().map(Narrow::Focus));
        narrow.extend(part.ignore.iter().cloned().map(Narrow::Ignore));
        if !part.module.is_empty() {
            narrow.push(Narrow::Module(part.module.clone()));
        }
        Query {
            metrics: self.metric.clone(),
            derived: self.derive.clone(),
            locations: part.location.clone(),
            narrow,
        }
    }

    /// How its cost is spread out.
    pub fn spread(&self) -> Option<SpreadOptions> {
        let by = self.by.map(|group| match group {
            Group::Rank => export::By::Rank,
            Group::Process => export::By::Process,
            Group::Thread => export::By::Thread,
        });
        (self.stats || by.is_some()).then_some(SpreadOptions { by, statistics: self.stats })
    }

    /// Whether the values of single locations are looked at, or those of several contexts are added up.
    pub fn needs_values(&self) -> bool {
        self.html.is_some()
            || !self.part.location.is_empty()
            || self.spread().is_some()
            || self.loops.no_loops
    }

    /// The threshold that was given or the format's own.
    pub fn threshold(&self) -> f64 {
        self.rows.threshold.unwrap_or(if matches!(self.format, ViewFormat::Text) { 0.5 } else { 0.0 })
    }
}

fn derived(text: &str) -> Result<Derived, String> {
    Derived::parse(text).map_err(|error| error.to_string())
}
