//! The outlook of a sweep: everything that `falloff model` shows.

use std::path::PathBuf;
use std::sync::Arc;

use falloff_models::{EXTRAPOLATION_MAX, Scale};
use falloff_postprocess::{Database, OpenOptions, Tree};
use rayon::prelude::*;

use super::note::{Note, notes};
use super::part::{Part, Place};
use super::sections::{Grid, Marked, RunSections};
use super::standing::rank;
use super::terms::{AskedTerms, LinearForm};
use super::whole::Whole;
use crate::bounds::{Parts, Series};
use crate::plan::RunKey;
use crate::results::Results;
use crate::scoring::{Aligned, Columns, Participants, Run, RunHealth, Scaling, check_metric};
use crate::{Error, Result};

/// What the user asks in place of the default.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Metric; what is scored by default if not given.
    pub metric: Option<String>,
    /// How the problem grows; the sweep's own if not given.
    pub scaling: Option<Scaling>,
    /// Processor counts to predict; twice and eight times the largest if none is given.
    pub targets: Vec<u32>,
    /// How runs are opened.
    pub open: OpenOptions,
    /// Counts that the time is made of, if the user knows some.
    pub terms: AskedTerms,
}

/// What columns of a sweep are asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The sweep's directory, for messages.
    pub dir: PathBuf,
    /// Metric, in nanoseconds.
    pub metric: String,
    /// How the problem grows.
    pub scaling: Scaling,
    /// Processor counts to predict; twice and eight times the largest if none is given.
    pub targets: Vec<u32>,
    /// Asked time between samples, seconds.
    pub period: f64,
    /// Names of the runs of each count, smallest count first, in the order of their repetitions.
    pub runs: Vec<Vec<String>>,
}

/// What a sweep says of counts at which nobody ran the program.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// Metric.
    pub metric: String,
    /// How the problem grows.
    pub scaling: Scaling,
    /// Counts that are predicted, smallest first.
    pub targets: Vec<u32>,
    /// The largest of these that models reach; parts are in the order of their times there. `None` if all are too far.
    pub ranked_at: Option<u32>,
    /// The whole run.
    pub whole: Whole,
    /// Its parts, which have all of its time: by predicted time at [`Outlook::ranked_at`], then those of which nothing is predicted there
    /// by their time at the largest count.
    pub parts: Vec<Part>,
    /// Sections that the program has marked; `None` if it has marked nothing.
    pub sections: Option<Marked>,
    /// How many threads they are best run with; `None` if nothing is marked or the sweep is none over processes and threads.
    pub grid: Option<Grid>,
    /// Data that do not fit together: those of the whole run, then those of parts, in their order.
    pub notes: Vec<Note>,
    /// The time of the whole run by the counts that it is made of, if these were asked for.
    pub form: Option<Arc<LinearForm>>,
    /// Cost of threads that the application did not start, over all runs; it is in no model. Seconds.
    pub helper_seconds: f64,
    /// State of the measurements.
    pub health: RunHealth,
}

/// Targets if none is given, in times of the largest count.
const TARGETS: [u32; 2] = [2, EXTRAPOLATION_MAX as u32];

impl Outlook {
    /// Models the good runs of a sweep.
    ///
    /// # Errors
    /// There are good runs at fewer than two counts, the metric is no time that was measured, or the runs were measured by unlike clocks.
    pub fn new(results: &Results, asked: &Asked) -> Result<Outlook> {
        results.check_some_good()?;
        let plan = &results.state.plan;
        let metric = asked.metric.clone().unwrap_or_else(|| results.default_metric());
        check_metric(&results.runs, &metric, "model")?;
        results.check_clocks(&metric)?;
        let unmeasured = || Error::NotEnoughRuns {
            path: results.state.dir.clone(),
            reason: format!("`{metric}` was not measured in every run"),
        };
        let Aligned { tree, columns, maps } = Aligned::new(&results.runs, &metric).ok_or_else(unmeasured)?;
        let last = columns.scales.last().map_or(0, |scale| scale.scale);
        let mut participants = Participants::new(tree.len());
        let runs = results.runs.iter().zip(&maps);
        for (run, map) in runs.filter(|(run, _)| run.scale == last) {
            participants.add(&run.database, map, &metric);
        }
        let names = |scale: u32| {
            let mut keys: Vec<_> =
                results.state.good.iter().filter(|key| key.processors() == scale).collect();
            keys.sort_by_key(|key| key.repetition);
            keys.into_iter().map(ToString::to_string).collect()
        };
        let question = Question {
            dir: results.state.dir.clone(),
            metric,
            scaling: asked.scaling.unwrap_or(plan.scaling),
            targets: asked.targets.clone(),
            period: 1.0 / f64::from(plan.rate_hz),
            runs: columns.scales.iter().map(|scale| names(scale.scale)).collect(),
        };
        let health = RunHealth::of(&results.runs);
        let mut outlook = Outlook::of_columns(&tree, &columns, &question, &participants, health)?;
        let runs: Vec<(f64, &Run)> = results.runs.iter().map(|run| (1.0, run)).collect();
        let form = asked.terms.fit(&outlook.whole.series.times, &runs, &outlook.scales())?;
        outlook.form = form.map(Arc::new);
        let on_line = results.state.good.iter().zip(&results.runs).map(|(key, run)| (*key, &run.database));
        let of = |(key, database): (RunKey, &Database)| {
            RunSections::of(database.sections(), database.locations(), key.scale, key.threads)
        };
        let mut runs: Vec<RunSections> = on_line.map(of).collect();
        let sections = Marked::new(runs.clone(), outlook.scaling, &outlook.targets)?;
        if sections.is_none() || results.state.line.is_none() {
            return Ok(Outlook { sections, ..outlook });
        }
        let beside = results.beside_line(&asked.open)?;
        runs.extend(beside.iter().map(|(key, database)| of((*key, database))));
        let is_good =
            |key: &RunKey| results.state.good.contains(key) || beside.iter().any(|(good, _)| good == key);
        let missing = plan.runs().iter().filter(|key| !is_good(key)).map(RunKey::to_string).collect();
        let grid = Grid::new(&runs, missing, outlook.scaling)?;
        Ok(Outlook { sections, grid, ..outlook })
    }

