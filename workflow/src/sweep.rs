//! Carrying out a sweep: all runs of a plan, in order, with a journal to go on from.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use falloff_postprocess::{OpenOptions, open};
use falloff_profiler::event::Selection;
use falloff_profiler::{find_program, fresh_run_id};

use crate::answer::Answer;
use crate::backends::{
    Ended, Flavour, Interrupt, Job, Launcher, RunSpec, has_other_machines, render, run_job,
};
use crate::journal::{Entry, Journal, State};
use crate::machine_load::MachineLoad;
use crate::plan::{PLAN_FILE, Plan, RunKey};
use crate::template::Argument;
use crate::{Error, Result};

/// Name of the file in a run's directory that has the output of all its processes.
pub const OUTPUT_LOG: &str = "output.log";

/// What comes of a program whose MPI is not the launcher's.
const SINGLETONS: &str = "its processes do not know of each other; choose the launcher with `--launcher`";

/// A sweep that can be carried out.
#[derive(Debug)]
pub struct Sweep {
    plan: Plan,
    launcher: Launcher,
    /// What the launcher is, if it is an MPI launcher.
    flavour: Option<Flavour>,
    /// Absolute.
    dir: PathBuf,
    /// The falloff executable.
    falloff: PathBuf,
    /// What to know before it begins.
    notices: Vec<String>,
    /// Names in braces and their values.
    arguments: Vec<Argument>,
    answer: Answer,
    /// How its runs are opened to see whether they are complete.
    options: OpenOptions,
}

