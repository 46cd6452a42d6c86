//! The plan of a sweep, kept as `sweep.json`: what to run at which processor counts, and how often.

use std::fs;
use std::path::{Path, PathBuf};

use falloff_profiler::event::{DEFAULT_RATE_HZ, Measure, Selection};
use falloff_profiler::{EventSpec, Request};
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::scoring::OwnExpectation;
use crate::scoring::Scaling;
#[cfg(doc)]
use crate::template::Argument;
use crate::{Error, Result};

/// Name of the plan in a sweep's directory.
pub const PLAN_FILE: &str = "sweep.json";

const SCHEMA: &str = "falloff.sweep";
const VERSION: u32 = 1;

/// What a sweep does. Two sweeps are the same if their plans are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    schema: String,
    version: u32,
    /// Program and arguments; `{n}` and `{run}` stand for the processor count and the run's directory.
    pub program: Vec<String>,
    /// The launcher as on the command line.
    pub launcher: String,
    /// Expectation.
    pub scaling: Scaling,
    /// Processor counts, ascending, each once.
    pub scales: Vec<u32>,
    /// How often each is run.
    pub repetitions: u32,
    /// What is measured. A plan that does not say it is of a falloff that knew CPU time only.
    #[serde(default = "cpu_alone")]
    pub request: Request,
    /// Samples per second of CPU time, and at most of waits.
    pub rate_hz: u32,
    /// How long a run may take.
    pub timeout_seconds: Option<f64>,
    /// How it is made beyond that.
    #[serde(flatten)]
    pub manner: Manner,
}

/// How the runs of a plan are made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manner {
    /// Names in braces in program and environment, and their values: see [`Argument`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Variables of the program, `NAME=VALUE` with names in braces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Expectations of some call paths, `PATTERN=FORMULA`: see [`OwnExpectation`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<String>,
    /// Threads of each process, ascending, each once: every processor count in `scales` is then a number of processes that is run
    /// with each of them. Empty if the number of threads is not the sweep's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    /// Further words of `sbatch`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sbatch: Vec<String>,
    /// A regular expression that the output of a good run matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A shell command that succeeds after a good run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_command: Option<String>,
    /// Whether every processor count is run once before, not to be scored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// How often a run that failed is made again at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub retries: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn cpu_alone() -> Request {
    let cpu = EventSpec { measure: Measure::Cpu, sampling: None };
    Request { events: vec![cpu], ..Request::default() }
}

/// The repetition that is made before and not scored.
const WARM_UP: u32 = 0;

/// A number that looks like chance and is always the same (splitmix64).
fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunKey {
    /// Which repetition, from 1; 0 is made before and not scored.
    pub repetition: u32,
    /// What the launcher is given: the number of processes, or of threads with the launcher `threads`.
    pub scale: u32,
    /// Threads of each process in a grid of both, else 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

impl RunKey {
    /// Its directory below that of the sweep: `runs/n0004-r1`, or `runs/n0004t02-r1` with two threads in each process.
    pub fn directory(self) -> PathBuf {
        PathBuf::from("runs").join(self.to_string())
    }

    /// Processor count.
    pub fn processors(self) -> u32 {
        self.scale.saturating_mul(self.threads)
    }

    /// Where in a grid it is: `4x2` for 4 processes of 2 threads each; `4` if each has one.
    pub fn place(self) -> String {
        match self.threads {
            1 => self.scale.to_string(),
            threads => format!("{}x{threads}", self.scale),
        }
    }

    /// The order in which `count` sweeps make this run: each is at any place as often as the others, in the long run.
    pub(crate) fn turns(self, count: usize) -> Vec<usize> {
        let mut turns: Vec<usize> = (0..count).collect();
        turns.sort_by_key(|which| scattered(scattered(self.mark()) ^ *which as u64));
        turns
    }

    /// A number that no other run has.
    fn mark(self) -> u64 {
        u64::from(self.threads - 1) << 48 | u64::from(self.repetition) << 32 | u64::from(self.scale)
    }
}

impl std::fmt::Display for RunKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "n{:04}", self.scale)?;
        if self.threads > 1 {
            write!(f, "t{:02}", self.threads)?;
        }
        write!(f, "-r{}", self.repetition)
    }
}

