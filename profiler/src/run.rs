//! `falloff run`: one program under the sampler.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::launch::Variable;
use crate::measurements::Left;
use crate::program::Program;
use crate::run_file::RunFile;
use crate::{Ending, Error, Preload, Prepared, RUN_ID_VARIABLE, launch, measurements, run_dir, run_id};

/// What to run and how.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Directory of the run: new, empty, or this run's already.
    pub dir: PathBuf,
    /// What to measure.
    pub prepared: Prepared,
    /// Run that this process belongs to; found out if `None`.
    pub run_id: Option<String>,
    /// The program, as a shell would find it.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Runs the program under the sampler and waits for its end.
///
/// A program that no preload reaches runs all the same, and the ending's message says why there is no profile.
pub fn run(preload: &Preload, options: &RunOptions) -> Result<Ending, Error> {
    let program = Program::find(&options.program)?;
    let run_id = options.run_id.clone().unwrap_or_else(run_id::of_this_process);
    let command: Vec<OsString> = std::iter::once(&options.program).chain(&options.args).cloned().collect();
    let measurements = run_dir::enter(&options.dir, &RunFile::new(&run_id, &command, &options.prepared))?;
    if let Some(obstacle) = program.obstacle {
        let (_, status) = launch::launch(&options.program, &options.args, &[])?;
        return Ok(Ending { status, message: Some(format!("falloff: no profile: {obstacle}")) });
    }
    let variables = variables(&preload.path()?, &measurements, &run_id, &options.prepared);
    let (pid, status) = launch::launch(&options.program, &options.args, &variables)?;
    let left = measurements::close(&measurements, &run_id, pid, status);
    Ok(Ending { status, message: message(options, left) })
}

/// What the program's environment gets.
fn variables(preload: &Path, measurements: &Path, run_id: &str, prepared: &Prepared) -> Vec<Variable> {
    const LD_PRELOAD: &str = "LD_PRELOAD";
    let mut list = preload.as_os_str().to_owned();
    if let Some(theirs) = env::var_os(LD_PRELOAD).filter(|v| !v.is_empty()) {
        list.push(":");
        list.push(theirs);
    }
    let Prepared { request, selection, .. } = prepared;
    let only = Some(request.only.join(":")).filter(|names| !names.is_empty());
    // What is not asked for is taken away, should this be the program of another falloff.
    let texts = [
        ("FALLOFF_RATE", Some(selection.rate_hz.to_string())),
        ("FALLOFF_EVENTS", Some(selection.variable())),
        ("FALLOFF_CPU_CLOCK", request.cpu_clock.map(|clock| clock.name().to_owned())),
        ("FALLOFF_WAITS", request.waits.map(|clock| clock.name().to_owned())),
        ("FALLOFF_ONLY", only),
        ("FALLOFF_LAUNCHER", Some(std::process::id().to_string())),
        (RUN_ID_VARIABLE, Some(run_id.to_owned())),
    ];
    let paths = [
        (LD_PRELOAD.into(), Some(list)),
        ("FALLOFF_MEASUREMENTS".into(), Some(measurements.as_os_str().to_owned())),
    ];
    paths.into_iter().chain(texts.map(|(name, value)| (name.into(), value.map(Into::into)))).collect()
}

/// Variables in which launchers number the ranks of a job.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];

/// Whether a launcher started this process as one of several ranks.
pub fn is_one_of_many() -> bool {
    RANKS.iter().any(|name| env::var_os(name).is_some())
}

/// Whether this process is the one of a job that says what is the same for all: rank 0, or alone.
pub fn is_spokesman() -> bool {
    RANKS.iter().find_map(env::var_os).is_none_or(|rank| rank == "0")
}

/// Silence where a log or another program reads standard error, unless the profile is missing.
fn message(options: &RunOptions, left: Left) -> Option<String> {
    let dir = options.dir.display();
    let only = &options.prepared.request.only;
    let lost = match left {
        Left::Own => None,
        Left::Others if !only.is_empty() => None,
        Left::Nothing if !only.is_empty() => Some(format!(
            "falloff: no profile in {dir}: no process ran a program named {}, or it could not write there",
            only.join(" or ")
        )),
        Left::Nothing | Left::Others => Some(format!(
            "falloff: no profile of the program in {dir}: it could not write there (full disk, file size limit) or it was \
             started without its environment"
        )),
    };
    let watched = || std::io::stderr().is_terminal() && !is_one_of_many();
    lost.or_else(|| {
        watched().then(|| {
            let caution = options.prepared.selection.caution().map(|c| format!("; {c}")).unwrap_or_default();
            format!("falloff: profile in {dir}; look at it with `falloff view {dir}`{caution}")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuClock, Request};

    fn value(variables: &[Variable], name: &str) -> Option<String> {
        let (_, value) = variables.iter().find(|(n, _)| n == name)?;
        Some(value.as_ref()?.to_string_lossy().into_owned())
    }

    #[test]
    fn the_sampler_is_told_what_was_asked() {
        let request = Request {
            events: vec!["cpu@500".parse().unwrap()],
            cpu_clock: Some(CpuClock::Timer),
            only: vec!["solver".into(), "mesher".into()],
            ..Request::default()
        };
        let variables = variables(Path::new("/p.so"), Path::new("/m"), "id", &request.prepare().unwrap());
        let value = |name| value(&variables, name);
        assert_eq!(value("FALLOFF_RATE").unwrap(), "500");
        assert_eq!(value("FALLOFF_EVENTS").unwrap(), "cpu");
        assert_eq!(value("FALLOFF_CPU_CLOCK").unwrap(), "timer");
        assert_eq!(value("FALLOFF_ONLY").unwrap(), "solver:mesher");
        assert_eq!(value("FALLOFF_WAITS"), None);
        assert!(variables.iter().any(|(name, value)| name == "FALLOFF_WAITS" && value.is_none()));
    }

    #[test]
    fn a_program_that_is_not_measured_is_no_loss() {
        let mut options = RunOptions {
            dir: "d".into(),
            prepared: Request::default().prepare().unwrap(),
            run_id: None,
            program: "app".into(),
            args: vec![],
        };
        assert!(message(&options, Left::Others).unwrap().contains("no profile of the program"));
        options.prepared.request.only = vec!["solver".into()];
        assert!(message(&options, Left::Nothing).unwrap().contains("named solver"));
        assert!(message(&options, Left::Others).is_none_or(|m| m.contains("look at it")));
    }
}
