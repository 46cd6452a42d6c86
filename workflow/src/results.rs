//! What a sweep has measured so far.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use falloff_postprocess::{ClockGroups, Database, OpenOptions, is_merged, open};
use falloff_profiler::{MEASUREMENTS, RUN_FILE};
use rayon::prelude::*;

use crate::bounds::BoundsOf;
use crate::causes::Charge;
use crate::grid::{Line, Point, pair};
use crate::journal::{Entry, Journal, State};
use crate::plan::{PLAN_FILE, Plan, RunKey};
use crate::scoring::{Aligned, OwnExpectation, Question, Run, Scaling, Score, TIME};
use crate::template::Argument;
use crate::transfer::transfer_efficiencies;
use crate::{Error, Result};

/// What was planned and what of it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepState {
    /// Directory of the sweep.
    pub dir: PathBuf,
    /// What was planned.
    pub plan: Plan,
    /// Runs that can be scored.
    pub good: Vec<RunKey>,
    /// Runs that failed.
    pub failed: Vec<Entry>,
    /// Runs that were never made.
    pub missing: Vec<RunKey>,
    /// Which pairs of processes and threads are looked at, in a sweep over both. The runs below are those.
    pub line: Option<Line>,
    /// Processor counts that were more than the machine has.
    pub oversubscribed: Vec<u32>,
    /// Good runs during which other programs kept this machine busy, with the processors that they used on average.
    pub disturbed: Vec<(RunKey, f64)>,
}

/// Processors that other programs may use on average before a run counts as disturbed.
const DISTURBING: f64 = 0.1;

/// A sweep with its good runs opened.
pub struct Results {
    /// What is there.
    pub state: SweepState,
    /// Runs that can be scored.
    pub runs: Vec<Run>,
}

/// What the user asks in place of the default.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Metric; `time` if not given, or `cpu` where only that was measured.
    pub metric: Option<String>,
    /// Base scale.
    pub base: Option<u32>,
    /// Compared scale.
    pub at: Option<u32>,
    /// Expectation; the sweep's own if not given, with what it expects of some call paths.
    pub scaling: Option<Scaling>,
    /// To which call paths waiting for the last is charged.
    pub charge: Charge,
    /// Further expectations of some call paths, which count before the sweep's.
    pub own: Vec<OwnExpectation>,
    /// Values of the names in these, beside the sweep's.
    pub arguments: Vec<Argument>,
    /// Whether the callers view is wanted: it may have many times the rows of the tree.
    pub callers: bool,
    /// Whether the steps from count to count are wanted for every call path.
    pub steps: bool,
    /// Whose bounds are wanted.
    pub bounds: BoundsOf,
    /// Whether the parts of communication efficiency are wanted: for them the logs of calls of MPI are replayed.
    pub network: bool,
}

impl Results {
    /// Opens the sweep in `dir`; runs that were not merged yet are merged.
    pub fn open(dir: &Path, options: &OpenOptions) -> Result<Results> {
        Results::open_line(dir, options, &[])
    }

    /// The same, with these pairs of processes and threads where a grid has several with the same processor count.
    pub fn open_line(dir: &Path, options: &OpenOptions, wanted: &[Point]) -> Result<Results> {
        if !Plan::exists(dir) {
            return Err(not_a_sweep(dir));
        }
        let plan = Plan::read(dir)?;
        let journal = Journal::read(dir)?;
        let line = (!plan.manner.threads.is_empty()).then(|| Line::through(&plan, wanted));
        let mut planned = plan.runs();
        planned.retain(|key| line.as_ref().is_none_or(|line| line.holds(*key)));
        let state = SweepState {
            dir: dir.to_owned(),
            plan,
            good: Vec::new(),
            failed: Vec::new(),
            missing: Vec::new(),
            line,
            oversubscribed: Vec::new(),
            disturbed: Vec::new(),
        };
        let mut results = Results { state, runs: Vec::new() };
        let completed = |key: &&RunKey| journal.get(key).is_some_and(|entry| entry.state == State::Completed);
        let keys: Vec<RunKey> = planned.iter().filter(completed).copied().collect();
        let mut opened = open_all(dir, &keys, options);
        for key in planned {
            match (journal.get(&key), opened.remove(&key)) {
                (None, _) => results.state.missing.push(key),
                (Some(entry), Some(database)) => results.add(entry, database),
                (Some(entry), None) => results.state.failed.push(entry.clone()),
            }
        }
        results.state.oversubscribed.sort_unstable();
        results.state.oversubscribed.dedup();
        Ok(results)
    }

