//! The plan of a sweep, kept as `sweep.json`: what to run at which processor counts, and how often.

use std::fs;
use std::path::{Path, PathBuf};

use falloff_profiler::event::{DEFAULT_RATE_HZ, Measure, Selection};
use falloff_profiler::{EventSpec, Request};
use serde::{Deserialize, Serialize};

use crate::scoring::Scaling;
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
}

fn cpu_alone() -> Request {
    let cpu = EventSpec { measure: Measure::Cpu, sampling: None };
    Request { events: vec![cpu], ..Request::default() }
}

/// One run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunKey {
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Processor count.
    pub scale: u32,
}

impl RunKey {
    /// Its directory below that of the sweep: `runs/n0004-r1`.
    pub fn directory(self) -> PathBuf {
        PathBuf::from("runs").join(self.to_string())
    }
}

impl std::fmt::Display for RunKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "n{:04}-r{}", self.scale, self.repetition)
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
        }
    }

    /// The same plan, measuring what `request` asks for. Fails if that makes no sense.
    pub fn measuring(self, request: Request) -> Result<Plan> {
        let rate_hz = Selection::of(&request.events)?.rate_hz;
        Ok(Plan { request, rate_hz, ..self })
    }

    /// All runs in the order in which they are done: every repetition goes through all scales, so that a slow
    /// hour of the machine falls on all of them alike.
    pub fn runs(&self) -> Vec<RunKey> {
        (1..=self.repetitions)
            .flat_map(|repetition| self.scales.iter().map(move |&scale| RunKey { repetition, scale }))
            .collect()
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
        if plan.scales.is_empty() || plan.scales.contains(&0) || plan.rate_hz == 0 {
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
        let names: Vec<String> = plan().runs().iter().take(4).map(RunKey::to_string).collect();
        assert_eq!(names, ["n0001-r1", "n0002-r1", "n0004-r1", "n0001-r2"]);
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
