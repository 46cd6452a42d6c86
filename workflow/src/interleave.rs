//! Carrying out one sweep, or several over the same runs in turns, so that a slow hour of the machine falls on all of them.

use std::collections::BTreeMap;
use std::fs::File;

use crate::backends::Interrupt;
use crate::journal::{Entry, Journal, State};
use crate::plan::RunKey;
use crate::sweep::{Outcome, Progress, Sweep};
use crate::{Error, Result};

/// A sweep on its way.
struct Course<'a> {
    sweep: &'a Sweep,
    _lock: File,
    known: BTreeMap<RunKey, Entry>,
    journal: Journal,
    outcome: Outcome,
}

/// Carries out what is not done yet of sweeps that make the same runs; gives an outcome for each.
///
/// Each run is made by all sweeps, one after the other, in an order that changes from run to run, before the next is. A
/// run is checked when it ended: one that failed or lacks ranks is noted as failed and does not stop the sweep. The journals
/// are on the disk after each run, so that the same command goes on after any end. `tell` is told which sweep it is about.
///
/// # Errors
/// If the sweeps do not make the same runs, a directory holds something else, or a file cannot be written.
pub fn carry_out(
    sweeps: &[&Sweep],
    interrupt: &Interrupt,
    mut tell: impl FnMut(usize, Progress),
) -> Result<Vec<Outcome>> {
    let Some(plan) = sweeps.first().map(|sweep| sweep.plan()) else { return Ok(Vec::new()) };
    let runs = || plan.warm_ups().into_iter().chain(plan.runs());
    for other in &sweeps[1..] {
        if !other.plan().warm_ups().into_iter().chain(other.plan().runs()).eq(runs()) {
            return Err(Error::Incomparable {
                reason: "they do not make the same runs".into(),
                hint: "give both the same counts and repetitions".into(),
            });
        }
    }
    let mut courses = sweeps.iter().map(|sweep| Course::begin(sweep)).collect::<Result<Vec<_>>>()?;
    (0..courses.len()).for_each(|which| tell(which, Progress::Ready));
    'runs: for key in runs() {
        for which in key.turns(courses.len()) {
            courses[which].make(key, interrupt, &mut |progress| tell(which, progress))?;
            if courses[which].outcome.interrupted.is_some() {
                break 'runs;
            }
        }
    }
    Ok(courses.into_iter().map(|course| course.outcome).collect())
}

impl Course<'_> {
    fn begin(sweep: &Sweep) -> Result<Course<'_>> {
        let lock = sweep.claim()?;
        Ok(Course {
            sweep,
            _lock: lock,
            known: Journal::read(sweep.dir())?,
            journal: Journal::open(sweep.dir())?,
            outcome: Outcome::default(),
        })
    }

    /// Makes a run, unless it was completed before.
    fn make(&mut self, key: RunKey, interrupt: &Interrupt, tell: &mut dyn FnMut(Progress)) -> Result<()> {
        if let Some(entry) = self.known.get(&key).filter(|e| e.state == State::Completed) {
            tell(Progress::Kept(entry));
            self.outcome.completed += 1;
            return Ok(());
        }
        tell(Progress::Begins(key));
        let mut tries_left = self.sweep.plan().manner.retries;
        let entry = loop {
            let (entry, interrupted) =
                self.sweep.run(key, interrupt, &mut |state| tell(Progress::Queued(key, state)))?;
            if interrupted.is_some() {
                self.outcome.interrupted = interrupted;
                return Ok(());
            }
            if entry.state == State::Completed || tries_left == 0 {
                break entry;
            }
            tries_left -= 1;
            tell(Progress::Again(&entry));
        };
        self.journal.append(&entry)?;
        tell(Progress::Ended(&entry));
        match entry.state {
            State::Completed => self.outcome.completed += 1,
            State::Failed => self.outcome.failed.push(entry),
        }
        Ok(())
    }
}
