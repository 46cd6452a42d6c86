//! Batch jobs of Slurm: submitted with `sbatch`, watched until they have left the queue, cancelled with the sweep.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::job::Ended;
use super::render::JobProcess;
use super::shell;
use crate::{Error, Result};

/// The script that is submitted. Its files are hidden in the run's directory, which `falloff run` wants empty but for those.
const SCRIPT: &str = ".job.sh";
/// The name by which the job is found again after the sweep was killed.
const NAME: &str = ".job.name";
/// What the script leaves behind: exit status, start and end in seconds since 1970.
const STATUS: &str = ".job.status";

/// Shortest and longest pause between two looks at the queue, which many users share.
const LOOKS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(10)];
/// How long a shared file system may take to show what the job has written.
const SETTLING: Duration = Duration::from_secs(60);
/// The same where the job was ended from outside and has hardly written anything.
const SETTLING_ENDED: Duration = Duration::from_secs(2);
/// How long Slurm may fail to answer, as while its controller is started again.
const SILENCE: Duration = Duration::from_secs(600);

/// A batch job that runs one process of a [`Job`](super::Job).
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Words of `sbatch` before the script.
    pub words: Vec<String>,
    /// Name of the job, which no other has.
    pub name: String,
    /// Directory of the run.
    pub dir: PathBuf,
}

/// What the queue says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Queued {
    /// Its state, and why it waits.
    In { state: String, reason: String },
    /// Slurm knows it no longer.
    Gone,
    /// Slurm does not answer.
    Silent(String),
}

impl Submission {
    /// The submission of a run with `tasks` tasks of `processors` processors each; `options` are the user's.
    pub fn new(
        dir: &Path,
        log: &Path,
        run_id: &str,
        (tasks, processors): (u32, u32),
        options: &[String],
    ) -> Self {
        let name = format!("falloff-{run_id}");
        // `%` begins a pattern there.
        let log = log.display().to_string().replace('%', "%%");
        let mut words = vec![
            "sbatch".to_owned(),
            "--parsable".into(),
            format!("--job-name={name}"),
            format!("--output={log}"),
            format!("--ntasks={tasks}"),
        ];
        if processors > 1 {
            words.push(format!("--cpus-per-task={processors}"));
        }
        words.extend(options.iter().cloned());
        Submission { words, name, dir: dir.to_owned() }
    }

    /// The command line that submits it.
    pub fn line(&self) -> String {
        let script = self.dir.join(SCRIPT).display().to_string();
        shell::line(&[], &[&self.words[..], &[script]].concat())
    }

    /// The script that is submitted.
    pub fn script(&self, process: &JobProcess) -> String {
        let status = self.dir.join(STATUS).display().to_string();
        let (new, status) = (shell::quote(&format!("{status}.new")), shell::quote(&status));
        let exports: String = (process.environment.iter())
            .map(|(name, value)| format!("export {name}={}\n", shell::quote(value)))
            .collect();
        // The file appears complete or not at all.
        format!(
            "#!/bin/sh\n{exports}started=$(date +%s.%N)\n{}\nstatus=$?\n\
             echo $status $started $(date +%s.%N) >{new} && mv {new} {status}\nexit $status\n",
            shell::line(&[], &process.words)
        )
    }
}