    /// Opens the good runs of a grid that its line leaves out.
    pub(crate) fn beside_line(&self, options: &OpenOptions) -> Result<Vec<(RunKey, Database)>> {
        let SweepState { dir, plan, line, .. } = &self.state;
        let journal = Journal::read(dir)?;
        let completed = |key: &RunKey| journal.get(key).is_some_and(|entry| entry.state == State::Completed);
        let on_line = |key: &RunKey| line.as_ref().is_none_or(|line| line.holds(*key));
        let keys: Vec<RunKey> =
            plan.runs().into_iter().filter(|key| !on_line(key) && completed(key)).collect();
        let opened = open_all(dir, &keys, options);
        Ok(opened.into_iter().filter_map(|(key, database)| Some((key, database.ok()?))).collect())
    }

    /// A run that cannot be opened any more is one that failed.
    fn add(&mut self, entry: &Entry, database: Opened) {
        match database {
            Ok(database) => {
                self.state.good.push(entry.key);
                if entry.oversubscribed {
                    self.state.oversubscribed.push(entry.key.processors());
                }
                let others = entry.others_cpu_seconds.unwrap_or(0.0) / entry.wall_seconds;
                if others >= DISTURBING {
                    self.state.disturbed.push((entry.key, others));
                }
                self.runs.push(Run {
                    scale: entry.key.processors(),
                    repetition: entry.key.repetition,
                    wall_seconds: entry.wall_seconds,
                    database: database.without_helpers(),
                });
            }
            Err(error) => self.state.failed.push(entry.clone().failed(error.to_string())),
        }
    }

    /// Scores the good runs.
    pub fn score(&self, choice: &Choice) -> Result<Score> {
        Score::new(&self.runs, &self.question(choice)?)
    }

    /// The same, with the columns that it is of; `others` and `each` as in [`Score::with_columns`].
    pub(crate) fn score_with_columns(
        &self,
        choice: &Choice,
        others: impl FnOnce(&Aligned, (u32, u32)) -> Vec<(u32, u32)>,
        each: impl FnMut(&Score),
    ) -> Result<(Score, Aligned)> {
        Score::with_columns(&self.runs, &self.question(choice)?, others, each)
    }

    fn question(&self, choice: &Choice) -> Result<Question> {
        self.check_some_good()?;
        let plan = &self.state.plan;
        let swept = if choice.scaling.is_none() {
            parsed(&self.state.dir, &plan.manner.expectations, OwnExpectation::parse)?
        } else {
            Vec::new()
        };
        let arguments = parsed(&self.state.dir, &plan.manner.arguments, Argument::parse)?;
        let question = Question {
            dir: self.state.dir.clone(),
            metric: choice.metric.clone().unwrap_or_else(|| self.default_metric()),
            base: choice.base,
            at: choice.at,
            scaling: choice.scaling.unwrap_or(plan.scaling),
            own: swept.into_iter().chain(choice.own.iter().cloned()).collect(),
            arguments: arguments.into_iter().chain(choice.arguments.iter().cloned()).collect(),
            period: 1.0 / f64::from(plan.rate_hz),
            callers: choice.callers,
            steps: choice.steps,
            bounds: choice.bounds,
            charge: choice.charge,
            transfer: BTreeMap::new(),
        };
        self.check_clocks(&question.metric)?;
        // Of CPU time only a part is the run's.
        let is_wanted = choice.network && question.metric == TIME;
        let transfer = if is_wanted { transfer_efficiencies(self) } else { BTreeMap::new() };
        Ok(Question { transfer, ..question })
    }

    /// Fails if no run is good.
    pub(crate) fn check_some_good(&self) -> Result<()> {
        if !self.runs.is_empty() {
            return Ok(());
        }
        let (failed, missing) = (self.state.failed.len(), self.state.missing.len());
        Err(Error::NotEnoughRuns {
            path: self.state.dir.clone(),
            reason: format!(
                "none of its {} runs is good ({failed} failed, {missing} not made)",
                failed + missing
            ),
        })
    }

