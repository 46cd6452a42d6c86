//! Starting the processes of a job and waiting for their end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::batch;
use super::interrupt::Interrupt;
use super::render::Job;
use crate::{Error, Result};

/// How long the others have to end by themselves when one process has failed: they often fail of the same cause,
/// and what they say about it belongs in the log.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long processes have between the request to end and their death.
const GRACE: Duration = Duration::from_secs(5);
/// Longest pause between two looks at the processes.
const LOOK: Duration = Duration::from_millis(10);

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every process ended with status 0.
    Well,
    /// One did not; the others were ended.
    Badly(String),
    /// The time was up.
    TimedOut,
    /// The user asked to stop by this signal.
    Interrupted(i32),
}

/// Runs a job to its end, with the output of all its processes going to the file `log`, and gives its wall time.
///
/// Each process is the leader of its own group, so that what it started ends with it. A batch job is submitted instead; `tell`
/// is told its state whenever that changes, and its wall time is without that in the queue.
pub fn run_job(
    job: &Job,
    log: &Path,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
) -> Result<(Ended, Duration)> {
    if let (Some(submission), [process]) = (&job.submission, &job.processes[..]) {
        return batch::run(submission, process, timeout, interrupt, tell);
    }
    let output =
        OpenOptions::new().create(true).append(true).open(log).map_err(|e| Error::io("write", log, e))?;
    let started = Instant::now();
    let mut running = Vec::new();
    let mut ended = None;
    for process in &job.processes {
        let mut command = Command::new(&process.words[0]);
        command.args(&process.words[1..]).envs(process.environment.iter().cloned());
        match spawn(&mut command, &output) {
            Ok(child) => running.push(child),
            Err(error) => {
                ended = Some(Ended::Badly(format!("failed to start `{}`: {error}", process.words[0])));
                break;
            }
        }
    }
    let mut pause = Duration::from_millis(1);
    while ended.is_none() && !running.is_empty() {
        ended = reap(&mut running);
        if ended.is_none() && !running.is_empty() {
            ended = match (interrupt.signal(), timeout) {
                (Some(signal), _) => Some(Ended::Interrupted(signal)),
                (None, Some(limit)) if started.elapsed() >= limit => Some(Ended::TimedOut),
                _ => None,
            };
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        }
    }
    if matches!(ended, Some(Ended::Badly(_))) {
        wait_for(&mut running, PATIENCE);
    }
    end(&mut running);
    Ok((ended.unwrap_or(Ended::Well), started.elapsed()))
}

/// Starts a process that is asked to end when the sweep dies, so that no launcher goes on after a killed sweep.
#[expect(unsafe_code, reason = "only a process itself can ask for a signal at its parent's death")]
fn spawn(command: &mut Command, output: &File) -> io::Result<Child> {
    let parent = nix::unistd::getpid();
    let die_with_parent = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
        // It may have died before that.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    // SAFETY: between fork and exec, two system calls without memory of their own.
    unsafe { command.pre_exec(die_with_parent) };
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .process_group(0)
        .spawn()
}

/// Takes the processes that ended off the list; gives the first bad end.
fn reap(running: &mut Vec<Child>) -> Option<Ended> {
    let mut bad = None;
    running.retain_mut(|child| match child.try_wait() {
        Ok(None) => true,
        Ok(Some(status)) if status.success() => false,
        Ok(Some(status)) => {
            bad.get_or_insert_with(|| Ended::Badly(describe(status)));
            false
        }
        Err(error) => {
            bad.get_or_insert_with(|| Ended::Badly(format!("failed to wait for a process: {error}")));
            false
        }
    });
    bad
}

/// Ends what still runs: asks, waits, and kills.
fn end(running: &mut Vec<Child>) {
    signal_all(running, Signal::SIGTERM);
    wait_for(running, GRACE);
    signal_all(running, Signal::SIGKILL);
    for mut child in running.drain(..) {
        // It was killed; there is nothing to learn from its status.
        let _ = child.wait();
    }
}

/// Waits until all have ended, but not longer than this.
fn wait_for(running: &mut Vec<Child>, longest: Duration) {
    let deadline = Instant::now() + longest;
    reap(running);
    while !running.is_empty() && Instant::now() < deadline {
        std::thread::sleep(LOOK);
        reap(running);
    }
}

fn signal_all(running: &[Child], signal: Signal) {
    for child in running {
        if let Ok(pid) = i32::try_from(child.id()) {
            // The group may have ended a moment ago.
            let _ = killpg(Pid::from_raw(pid), signal);
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(number) => match Signal::try_from(number) {
            Ok(signal) => format!("killed by {signal}"),
            Err(_) => format!("killed by signal {number}"),
        },
        None => format!("exit status {}", status.code().unwrap_or(-1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::render::JobProcess;
    use super::*;

    fn run(scripts: &[&str], timeout: Option<Duration>) -> (Ended, Duration, String) {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let process = |script: &&str| JobProcess {
            words: ["sh", "-c", script].map(str::to_owned).to_vec(),
            environment: vec![("GREETING".into(), "hello".into())],
        };
        let job =
            Job { processes: scripts.iter().map(process).collect(), submission: None, oversubscribed: false };
        let (ended, wall) = run_job(&job, &log, timeout, &Interrupt::default(), &mut |_| {}).unwrap();
        (ended, wall, std::fs::read_to_string(&log).unwrap())
    }

    #[test]
    fn output_goes_to_the_log() {
        let (ended, _, log) = run(&["echo $GREETING; echo trouble >&2"], None);
        assert_eq!((ended, log.as_str()), (Ended::Well, "hello\ntrouble\n"));
    }

    #[test]
    fn one_failure_ends_the_others() {
        let (ended, wall, _) = run(&["exit 3", "sleep 60"], None);
        assert_eq!(ended, Ended::Badly("exit status 3".into()));
        assert!(wall < Duration::from_secs(30));
    }

    #[test]
    fn signals_are_named() {
        assert_eq!(run(&["kill -9 $$"], None).0, Ended::Badly("killed by SIGKILL".into()));
    }

    #[test]
    fn time_can_be_up() {
        assert_eq!(run(&["sleep 60"], Some(Duration::from_millis(50))).0, Ended::TimedOut);
    }

    #[test]
    fn a_missing_program_is_a_bad_end() {
        let job = Job {
            processes: vec![JobProcess { words: vec!["/no/such".into()], environment: vec![] }],
            submission: None,
            oversubscribed: false,
        };
        let dir = tempfile::tempdir().unwrap();
        let (ended, _) =
            run_job(&job, &dir.path().join("log"), None, &Interrupt::default(), &mut |_| {}).unwrap();
        assert!(matches!(ended, Ended::Badly(text) if text.contains("/no/such")));
    }

    #[test]
    fn the_user_can_stop_it() {
        let interrupt = Interrupt::default();
        interrupt.0.store(15, std::sync::atomic::Ordering::SeqCst);
        let job = Job {
            processes: vec![JobProcess {
                words: ["sleep", "60"].map(str::to_owned).to_vec(),
                environment: vec![],
            }],
            submission: None,
            oversubscribed: false,
        };
        let dir = tempfile::tempdir().unwrap();
        let (ended, _) = run_job(&job, &dir.path().join("log"), None, &interrupt, &mut |_| {}).unwrap();
        assert_eq!(ended, Ended::Interrupted(15));
    }
}
