//! `falloff run`: one program under the sampler.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::event::PerfEvent;
use crate::launch::Variable;
use crate::measurements::Left;
use crate::outside::{self, Hold, Session};
use crate::probe::{Machine, Obstacle, refusal};
use crate::program::Program;
use crate::rank::is_one_of_many;
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
/// A program that no preload reaches is sampled from outside if it is statically linked. Else, and where the system refuses
/// that, it runs all the same, and the ending's message says why there is no profile.
pub fn run(preload: &Preload, options: &RunOptions) -> Result<Ending, Error> {
    let program = Program::find(&options.program)?;
    let run_id = options.run_id.clone().unwrap_or_else(run_id::of_this_process);
    let measurements =
        run_dir::enter(&options.dir, &RunFile::new(&run_id, &command(options), &options.prepared))?;
    let can_be_outside = program.is_static && options.prepared.selection.cpu;
    if let Some(obstacle) = program.obstacle.as_ref().filter(|_| !can_be_outside) {
        let ended = launch::launch(&options.program, &options.args, &[], None)?;
        let only_cpu = if program.is_static { "; from outside, CPU time alone is measured" } else { "" };
        return Ok(Ending {
            status: ended.status,
            message: Some(no_profile(&format!("{obstacle}{only_cpu}"))),
        });
    }
    let outside =
        program.obstacle.as_ref().map(|_| from_outside(options, &measurements, &run_id)).transpose()?;
    let (session, hold) = outside.unzip();
    let variables = variables(&preload.path()?, &measurements, &run_id, &options.prepared);
    let ended = launch::launch(&options.program, &options.args, &variables, hold)?;
    let sampled = session.map(|session| session.finish(&ended));
    let left = measurements::close(&measurements, &run_id, ended.pid, ended.status);
    let message = match (sampled, &program.obstacle) {
        (Some(Err(errno)), Some(obstacle)) => Some(no_profile(&refused(obstacle, errno, &Machine::probe()))),
        (sampled, _) => message(options, left, sampled.map(|_| from_outside_note(options))),
    };
    Ok(Ending { status: ended.status, message })
}

/// The program and its arguments.
fn command(options: &RunOptions) -> Vec<OsString> {
    std::iter::once(&options.program).chain(&options.args).cloned().collect()
}

/// Gets ready to sample from outside.
fn from_outside(options: &RunOptions, measurements: &Path, run_id: &str) -> Result<(Session, Hold), Error> {
    let Prepared { request, selection, .. } = &options.prepared;
    let plan = outside::Plan {
        measurements: measurements.to_owned(),
        run_id: run_id.to_owned(),
        rate_hz: selection.rate_hz,
        only: request.only.clone(),
        events: selection.events.iter().map(|event| event.perf.name.clone()).collect(),
        command: command(options),
    };
    Session::begin(plan).map_err(|source| Error::Process { what: "hold", source })
}

fn no_profile(why: &str) -> String {
    format!("falloff: no profile: {why}")
}

/// What to say of a profile that was made from outside.
const FROM_OUTSIDE: &str = "statically linked, so sampled from outside: waiting time is not measured";

/// The same where an event log was asked for.
const FROM_OUTSIDE_UNLOGGED: &str =
    "statically linked, so sampled from outside: waiting time is not measured, and there is no event log";

fn from_outside_note(options: &RunOptions) -> &'static str {
    if options.prepared.request.event_log.is_some() { FROM_OUTSIDE_UNLOGGED } else { FROM_OUTSIDE }
}

/// Why a program is not sampled from outside either.
fn refused(obstacle: &str, errno: Errno, machine: &Machine) -> String {
    let Obstacle { reason, remedy } = refusal(&PerfEvent::task_clock(), errno, machine);
    format!("{obstacle}, and from outside perf cannot sample it: {reason}; to enable it: {remedy}")
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
        ("FALLOFF_LOG", request.event_log.map(|log| log.of.name().to_owned())),
        ("FALLOFF_LOG_LIMIT", request.event_log.map(|log| log.limit.bytes().to_string())),
        ("FALLOFF_LAUNCHER", Some(std::process::id().to_string())),
        (RUN_ID_VARIABLE, Some(run_id.to_owned())),
    ];
    let paths = [
        (LD_PRELOAD.into(), Some(list)),
        ("FALLOFF_MEASUREMENTS".into(), Some(measurements.as_os_str().to_owned())),
    ];
    paths.into_iter().chain(texts.map(|(name, value)| (name.into(), value.map(Into::into)))).collect()
}

/// Silence where a log or another program reads standard error, unless the profile is missing.
fn message(options: &RunOptions, left: Left, note: Option<&str>) -> Option<String> {
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
            let caution = options.prepared.selection.caution();
            let notes: String =
                note.map(str::to_owned).into_iter().chain(caution).map(|n| format!("; {n}")).collect();
            format!("falloff: profile in {dir}; look at it with `falloff view {dir}`{notes}")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuClock, EventLog, Logged, Request, Size};

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
            event_log: Some(EventLog { of: Logged::Mpi, limit: Size::OF_A_LOG }),
            ..Request::default()
        };
        let variables = variables(Path::new("/p.so"), Path::new("/m"), "id", &request.prepare().unwrap());
        let value = |name| value(&variables, name);
        assert_eq!(value("FALLOFF_RATE").unwrap(), "500");
        assert_eq!(value("FALLOFF_EVENTS").unwrap(), "cpu");
        assert_eq!(value("FALLOFF_CPU_CLOCK").unwrap(), "timer");
        assert_eq!(value("FALLOFF_ONLY").unwrap(), "solver:mesher");
        assert_eq!(value("FALLOFF_LOG").unwrap(), "mpi");
        assert_eq!(value("FALLOFF_LOG_LIMIT").unwrap(), "268435456");
        assert_eq!(value("FALLOFF_WAITS"), None);
        assert!(variables.iter().any(|(name, value)| name == "FALLOFF_WAITS" && value.is_none()));
    }

    #[test]
    fn a_refusal_says_why_and_what_would_help() {
        let machine = Machine {
            perf_event_paranoid: Some(3),
            kernel: "5.4.0".into(),
            ..crate::probe::tests::machine()
        };
        let text = refused("./app is statically linked", Errno::EACCES, &machine);
        assert!(text.contains("kernel.perf_event_paranoid is 3; to enable it: sudo sysctl"), "{text}");
        let text = refused("./app is statically linked", Errno::EMFILE, &machine);
        assert!(text.contains("no more files can be opened; to enable it: raise the limit"), "{text}");
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
        assert!(message(&options, Left::Others, None).unwrap().contains("no profile of the program"));
        options.prepared.request.only = vec!["solver".into()];
        assert!(message(&options, Left::Nothing, None).unwrap().contains("named solver"));
        assert!(message(&options, Left::Others, None).is_none_or(|m| m.contains("look at it")));
    }
}