    /// Adds the clocks of the good runs.
    pub(crate) fn add_clocks(&self, groups: &mut ClockGroups) {
        for (key, run) in self.state.good.iter().zip(&self.runs) {
            groups.add(&key.to_string(), run.database.clocks());
        }
    }

    /// The metric that is scored if none is named: the measurement's own default, but `cpu` where processes had to share
    /// processors, because their time is then the scheduler's more than the program's.
    pub(crate) fn default_metric(&self) -> String {
        const SHARED: &str = "cpu";
        let first = self.runs.first().map(|run| &run.database);
        let shared = first.filter(|_| !self.state.oversubscribed.is_empty()).and_then(|d| d.metric(SHARED));
        let metric = shared.or_else(|| first?.default_metric());
        metric.map_or_else(String::new, |metric| metric.name.clone())
    }

    /// Fails if the good runs were measured by clocks that cannot be compared in the metric that is scored if none is
    /// named.
    pub fn check_comparable(&self) -> Result<()> {
        self.check_clocks(&self.default_metric())
    }

    /// Fails if the good runs were measured by clocks that cannot be compared in this metric.
    pub fn check_clocks(&self, metric: &str) -> Result<()> {
        let mut groups = ClockGroups::for_metric(metric);
        self.add_clocks(&mut groups);
        match groups.unlike() {
            None => Ok(()),
            Some(groups) => Err(Error::UnlikeClocks { path: self.state.dir.clone(), groups }),
        }
    }
}

impl SweepState {
    /// Good and planned runs at a scale.
    pub fn good_of(&self, scale: u32) -> (usize, u32) {
        (self.good.iter().filter(|key| key.processors() == scale).count(), self.plan.repetitions)
    }

    /// The pairs of processes and threads, `4x2`, by processor count; none unless the sweep is over both.
    pub fn pairs(&self) -> BTreeMap<u32, String> {
        let chosen = self.line.iter().flat_map(|line| &line.chosen);
        chosen.map(|(count, of)| (*count, pair(of))).collect()
    }

    /// What a processor count is called: `8`, or `8 (4x2)` in a sweep over processes and threads.
    pub fn name(&self, count: u32) -> String {
        match self.line.as_ref().and_then(|line| line.chosen.get(&count)) {
            Some(of) => format!("{count} ({})", pair(of)),
            None => count.to_string(),
        }
    }
}

type Opened = std::result::Result<Database, falloff_postprocess::Error>;

/// Opens runs. Those that were merged before are read side by side; the others, whose merging needs memory and all processors,
/// one after the other.
fn open_all(dir: &Path, keys: &[RunKey], options: &OpenOptions) -> BTreeMap<RunKey, Opened> {
    let open_one = |key: &RunKey| (*key, open(&dir.join(key.directory()), options));
    let (merged, others): (Vec<RunKey>, Vec<RunKey>) =
        keys.iter().partition(|key| is_merged(&dir.join(key.directory())));
    let mut opened: BTreeMap<RunKey, Opened> = merged.par_iter().map(open_one).collect();
    opened.extend(others.iter().map(open_one));
    opened
}

/// What texts of a sweep's plan mean.
fn parsed<T>(
    dir: &Path,
    texts: &[String],
    parse: fn(&str) -> std::result::Result<T, String>,
) -> Result<Vec<T>> {
    let malformed = |reason| Error::Malformed { path: dir.join(PLAN_FILE), reason };
    texts.iter().map(|text| parse(text).map_err(malformed)).collect()
}

fn not_a_sweep(dir: &Path) -> Error {
    let (reason, hint) = if !dir.is_dir() {
        ("there is no such directory".to_owned(), "check the name".to_owned())
    } else if dir.join(RUN_FILE).exists() || dir.join(MEASUREMENTS).exists() {
        (
            "it holds one run, and several are compared".to_owned(),
            format!("look at it with `falloff view {}`, or make a sweep with `falloff sweep`", dir.display()),
        )
    } else {
        (
            "it holds no sweep".to_owned(),
            format!("make one with `falloff sweep -n 1,2,4 -o {} -- ./app`", dir.display()),
        )
    };
    Error::NotASweep { path: dir.to_owned(), reason, hint }
}