/// Runs a batch job to its end and gives the wall time of the job itself, without its time in the queue.
///
/// `tell` is told the job and its state whenever that changes. The time limit counts from when the job runs.
pub(super) fn run(
    submission: &Submission,
    process: &JobProcess,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
) -> Result<(Ended, Duration)> {
    let write = |name: &str, text: String| {
        let path = submission.dir.join(name);
        fs::write(&path, text).map_err(|e| Error::io("write", &path, e))
    };
    write(SCRIPT, submission.script(process))?;
    write(NAME, submission.name.clone())?;
    let id = match submit(submission) {
        Ok(id) => id,
        Err(reason) => return Ok((Ended::Badly(reason), Duration::ZERO)),
    };
    let mut pause = LOOKS[0];
    let (mut said, mut answered, mut running) = (String::new(), Instant::now(), None);
    let state = loop {
        let queued = look(&id);
        if let Queued::In { state, reason } = &queued {
            let now = if reason == "None" { state.clone() } else { format!("{state} ({reason})") };
            if now != said {
                tell(&format!("job {id} {now}"));
                (said, pause) = (now, LOOKS[0]);
            }
            if state == "RUNNING" {
                running.get_or_insert_with(Instant::now);
            }
        }
        match queued {
            Queued::In { state, .. } if has_ended(&state) => break Some(state),
            Queued::Gone => break None,
            Queued::Silent(reason) if answered.elapsed() > SILENCE => {
                cancel(&submission.name);
                return Ok((Ended::Badly(format!("Slurm does not answer: {reason}")), answered.elapsed()));
            }
            Queued::Silent(_) => {}
            Queued::In { .. } => answered = Instant::now(),
        }
        let late = timeout.zip(running).is_some_and(|(limit, since)| since.elapsed() >= limit);
        let stop = interrupt.signal().map(Ended::Interrupted).or(late.then_some(Ended::TimedOut));
        if let Some(ended) = stop {
            cancel(&submission.name);
            return Ok((ended, running.map_or(Duration::ZERO, |since| since.elapsed())));
        }
        wait(pause, interrupt);
        pause = (pause * 3 / 2).min(LOOKS[1]);
    };
    let from_outside = state.as_deref().is_some_and(|s| s != "COMPLETED" && s != "FAILED");
    let left = settle(&submission.dir, if from_outside { SETTLING_ENDED } else { SETTLING }, interrupt);
    let wall = running.map_or(Duration::ZERO, |since| since.elapsed());
    Ok(match (left, interrupt.signal()) {
        (Some((0, wall)), _) => (Ended::Well, wall),
        (Some((status, wall)), _) => (Ended::Badly(format!("exit status {status}")), wall),
        (None, Some(signal)) => (Ended::Interrupted(signal), wall),
        (None, None) => {
            let state = state.unwrap_or_else(|| "without a word".into());
            (Ended::Badly(format!("job {id} ended {state} and left no exit status")), wall)
        }
    })
}

/// Ends the job that an earlier sweep left for the run in `dir`, if there is one.
pub(crate) fn cancel_left_over(dir: &Path) {
    if let Ok(name) = fs::read_to_string(dir.join(NAME)) {
        cancel(name.trim());
    }
}

