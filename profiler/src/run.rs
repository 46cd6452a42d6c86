//! `falloff run`: one program under the sampler.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::program::Program;
use crate::run_dir::RunFile;
use crate::{Ending, Error, Preload, RUN_ID_VARIABLE, launch, measurements, run_dir, run_id};

/// What to run and how.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Directory of the run: new, empty, or this run's already.
    pub dir: PathBuf,
    /// Samples a second of CPU time.
    pub rate: u32,
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
    let measurements = run_dir::enter(&options.dir, &RunFile::new(&run_id, &command, options.rate))?;
    if let Some(obstacle) = program.obstacle {
        let (_, status) = launch::launch(&options.program, &options.args, &[])?;
        return Ok(Ending { status, message: Some(format!("falloff: no profile: {obstacle}")) });
    }
    let variables = variables(&preload.path()?, &measurements, &run_id, options.rate);
    let (pid, status) = launch::launch(&options.program, &options.args, &variables)?;
    let profiled = measurements::close(&measurements, &run_id, pid, status);
    Ok(Ending { status, message: message(&options.dir, profiled) })
}

/// What the program's environment gets.
fn variables(preload: &Path, measurements: &Path, run_id: &str, rate: u32) -> Vec<(OsString, OsString)> {
    const LD_PRELOAD: &str = "LD_PRELOAD";
    let mut list = preload.as_os_str().to_owned();
    if let Some(theirs) = env::var_os(LD_PRELOAD).filter(|v| !v.is_empty()) {
        list.push(":");
        list.push(theirs);
    }
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    vec![
        (LD_PRELOAD.into(), list),
        ("FALLOFF_MEASUREMENTS".into(), text(measurements.as_os_str().as_bytes())),
        ("FALLOFF_RATE".into(), rate.to_string().into()),
        ("FALLOFF_LAUNCHER".into(), std::process::id().to_string().into()),
        (RUN_ID_VARIABLE.into(), run_id.into()),
    ]
}

/// Whether a launcher started this process as one of several ranks.
pub fn is_one_of_many() -> bool {
    const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];
    RANKS.iter().any(|name| env::var_os(name).is_some())
}

/// Silence where a log or another program reads standard error, unless the profile is missing.
fn message(dir: &Path, profiled: bool) -> Option<String> {
    if !profiled {
        let dir = dir.display();
        return Some(format!(
            "falloff: no profile of the program in {dir}: it could not write there (full disk, file size limit) or it was \
             started without its environment"
        ));
    }
    let watched = std::io::stderr().is_terminal() && !is_one_of_many();
    watched.then(|| {
        format!("falloff: profile in {dir}; look at it with `falloff view {dir}`", dir = dir.display())
    })
}
