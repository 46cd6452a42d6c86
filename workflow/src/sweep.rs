//! A sweep that can be carried out: what a run needs, its making, and its directory.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use falloff_postprocess::OpenOptions;
use falloff_profiler::event::Selection;
use falloff_profiler::{find_program, fresh_run_id};

use crate::answer::Answer;
use crate::backends::{
    Ended, Flavour, Interrupt, Job, Launcher, RunSpec, cancel_left_over, has_other_machines, render, run_job,
};
use crate::complete::Completeness;
use crate::journal::Entry;
use crate::machine_load::MachineLoad;
use crate::plan::{PLAN_FILE, Plan, RunKey};
use crate::template::Argument;
use crate::{Error, Result};

/// Name of the file in a run's directory that has the output of all its processes.
pub const OUTPUT_LOG: &str = "output.log";

/// How long a file system that machines share may take to show all that they wrote.
const SETTLING: Duration = Duration::from_secs(20);

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
    /// The batch job of a run is in another state than before.
    Queued(RunKey, &'a str),
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
        if launcher == Launcher::Threads && !plan.manner.threads.is_empty() {
            return Err(Error::Usage {
                action: "start the sweep",
                reason: "the launcher `threads` has the numbers of threads from `-n`".into(),
                hint: "leave `--threads` out, or choose a launcher of processes".into(),
            });
        }
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
            threads: (!self.plan.manner.threads.is_empty()).then_some(key.threads),
            dir: &dir,
            run_id,
            request: &self.plan.request,
            falloff: &self.falloff,
            flavour: self.flavour,
            program: &self.plan.program,
            environment: &self.plan.manner.environment,
            sbatch: &self.plan.manner.sbatch,
            log: &dir.join(OUTPUT_LOG),
            arguments: &self.arguments,
        };
        render(&self.launcher, &spec)
    }

    /// Its directory, absolute.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the directory ours, or finds that it is, and locks it while the result lives.
    pub(crate) fn claim(&self) -> Result<File> {
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

    /// Makes one run; gives what to note of it, or the signal by which the user stopped it.
    pub(crate) fn run(
        &self,
        key: RunKey,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(Entry, Option<i32>)> {
        let dir = self.dir.join(key.directory());
        if dir.exists() {
            if self.launcher == Launcher::Sbatch {
                cancel_left_over(&dir);
            }
            fs::remove_dir_all(&dir).map_err(|e| Error::io("remove", &dir, e))?;
        }
        make_dir(&dir)?;
        let job = self.job(key, &fresh_run_id());
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let timeout = self.plan.timeout_seconds.map(Duration::from_secs_f64);
        let load = MachineLoad::now();
        let (ended, wall) = run_job(&job, &dir.join(OUTPUT_LOG), timeout, interrupt, tell)?;
        let mut entry = Entry::new(key);
        // What a batch system starts, here or elsewhere, is no child of this process.
        let load = load.filter(|_| job.submission.is_none()).zip(MachineLoad::now());
        entry.others_cpu_seconds = load.map(|(before, after)| before.others_until(after));
        entry.wall_seconds = wall.as_secs_f64();
        entry.started_unix_seconds = since_1970.as_secs();
        entry.oversubscribed = job.oversubscribed;
        let entry = match ended {
            Ended::Interrupted(signal) => return Ok((entry, Some(signal))),
            Ended::Badly(reason) => entry.failed(reason),
            Ended::TimedOut => entry.failed(format!("not done after {:.0} s", wall.as_secs_f64())),
            Ended::Well => match self.answer.objection(&dir, &dir.join(OUTPUT_LOG), key.processors()) {
                Some(objection) => entry.failed(objection),
                None => self.check(entry, &dir, interrupt),
            },
        };
        Ok((entry, None))
    }

    /// Notes what the measurements of a run that ended well say of it.
    fn check(&self, mut entry: Entry, dir: &Path, interrupt: &Interrupt) -> Entry {
        let look = || {
            Completeness::of(
                dir,
                &self.options,
                &self.launcher,
                self.flavour,
                entry.key.scale as usize,
                entry.key.threads as usize,
            )
        };
        let deadline = Instant::now() + SETTLING;
        let mut found = look();
        while found.may_come
            && self.launcher.is_slurm()
            && interrupt.signal().is_none()
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_secs(1));
            found = look();
        }
        entry.ranks = found.ranks;
        entry.oversubscribed |= found.oversubscribed;
        match found.objection {
            Some(objection) => entry.failed(objection),
            None => entry,
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
    let grid = !plan.manner.threads.is_empty();
    let counts: Vec<u32> = plan.runs().iter().map(|key| key.processors()).collect();
    let mut arguments = Vec::new();
    for text in &plan.manner.arguments {
        let argument = Argument::parse(text).map_err(wrong)?;
        if let Some(n) = argument.missing(&counts).first() {
            return Err(wrong(format!("argument `{}` has no value at n = {n}", argument.name())));
        }
        if grid && ["threads", "p"].contains(&argument.name()) {
            return Err(wrong(format!("{{{}}} has a meaning already with `--threads`", argument.name())));
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
