//! `falloff sweep`: runs of a program at several processor counts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use falloff_workflow::backends::Interrupt;
use falloff_workflow::exit;
use falloff_workflow::journal::{Entry, State};
use falloff_workflow::plan::{Manner, Plan, RunKey};
use falloff_workflow::results::Results;
use falloff_workflow::scoring::Scaling;
use falloff_workflow::sweep::{OUTPUT_LOG, Outcome, Progress, Sweep};

use crate::args::SweepArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::values::next_free;

/// Carries out the sweep, or prints its commands.
pub fn sweep(args: &SweepArgs, output: &Output) -> Result<i32, Failure> {
    let scaling = if args.weak { Scaling::Weak } else { Scaling::Strong };
    let plan = Plan::new(args.program.clone(), args.launcher.clone(), scaling, args.scales.clone());
    let mut plan = plan.measuring(args.measure.request(args.rate)?)?;
    plan.repetitions = args.repeat;
    plan.timeout_seconds = args.timeout.map(|t| t.as_secs_f64());
    plan.manner = Manner {
        arguments: args.arguments.clone(),
        environment: args.environment.clone(),
        expectations: args.expect.iter().map(|own| own.text().to_owned()).collect(),
        check: args.check.clone(),
        check_command: args.check_command.clone(),
        warm_up: args.warm_up,
        retries: args.retries,
    };
    let program = args.program.first().map_or(OsStr::new(""), OsStr::new);
    let dir = args.output.clone().unwrap_or_else(|| next_free("falloff-sweep", program));
    let options = args.debug.options();
    let sweep = Sweep::new(plan, &dir, &own_executable()?)?.opened_with(options.clone());
    if args.dry_run {
        return dry_run(&sweep, output);
    }
    let outcome = carry_out(&sweep, &dir, output)?;
    if let Some(signal) = outcome.interrupted {
        output.warn("falloff: interrupted; the same command goes on from here");
        leave_by(signal);
    }
    if !outcome.failed.is_empty() {
        return Err(failed(&outcome, &dir));
    }
    Results::open(&dir, &options)?.check_comparable()?;
    output.note(&format!("next: falloff score {}", dir.display()));
    Ok(exit::OK)
}

/// Carries out a sweep with a line for each run.
pub fn carry_out(sweep: &Sweep, dir: &Path, output: &Output) -> Result<Outcome, Failure> {
    let interrupt = Interrupt::catch().map_err(|e| Failure {
        message: format!("failed to catch signals: {e}"),
        hint: None,
        code: exit::INCOMPLETE,
    })?;
    let plan = sweep.plan();
    for line in sweep.notices() {
        output.warn(&format!("falloff: {line}"));
    }
    let count = plan.warm_ups().len() + plan.runs().len();
    let mut done = 0;
    let mut pace = Pace::default();
    let outcome = sweep.carry_out(&interrupt, |progress| match progress {
        Progress::Ready => {
            output.note(&format!("{count} runs of `{}` into {}", plan.program.join(" "), dir.display()));
        }
        Progress::Begins(_) => done += 1,
        Progress::Kept(entry) => {
            done += 1;
            output.note(&format!("{} kept from before", label(done, count, entry.key)));
        }
        Progress::Again(entry) => {
            output.warn(&format!("{} {}; once more", label(done, count, entry.key), ending(entry, dir)));
        }
        Progress::Ended(entry) => {
            let left = pace.left(entry, count - done);
            let line = format!("{} {}{left}", label(done, count, entry.key), ending(entry, dir));
            match entry.state {
                State::Completed => output.note(&line),
                State::Failed => output.warn(&line),
            }
        }
    })?;
    Ok(outcome)
}

/// How long runs take.
#[derive(Default)]
struct Pace {
    seconds: f64,
    runs: usize,
}

impl Pace {
    /// Notes a run; says how long the others will take.
    fn left(&mut self, entry: &Entry, runs: usize) -> String {
        self.seconds += entry.wall_seconds;
        self.runs += 1;
        let seconds = self.seconds / self.runs as f64 * runs as f64;
        match seconds {
            s if runs == 0 || s < 10.0 => String::new(),
            s if s < 90.0 => format!(", about {:.0} s left", s),
            s if s < 5400.0 => format!(", about {:.0} min left", s / 60.0),
            s => format!(", about {:.1} h left", s / 3600.0),
        }
    }
}

fn label(done: usize, count: usize, key: RunKey) -> String {
    format!("[{done}/{count}] n = {}, repetition {}:", key.scale, key.repetition)
}

fn ending(entry: &Entry, dir: &Path) -> String {
    let shared = if entry.oversubscribed { ", more processes than processors" } else { "" };
    match &entry.reason {
        None => format!("{:.2} s{shared}", entry.wall_seconds),
        Some(reason) => {
            format!("FAILED: {reason}; see {}", dir.join(entry.key.directory()).join(OUTPUT_LOG).display())
        }
    }
}

fn dry_run(sweep: &Sweep, output: &Output) -> Result<i32, Failure> {
    let mut text = String::new();
    for key in sweep.plan().runs() {
        text.push_str(&format!("# {key}\n"));
        for line in sweep.job(key, "RUN_ID").lines() {
            text.push_str(&format!("{line}\n"));
        }
    }
    output.data(&text)?;
    Ok(exit::OK)
}

fn failed(outcome: &Outcome, dir: &Path) -> Failure {
    let all = outcome.completed + outcome.failed.len();
    Failure {
        message: format!(
            "failed to complete {} of {all} runs; they are left out of the score",
            outcome.failed.len()
        ),
        hint: Some(format!(
            "see the {OUTPUT_LOG} files under {}; the same command repeats what failed",
            dir.join("runs").display()
        )),
        code: exit::PROGRAM_FAILED,
    }
}

/// The file of this program, which profiles the runs.
pub fn own_executable() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| Failure {
        message: format!("failed to find falloff's own executable: {e}"),
        hint: Some("start it by its full path".into()),
        code: exit::INCOMPLETE,
    })
}

/// Ends as the signal would have ended this process.
fn leave_by(signal: i32) -> ! {
    // If even that fails, the code that a shell gives for the signal says the same.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}
