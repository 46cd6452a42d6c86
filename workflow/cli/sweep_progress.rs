//! What a sweep says while it is carried out: a line for each run, and the time left.

use std::path::Path;

use falloff_workflow::backends::Interrupt;
use falloff_workflow::exit;
use falloff_workflow::interleave;
use falloff_workflow::journal::{Entry, State};
use falloff_workflow::plan::RunKey;
use falloff_workflow::sweep::{OUTPUT_LOG, Outcome, Progress, Sweep};

use crate::failure::Failure;
use crate::output::Output;

/// Carries out sweeps, in turns if there are several, with a line for each run.
pub fn carry_out(sweeps: &[&Sweep], output: &Output) -> Result<Vec<Outcome>, Failure> {
    let interrupt = Interrupt::catch().map_err(|e| Failure {
        message: format!("failed to catch signals: {e}"),
        hint: None,
        code: exit::INCOMPLETE,
    })?;
    for line in sweeps.first().map_or(&[][..], |sweep| sweep.notices()) {
        output.warn(&format!("falloff: {line}"));
    }
    let runs = |sweep: &&Sweep| sweep.plan().warm_ups().len() + sweep.plan().runs().len();
    let count: usize = sweeps.iter().map(runs).sum();
    let mut done = 0;
    let mut pace = Pace::default();
    let outcomes = interleave::carry_out(sweeps, &interrupt, |which, progress| {
        let sweep = sweeps[which];
        let label = |done: usize, key: RunKey| {
            let of = if sweeps.len() > 1 { format!("{}, ", name(sweep.dir())) } else { String::new() };
            format!("[{done}/{count}] {of}{}:", place(key))
        };
        match progress {
            Progress::Ready => {
                let program = sweep.plan().program.join(" ");
                output.note(&format!("{} runs of `{program}` into {}", runs(&sweep), sweep.dir().display()));
            }
            Progress::Begins(_) => done += 1,
            Progress::Kept(entry) => {
                done += 1;
                output.note(&format!("{} kept from before", label(done, entry.key)));
            }
            Progress::Queued(key, state) => output.note(&format!("{} {state}", label(done, key))),
            Progress::Again(entry) => {
                output.warn(&format!("{} {}; once more", label(done, entry.key), ending(entry, sweep.dir())));
            }
            Progress::Ended(entry) => {
                let left = pace.left(entry, count - done);
                let line = format!("{} {}{left}", label(done, entry.key), ending(entry, sweep.dir()));
                match entry.state {
                    State::Completed => output.note(&line),
                    State::Failed => output.warn(&line),
                }
            }
        }
    })?;
    Ok(outcomes)
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

/// The last part of a sweep's directory.
fn name(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn place(key: RunKey) -> String {
    format!("n = {}, repetition {}", key.place(), key.repetition)
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