    /// Models columns of exclusive cost over a tree; `participants` has the costs at the largest count.
    ///
    /// # Errors
    /// There are fewer than two counts, or a count without any cost.
    pub fn of_columns(
        tree: &Tree,
        columns: &Columns,
        question: &Question,
        participants: &Participants,
        health: RunHealth,
    ) -> Result<Outlook> {
        let too_few = |reason: String| Error::NotEnoughRuns { path: question.dir.clone(), reason };
        let counts: Vec<u32> = columns.scales.iter().map(|scale| scale.scale).collect();
        let [_, .., largest] = counts[..] else {
            let at = counts.first().map_or("no count".into(), u32::to_string);
            return Err(too_few(format!("good runs are there at {at} only, two counts are needed")));
        };
        let targets = targets(&question.targets, largest);
        let reach = EXTRAPOLATION_MAX * f64::from(largest);
        let ranked = targets.iter().rposition(|target| f64::from(*target) <= reach);

        let parts = Parts::new(tree, columns);
        let wholes: Vec<f64> = parts.costs.iter().map(|column| column.iter().sum()).collect();
        if wholes.contains(&0.0) {
            return Err(too_few(format!("a run has no `{}` cost at all", question.metric)));
        }
        let period = columns.period(question.period);
        let series = |work: &[f64]| Series::new(columns, question.scaling, period, &wholes, work);
        let whole = Whole::new(series(&wholes)?, question.scaling, &targets)?;
        let spread = parts.max_over_mean(participants);
        let part = |(place, contexts): (Option<Place>, &[u32])| {
            let sum = |column: &Vec<f64>| contexts.iter().map(|context| column[*context as usize]).sum();
            let work: Vec<f64> = parts.costs.iter().map(sum).collect();
            let spread = place.as_ref().and_then(|place| spread[place.context as usize]);
            let whole = (&whole.series, &whole.forecast);
            let asked = (question.scaling, &targets[..]);
            Part::new((place, contexts.len()), series(&work)?, spread, whole, asked)
        };
        let mut parts = Place::all(&parts, tree)
            .into_par_iter()
            .map(part)
            .collect::<falloff_models::Result<Vec<Part>>>()?;
        rank(&mut parts, ranked);

        let mut found = notes(None, &whole.series, &whole.forecast, &question.runs);
        let of_parts = parts.iter().enumerate().filter(|(_, part)| !part.standing.is_rare());
        found.extend(
            of_parts.flat_map(|(index, p)| notes(Some(index), &p.series, &p.forecast, &question.runs)),
        );
        Ok(Outlook {
            metric: question.metric.clone(),
            scaling: question.scaling,
            ranked_at: ranked.map(|target| targets[target]),
            targets,
            whole,
            parts,
            sections: None,
            grid: None,
            notes: found,
            form: None,
            helper_seconds: columns.helper_seconds,
            health,
        })
    }

    /// Smallest and largest count measured.
    pub fn ends(&self) -> (f64, f64) {
        (self.whole.series.times.get(0).scale.p, self.whole.series.last().scale.p)
    }

    /// The counts that are predicted.
    pub fn scales(&self) -> Vec<Scale> {
        self.targets.iter().map(|target| Scale::processors(f64::from(*target))).collect()
    }

    /// Where the count that is ranked is among the targets.
    pub fn ranked(&self) -> Option<usize> {
        self.targets.iter().position(|target| Some(*target) == self.ranked_at)
    }
}

/// The counts to predict, each once, smallest first.
fn targets(asked: &[u32], largest: u32) -> Vec<u32> {
    let mut targets = match asked {
        [] => TARGETS.map(|times| largest.saturating_mul(times)).to_vec(),
        asked => asked.to_vec(),
    };
    targets.sort_unstable();
    targets.dedup();
    targets
}
