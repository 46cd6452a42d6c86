//! A real measurement of a small program whose CPU time is known.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use falloff_postprocess::{Database, OpenOptions, SymbolSource, open};
use falloff_profiler::probe::Obstacle;
use falloff_profiler::{Preload, Request, RunOptions, children_cpu_ns, fresh_run_id};

/// Largest part by which the measured CPU time may differ from the truth.
const TOLERANCE: f64 = 0.05;

/// What to do about a failure that is not the machine's.
pub(super) const REPORT: &str = "please report it with the output of `falloff doctor --format json`";

/// What was measured of the small program.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// CPU time that the system says it used, seconds.
    pub cpu_used_seconds: f64,
    /// CPU time in the profile, seconds.
    pub cpu_measured_seconds: f64,
    /// Whether waits were measured, so that there is a metric `time`.
    pub has_time: bool,
    /// By which clocks.
    pub clocks: Vec<String>,
    /// Where the names of the C library came from.
    pub c_library_names: Option<SymbolSource>,
}

/// The trial, or what stood in its way.
pub type TrialResult = Result<Trial, Obstacle>;

impl Trial {
    /// Profiles one step of the demonstration, in a directory that is removed again.
    pub fn run(preload: &Preload, falloff: &Path) -> TrialResult {
        let dir = std::env::temp_dir().join(format!("falloff-doctor-{}", fresh_run_id()));
        let failed = |e: std::io::Error| Obstacle {
            reason: format!("failed to make the directory {}: {e}", dir.display()),
            remedy: "set TMPDIR to a directory that can be written".into(),
        };
        DirBuilder::new().mode(0o700).create(&dir).map_err(failed)?;
        let trial = in_directory(preload, falloff, &dir);
        // It lies in the system's directory for such files, where it harms nobody if it cannot be removed.
        let _ = fs::remove_dir_all(&dir);
        trial
    }

    /// Largest difference of the measured CPU time from the truth, as a fraction.
    ///
    /// ```
    /// use falloff_workflow::doctor::Trial;
    /// let trial = Trial {
    ///     cpu_used_seconds: 0.4,
    ///     cpu_measured_seconds: 0.39,
    ///     has_time: true,
    ///     clocks: vec![],
    ///     c_library_names: None,
    /// };
    /// assert!((trial.error() - 0.025).abs() < 1e-9 && trial.is_right());
    /// ```
    pub fn error(&self) -> f64 {
        (self.cpu_measured_seconds - self.cpu_used_seconds).abs() / self.cpu_used_seconds
    }

    /// Whether CPU time came out right and waits were measured.
    pub fn is_right(&self) -> bool {
        self.has_time && self.error() <= TOLERANCE
    }
}

fn in_directory(preload: &Preload, falloff: &Path, dir: &Path) -> TrialResult {
    let shared = dir.join("shared");
    let run = dir.join("run");
    let options = RunOptions {
        dir: run.clone(),
        prepared: Request::default().prepare().map_err(of_profiler)?,
        run_id: Some(fresh_run_id()),
        program: falloff.as_os_str().to_owned(),
        args: vec!["demo-worker".into(), "--alone".into(), shared.into_os_string()],
    };
    let before = cpu_of_children()?;
    let ending = falloff_profiler::run(preload, &options).map_err(of_profiler)?;
    let after = cpu_of_children()?;
    if !ending.status.success() {
        return Err(unexpected(format!("a small program under the sampler ended with {}", ending.status)));
    }
    let database = open(&run, &OpenOptions::default()).map_err(|e| unexpected(e.to_string()))?;
    let measured =
        database.exclusive_totals("cpu").ok_or_else(|| unexpected("the profile has no CPU time".into()))?;
    Ok(Trial {
        cpu_used_seconds: after - before,
        cpu_measured_seconds: measured.iter().sum::<f64>() * 1e-9,
        has_time: database.metric("time").is_some(),
        clocks: database.clocks().iter().map(ToString::to_string).collect(),
        c_library_names: names_of_c_library(&database),
    })
}

fn of_profiler(error: falloff_profiler::Error) -> Obstacle {
    Obstacle { reason: error.to_string(), remedy: error.hint().unwrap_or_else(|| REPORT.into()) }
}

/// What no setting of the machine is known to cause.
fn unexpected(reason: String) -> Obstacle {
    Obstacle { reason, remedy: REPORT.into() }
}

fn cpu_of_children() -> Result<f64, Obstacle> {
    let ns =
        children_cpu_ns().map_err(|e| unexpected(format!("failed to read the CPU time of children: {e}")))?;
    Ok(ns as f64 * 1e-9)
}

fn names_of_c_library(database: &Database) -> Option<SymbolSource> {
    let is_c_library = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("libc.so"));
    database.modules().iter().find(|module| is_c_library(&module.path)).map(|module| module.source)
}