/// What happens while a sweep is carried out.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The directory is ours and the first run is next.
    Ready,
    /// A run was completed by an earlier command and is kept.
    Kept(&'a Entry),
    /// A run begins.
    Begins(RunKey),
    /// A run failed and is made again.
    Again(&'a Entry),
    /// A run ended.
    Ended(&'a Entry),
}

/// What came out of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Runs that can be scored.
    pub completed: usize,
    /// Runs that cannot.
    pub failed: Vec<Entry>,
    /// The signal by which the user stopped it.
    pub interrupted: Option<i32>,
}

impl Sweep {
    /// A sweep into `dir`, with `falloff` as the executable that profiles.
    ///
    /// Fails if the launcher or the program cannot be found here or nothing can be measured here, so that nothing is
    /// begun in vain.
    pub fn new(plan: Plan, dir: &Path, falloff: &Path) -> Result<Sweep> {
        let launcher: Launcher = plan.launcher.parse()?;
        let dir = std::path::absolute(dir).map_err(|e| Error::io("use", dir, e))?;
        check_programs(&plan, &launcher)?;
        let flavour = launcher.program().and_then(|name| Flavour::of_launcher(&name));
        let mut notices: Vec<String> = Selection::of(&plan.request.events)?.caution().into_iter().collect();
        if is_local(&launcher) && !has_other_machines() {
            notices.extend(plan.request.clone().prepare()?.missing_line());
        }
        let arguments = arguments(&plan)?;
        let answer = Answer::new(&plan.manner)?;
        let falloff = falloff.to_owned();
        let options = OpenOptions::default();
        Ok(Sweep { plan, launcher, flavour, dir, falloff, notices, arguments, answer, options })
    }

    /// The same with runs that are opened with the user's options when they have ended.
    pub fn opened_with(self, options: OpenOptions) -> Sweep {
        Sweep { options, ..self }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What to know before it begins, a line each: what cannot be measured here and why, and rates that disturb.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What would be started for a run.
    pub fn job(&self, key: RunKey, run_id: &str) -> Job {
        let dir = self.dir.join(key.directory());
        let spec = RunSpec {
            n: key.scale,
            dir: &dir,
            run_id,
            request: &self.plan.request,
            falloff: &self.falloff,
            flavour: self.flavour,
            program: &self.plan.program,
            environment: &self.plan.manner.environment,
            arguments: &self.arguments,
        };
        render(&self.launcher, &spec)
    }

    /// Carries out what is not done yet.
    ///
    /// Each run is checked when it ended: one that failed or lacks ranks is noted as failed and does not stop the
    /// sweep. The journal is on the disk after each run, so that the same command goes on after any end.
    pub fn carry_out(&self, interrupt: &Interrupt, mut tell: impl FnMut(Progress)) -> Result<Outcome> {
        let _lock = self.claim()?;
        let known = Journal::read(&self.dir)?;
        let mut journal = Journal::open(&self.dir)?;
        let mut outcome = Outcome::default();
        tell(Progress::Ready);
        for key in self.plan.warm_ups().into_iter().chain(self.plan.runs()) {
            if let Some(entry) = known.get(&key).filter(|e| e.state == State::Completed) {
                tell(Progress::Kept(entry));
                outcome.completed += 1;
                continue;
            }
            tell(Progress::Begins(key));
            let mut tries_left = self.plan.manner.retries;
            let entry = loop {
                let (entry, interrupted) = self.run(key, interrupt)?;
                if interrupted.is_some() {
                    outcome.interrupted = interrupted;
                    return Ok(outcome);
                }
                if entry.state == State::Completed || tries_left == 0 {
                    break entry;
                }
                tries_left -= 1;
                tell(Progress::Again(&entry));
            };
            journal.append(&entry)?;
            tell(Progress::Ended(&entry));
            match entry.state {
                State::Completed => outcome.completed += 1,
                State::Failed => outcome.failed.push(entry),
            }
        }
        Ok(outcome)
    }

    /// Makes the directory ours, or finds that it is, and locks it while the result lives.
    fn claim(&self) -> Result<File> {
        let occupied = |reason: &str| Error::Occupied { path: self.dir.clone(), reason: reason.into() };
        if Plan::exists(&self.dir) {
            if Plan::read(&self.dir)? != self.plan {
                return Err(occupied("it holds a sweep of another command or with other options"));
            }
        } else {
            make_dir(&self.dir)?;
            let mut entries = fs::read_dir(&self.dir).map_err(|e| Error::io("read", &self.dir, e))?;
            if entries.next().is_some() {
                return Err(occupied("it is not empty and holds no sweep"));
            }
            self.plan.write(&self.dir)?;
        }
        let path = self.dir.join(PLAN_FILE);
        let file = File::open(&path).map_err(|e| Error::io("open", &path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(occupied("another sweep is running in it")),
            // A file system without locks cannot protect; the sweep itself works.
            Err(fs::TryLockError::Error(_)) => Ok(file),
        }
    }

    fn run(&self, key: RunKey, interrupt: &Interrupt) -> Result<(Entry, Option<i32>)> {
        let dir = self.dir.join(key.directory());
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(|e| Error::io("remove", &dir, e))?;
        }
        make_dir(&dir)?;
        let job = self.job(key, &fresh_run_id());
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let timeout = self.plan.timeout_seconds.map(Duration::from_secs_f64);
        let load = MachineLoad::now();
        let (ended, wall) = run_job(&job, &dir.join(OUTPUT_LOG), timeout, interrupt)?;
        let mut entry = Entry::new(key);
        entry.others_cpu_seconds =
            load.zip(MachineLoad::now()).map(|(before, after)| before.others_until(after));
        entry.wall_seconds = wall.as_secs_f64();
        entry.started_unix_seconds = since_1970.as_secs();
        entry.oversubscribed = job.oversubscribed;
        let entry = match ended {
            Ended::Interrupted(signal) => return Ok((entry, Some(signal))),
            Ended::Badly(reason) => entry.failed(reason),
            Ended::TimedOut => entry.failed(format!("not done after {:.0} s", wall.as_secs_f64())),
            Ended::Well => match self.answer.objection(&dir, &dir.join(OUTPUT_LOG), key.scale) {
                Some(objection) => entry.failed(objection),
                None => self.check(entry, &dir),
            },
        };
        Ok((entry, None))
    }

    /// Looks whether the measurements of a run that ended well are complete.
    fn check(&self, mut entry: Entry, dir: &Path) -> Entry {
        let database = match open(dir, &self.options) {
            Ok(database) => database,
            Err(error) => return entry.failed(error.to_string()),
        };
        let mut ranks: Vec<u32> = database.locations().iter().filter_map(|l| l.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        entry.ranks = ranks.len();
        let wanted = entry.key.scale as usize;
        if !self.launcher.starts_ranks() {
            return entry;
        }
        if ranks.len() != wanted {
            let reason = format!("{} of {wanted} ranks have a profile", ranks.len());
            return entry.failed(reason);
        }
        // Such a program does not find its launcher and runs N times as one process, without a word.
        let program = Flavour::of_libraries(database.modules().iter().map(|m| m.path.as_str()));
        match (self.flavour, program) {
            (Some(launcher), Some(program)) if launcher != program && wanted > 1 => {
                entry.failed(format!("the launcher is of {launcher}, the program of {program}: {SINGLETONS}"))
            }
            _ => entry,
        }
    }
}

/// The plan's arguments, each with a value at every scale.
fn arguments(plan: &Plan) -> Result<Vec<Argument>> {
    let wrong = |reason: String| {
        Error::Usage {
        action: "start the sweep",
        reason,
        hint: "write for example `--arg 'size={1:100,2:126}'` or `--arg size=100*n`, and {size} in the program's arguments"
            .into(),
    }
    };
    let mut arguments = Vec::new();
    for text in &plan.manner.arguments {
        let argument = Argument::parse(text).map_err(wrong)?;
        if let Some(n) = argument.missing(&plan.scales).first() {
            return Err(wrong(format!("argument `{}` has no value at n = {n}", argument.name())));
        }
        arguments.push(argument);
    }
    if let Some(text) =
        plan.manner.environment.iter().find(|t| t.split_once('=').is_none_or(|(name, _)| name.is_empty()))
    {
        return Err(wrong(format!("`{text}` has no NAME=VALUE")));
    }
    Ok(arguments)
}

/// A launcher or program that is not here would fail in every run.
fn check_programs(plan: &Plan, launcher: &Launcher) -> Result<()> {
    let missing = |name: &str, hint: &str| Error::Usage {
        action: "start the sweep",
        reason: format!("there is no program `{name}` to execute"),
        hint: hint.into(),
    };
    if let Some(name) = launcher.program().filter(|name| find_program(name.as_ref()).is_none()) {
        return Err(missing(&name, "install it, or choose another with `--launcher`"));
    }
    match plan.program.first().filter(|name| is_local(launcher) && find_program(name.as_ref()).is_none()) {
        Some(name) => Err(missing(name, "check its name; a program in this directory is `./NAME`")),
        None => Ok(()),
    }
}

/// Slurm and templates may start the program on another machine or in a container.
fn is_local(launcher: &Launcher) -> bool {
    matches!(launcher, Launcher::Mpirun | Launcher::Threads | Launcher::Plain)
}

fn make_dir(dir: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| Error::io("create", dir, e))
}
