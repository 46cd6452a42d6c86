//! The folded export, read back: one call path a line, outermost frame first, with a value.

use std::path::Path;

use super::command::{falloff, outcome};

/// Shells and helpers that a command line may start beside the program under test.
const HELPERS: &[&str] = &[
    "sh",
    "dash",
    "bash",
    "env",
    "timeout",
    "setarch",
    "cat",
    "echo",
    "ls",
    "true",
    "taskset",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "mpiexec.mpich",
    "mpirun.mpich",
    "orterun",
    "orted",
    "hydra_pmi_proxy",
    "mpirun.openmpi",
    "mpiexec.openmpi",
];

/// One call path of one process.
#[derive(Debug)]
pub struct Sample {
    /// `NAME:pid`.
    pub process: String,
    /// Function names, outermost first.
    pub frames: Vec<String>,
    /// Microseconds.
    pub value: u64,
}

impl Sample {
    /// The process's name without its number.
    pub fn image(&self) -> &str {
        self.process.rsplit_once(':').map_or(&self.process, |(name, _)| name)
    }

    /// Whether the frames hold these names in this order, others between them allowed.
    pub fn passes(&self, path: &[String]) -> bool {
        let mut frames = self.frames.iter();
        path.iter().all(|name| frames.any(|frame| same_function(frame, name)))
    }

    /// Whether the innermost frame is this function.
    pub fn ends_in(&self, function: &str) -> bool {
        self.frames.last().is_some_and(|frame| same_function(frame, function))
    }
}

/// A whole folded export.
#[derive(Debug)]
pub struct Folded {
    pub samples: Vec<Sample>,
    /// Time that no sample covers.
    pub unsampled: Vec<Sample>,
}

impl Folded {
    /// Exports metric `cpu` of a run by process; `more` are further arguments.
    #[track_caller]
    pub fn export(dir: &Path, more: &[&str], cwd: &Path) -> Self {
        Self::try_export(dir, "cpu", "process", more, cwd).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Exports a metric by thread: a process is then `NAME:pid:tid`.
    #[track_caller]
    pub fn by_thread(dir: &Path, metric: &str) -> Self {
        Self::try_export(dir, metric, "thread", &[], Path::new("/")).unwrap_or_else(|why| panic!("{why}"))
    }

    /// The export, or what stood in its way: a program that cannot be profiled has none.
    pub fn try_export(dir: &Path, metric: &str, by: &str, more: &[&str], cwd: &Path) -> Result<Self, String> {
        let dir = dir.to_str().expect("test directories have plain names");
        let mut command = falloff(["export", dir, "--format", "folded", "--metric", metric, "--by", by]);
        let outcome = outcome(command.args(more).args(["-o", "-"]).current_dir(cwd));
        if outcome.code() == 0 {
            Ok(Self::parse(&outcome.stdout))
        } else {
            Err(format!("no export\n{outcome}"))
        }
    }

    /// Reads the text. The unsampled rest is booked apart: it is CPU time at a place nobody saw, so it can
    /// count neither for nor against a function; shares are of what was sampled.
    pub fn parse(text: &str) -> Self {
        let mut folded = Self { samples: Vec::new(), unsampled: Vec::new() };
        for line in text.lines() {
            let (path, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
            let value = value.parse().unwrap_or_else(|_| panic!("value is no whole number: {line}"));
            let mut frames = path.split(';').map(str::to_owned);
            let process = frames.next().expect("split gives at least one part");
            let frames: Vec<_> = frames.collect();
            let unsampled = frames.iter().any(|frame| frame == "[unsampled]");
            let kind = if unsampled { &mut folded.unsampled } else { &mut folded.samples };
            kind.push(Sample { process, frames, value });
        }
        folded
    }

    /// The samples of the program itself, shells and helpers left out.
    pub fn program(&self) -> impl Iterator<Item = &Sample> + Clone {
        self.samples.iter().filter(|sample| !HELPERS.contains(&sample.image()))
    }

    /// All time of one thread in an export by thread.
    pub fn of_thread(&self, thread: u64) -> u64 {
        let name = format!(":{thread}");
        let all = self.samples.iter().chain(&self.unsampled);
        total(all.filter(|sample| sample.process.ends_with(&name)))
    }

    /// The program's processes, each once.
    pub fn processes(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.program().map(|sample| sample.process.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Sum of the values.
pub fn total<'a>(samples: impl Iterator<Item = &'a Sample>) -> u64 {
    samples.map(|sample| sample.value).sum()
}

/// Whether a shown name is the wanted function: the same name, or one with the arguments, clone suffix or
/// module that tell overloads, clones and Fortran module procedures apart.
pub fn same_function(shown: &str, wanted: &str) -> bool {
    let wanted = match wanted.strip_prefix("__").and_then(|name| name.split_once("_MOD_")) {
        Some((module, procedure)) => format!("{module}::{procedure}"),
        None => wanted.to_owned(),
    };
    shown == wanted
        || shown.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with(['(', '<', '.']))
}