impl Plan {
    /// A plan for these processor counts, which are put in order.
    pub fn new(program: Vec<String>, launcher: String, scaling: Scaling, mut scales: Vec<u32>) -> Plan {
        scales.sort_unstable();
        scales.dedup();
        Plan {
            schema: SCHEMA.into(),
            version: VERSION,
            program,
            launcher,
            scaling,
            scales,
            repetitions: 3,
            request: Request::default(),
            rate_hz: DEFAULT_RATE_HZ,
            timeout_seconds: None,
            manner: Manner::default(),
        }
    }

    /// The same plan, measuring what `request` asks for. Fails if that makes no sense.
    pub fn measuring(self, request: Request) -> Result<Plan> {
        let rate_hz = Selection::of(&request.events)?.rate_hz;
        Ok(Plan { request, rate_hz, ..self })
    }

    /// All runs in the order in which they are done: every repetition goes through all scales, so that a slow hour of the
    /// machine falls on all of them alike, each in an order of its own, so that no scale always follows the same other. The
    /// order is the same whenever it is asked for.
    pub fn runs(&self) -> Vec<RunKey> {
        (1..=self.repetitions).flat_map(|repetition| self.block(repetition)).collect()
    }

    /// The runs that are made before and are not scored.
    pub fn warm_ups(&self) -> Vec<RunKey> {
        if self.manner.warm_up { self.block(WARM_UP) } else { Vec::new() }
    }

    fn block(&self, repetition: u32) -> Vec<RunKey> {
        let at = |scale: u32| move |&threads: &u32| RunKey { repetition, scale, threads };
        let threads = if self.manner.threads.is_empty() { &[1][..] } else { &self.manner.threads };
        let mut runs: Vec<RunKey> =
            self.scales.iter().flat_map(|&scale| threads.iter().map(at(scale))).collect();
        runs.sort_by_key(|key| (scattered(key.mark()), *key));
        runs
    }

    /// Whether a directory holds a sweep.
    pub fn exists(dir: &Path) -> bool {
        dir.join(PLAN_FILE).is_file()
    }

    /// Reads the plan of the sweep in `dir`.
    pub fn read(dir: &Path) -> Result<Plan> {
        let path = dir.join(PLAN_FILE);
        let text = fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
        let malformed = |reason: String| Error::Malformed { path: path.clone(), reason };
        let head: Head = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        if head.schema != SCHEMA {
            return Err(malformed(format!("it holds `{}`, not `{SCHEMA}`", head.schema)));
        }
        if head.version != VERSION {
            return Err(Error::Version { path, schema: SCHEMA, found: head.version, known: VERSION });
        }
        let plan: Plan = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        if plan.scales.is_empty()
            || plan.scales.contains(&0)
            || plan.manner.threads.contains(&0)
            || plan.rate_hz == 0
        {
            return Err(malformed("a processor count or the rate is zero or missing".into()));
        }
        Ok(plan)
    }