/// Submits the script; gives the job's number.
fn submit(submission: &Submission) -> std::result::Result<String, String> {
    let output = quiet(&submission.words[0])
        .args(&submission.words[1..])
        .arg(submission.dir.join(SCRIPT))
        .output()
        .map_err(|e| format!("failed to start `sbatch`: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // A cluster's name may stand behind the number.
    let id = text.trim().split(';').next().unwrap_or_default().to_owned();
    if output.status.success() && !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(id);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("sbatch refused: {}", said.lines().last().unwrap_or("it gave no job id").trim()))
}

fn look(id: &str) -> Queued {
    match quiet("squeue").args(["-h", "-t", "all", "-j", id, "-o", "%T %r"]).output() {
        Ok(output) => answer(
            output.status.success(),
            &String::from_utf8_lossy(&output.stdout),
            &String::from_utf8_lossy(&output.stderr),
        ),
        Err(error) => Queued::Silent(error.to_string()),
    }
}

fn answer(good: bool, stdout: &str, stderr: &str) -> Queued {
    match stdout.trim().split_once(' ') {
        Some((state, reason)) if good => Queued::In { state: state.into(), reason: reason.trim().into() },
        None if good || stderr.contains("Invalid job id") => Queued::Gone,
        _ => Queued::Silent(stderr.trim().lines().last().unwrap_or_default().to_owned()),
    }
}

/// States that a job does not leave.
fn has_ended(state: &str) -> bool {
    const LIVE: [&str; 12] = [
        "PENDING",
        "RUNNING",
        "CONFIGURING",
        "COMPLETING",
        "SUSPENDED",
        "REQUEUED",
        "REQUEUE_HOLD",
        "REQUEUE_FED",
        "RESIZING",
        "SIGNALING",
        "STAGE_OUT",
        "STOPPED",
    ];
    !LIVE.contains(&state)
}

/// Cancels the job of this name and waits until the queue no longer holds it, but not for ever.
fn cancel(name: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    // A job that has ended needs no cancelling, and Slurm that does not answer cannot do it.
    let _ = quiet("scancel").arg(format!("--jobname={name}")).output();
    let listed = || quiet("squeue").args(["-h", "-o", "%i", &format!("--name={name}")]).output();
    while listed().is_ok_and(|o| o.status.success() && !o.stdout.is_empty()) && Instant::now() < deadline {
        std::thread::sleep(LOOKS[0]);
    }
}

/// What the script left behind: exit status and wall time.
fn settle(dir: &Path, longest: Duration, interrupt: &Interrupt) -> Option<(i32, Duration)> {
    let deadline = Instant::now() + longest;
    loop {
        // Listing the directory makes a network file system look anew.
        let _ = fs::read_dir(dir).map(Iterator::count);
        if let Some(left) = fs::read_to_string(dir.join(STATUS)).ok().as_deref().and_then(parse_status) {
            return Some(left);
        }
        if Instant::now() >= deadline || interrupt.signal().is_some() {
            return None;
        }
        wait(LOOKS[0], interrupt);
    }
}

fn parse_status(text: &str) -> Option<(i32, Duration)> {
    let mut fields = text.split_whitespace();
    let status = fields.next()?.parse().ok()?;
    let mut seconds = || fields.next()?.parse::<f64>().ok();
    let (started, ended) = (seconds()?, seconds()?);
    Some((status, Duration::try_from_secs_f64(ended - started).unwrap_or_default()))
}

/// Sleeps, but not past the user's wish to stop.
fn wait(pause: Duration, interrupt: &Interrupt) {
    const STEP: Duration = Duration::from_millis(50);
    let deadline = Instant::now() + pause;
    while interrupt.signal().is_none() && Instant::now() < deadline {
        std::thread::sleep(STEP.min(pause));
    }
}

/// A command of Slurm, out of reach of the signals of the terminal, which end the sweep and not its clean-up.
fn quiet(program: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).process_group(0).env("LC_ALL", "C");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_understood() {
        let state = |text: &str| answer(true, text, "");
        assert_eq!(
            state("PENDING Resources\n"),
            Queued::In { state: "PENDING".into(), reason: "Resources".into() }
        );
        assert_eq!(state(""), Queued::Gone);
        assert_eq!(answer(false, "", "slurm_load_jobs error: Invalid job id specified\n"), Queued::Gone);
        let silent = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
        assert_eq!(answer(false, "", silent), Queued::Silent(silent.into()));
        assert!(!has_ended("COMPLETING") && !has_ended("PENDING"));
        assert!(has_ended("NODE_FAIL") && has_ended("COMPLETED"));
    }

    #[test]
    fn the_script_keeps_status_and_times() {
        let dir = tempfile::Builder::new().prefix("with 'quotes' ").tempdir().unwrap();
        let options = ["--partition=x".to_owned()];
        let submission = Submission::new(dir.path(), &dir.path().join("50%.log"), "abc", (4, 2), &options);
        let words = submission.words.join(" ");
        assert!(words.ends_with("50%%.log --ntasks=4 --cpus-per-task=2 --partition=x"), "{words}");
        let process = JobProcess {
            words: ["sh", "-c", "exit $CODE"].map(str::to_owned).to_vec(),
            environment: vec![("CODE".into(), "3".into())],
        };
        let script = dir.path().join(SCRIPT);
        fs::write(&script, submission.script(&process)).unwrap();
        assert_eq!(Command::new("sh").arg(&script).status().unwrap().code(), Some(3));
        let (status, wall) = settle(dir.path(), Duration::ZERO, &Interrupt::default()).unwrap();
        assert_eq!(status, 3);
        assert!(wall < Duration::from_secs(60));
        assert_eq!(parse_status("0 10.25 12.75\n"), Some((0, Duration::from_millis(2500))));
        assert_eq!(parse_status("0 10.2"), None);
    }
}