    /// Writes the plan into `dir`, complete or not at all.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(PLAN_FILE);
        let new = dir.join(format!(".{PLAN_FILE}.new"));
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::Malformed { path: path.clone(), reason: e.to_string() })?;
        text.push('\n');
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(|e| Error::io("write", &path, e))
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
    version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::new(vec!["./app".into(), "{n}".into()], "plain".into(), Scaling::Strong, vec![4, 1, 2, 2])
    }

    #[test]
    fn rounds_go_through_all_scales() {
        let mut plan = plan();
        plan.repetitions = 20;
        let runs = plan.runs();
        assert_eq!(runs, plan.runs());
        let mut orders = std::collections::BTreeSet::new();
        for (repetition, block) in (1..).zip(runs.chunks(3)) {
            assert!(block.iter().all(|key| key.repetition == repetition));
            let mut scales: Vec<u32> = block.iter().map(|key| key.scale).collect();
            orders.insert(scales.clone());
            scales.sort_unstable();
            assert_eq!(scales, [1, 2, 4]);
        }
        assert!(orders.len() > 3, "{orders:?}");
        assert_eq!(plan.warm_ups(), []);
        plan.manner.warm_up = true;
        assert!(plan.warm_ups().iter().all(|key| key.to_string().ends_with("-r0")));
    }

    #[test]
    fn a_grid_has_every_pair() {
        let mut plan = plan();
        plan.manner.threads = vec![1, 2];
        let mut names: Vec<String> = plan.block(1).iter().map(RunKey::to_string).collect();
        names.sort();
        assert_eq!(names, ["n0001-r1", "n0001t02-r1", "n0002-r1", "n0002t02-r1", "n0004-r1", "n0004t02-r1"]);
        let key = RunKey { repetition: 1, scale: 4, threads: 2 };
        assert_eq!((key.processors(), key.place().as_str()), (8, "4x2"));
        let text = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<RunKey>(&text).unwrap(), key);
        let old: RunKey = serde_json::from_str(r#"{"repetition":1,"scale":4}"#).unwrap();
        assert_eq!(old, RunKey { threads: 1, ..key });
    }

    #[test]
    fn two_sweeps_take_turns() {
        let mut plan = plan();
        plan.repetitions = 100;
        let turns: Vec<Vec<usize>> = plan.runs().iter().map(|key| key.turns(2)).collect();
        assert!(turns.iter().all(|t| *t == [0, 1] || *t == [1, 0]));
        let first = turns.iter().filter(|t| t[0] == 0).count();
        // Three standard deviations of 300 throws of a coin.
        assert!((124..=176).contains(&first), "{first}");
    }

    #[test]
    fn a_plan_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Plan::exists(dir.path()));
        let events = ["time@500", "page-faults/10"].map(|e| e.parse().unwrap()).to_vec();
        let plan = plan().measuring(Request { events, ..Request::default() }).unwrap();
        assert_eq!(plan.rate_hz, 500);
        plan.write(dir.path()).unwrap();
        assert_eq!(Plan::read(dir.path()).unwrap(), plan);
        let manner = Manner {
            arguments: vec!["size={1:100,2:126,4:159}".into()],
            environment: vec!["SIZE={size}".into()],
            expectations: vec!["solve=size^3/p".into()],
            check: Some("^ok".into()),
            retries: 2,
            ..Manner::default()
        };
        let plan = Plan { manner, ..plan };
        plan.write(dir.path()).unwrap();
        assert_eq!(Plan::read(dir.path()).unwrap(), plan);
    }

    #[test]
    fn a_plan_without_events_measured_cpu_time() {
        let dir = tempfile::tempdir().unwrap();
        let old = r#"{"schema":"falloff.sweep","version":1,"program":["./app"],"launcher":"plain",
            "scaling":"strong","scales":[1,2],"repetitions":3,"rate_hz":200,"timeout_seconds":null}"#;
        fs::write(dir.path().join(PLAN_FILE), old).unwrap();
        assert_eq!(Plan::read(dir.path()).unwrap().request, cpu_alone());
    }

    #[test]
    fn other_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs::write(dir.path().join(PLAN_FILE), text).unwrap();
            Plan::read(dir.path()).unwrap_err()
        };
        assert!(matches!(read(""), Error::Malformed { .. }));
        assert!(matches!(read(r#"{"schema":"x","version":1}"#), Error::Malformed { .. }));
        assert!(matches!(read(r#"{"schema":"falloff.sweep","version":9}"#), Error::Version { found: 9, .. }));
        assert!(matches!(read(r#"{"schema":"falloff.sweep","version":1}"#), Error::Malformed { .. }));
    }
}
