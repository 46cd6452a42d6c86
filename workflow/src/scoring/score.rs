//! The score of a sweep: everything that a report shows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use falloff_postprocess::Tree;
use falloff_postprocess::views::ViewKind;

use super::columns::{Aligned, Columns, Run, ScaleColumns};
use super::divergence::Divergence;
use super::expectation::Scaling;
use super::imbalance::{Participants, imbalance};
use super::rows::{Comparison, ScoredView};
use super::scales::{ScaleSummary, summarise, whole};
use crate::{Error, Result};

/// What is asked of a sweep.
#[derive(Clone, Debug)]
pub struct Question {
    /// The sweep's directory, for messages.
    pub dir: PathBuf,
    /// Metric, in nanoseconds.
    pub metric: String,
    /// Base scale; the smallest if not given.
    pub base: Option<u32>,
    /// Compared scale; the largest if not given.
    pub at: Option<u32>,
    /// Expectation.
    pub scaling: Scaling,
    /// Asked time between samples, seconds.
    pub period: f64,
}

/// How complete the measurements behind a score are, over all good runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHealth {
    /// Samples taken.
    pub samples: u64,
    /// Samples that found no room.
    pub dropped: u64,
    /// Samples whose call path was not followed to its root.
    pub partial: u64,
    /// Samples whose call path was too deep to keep.
    pub truncated: u64,
    /// What the measurements warn of, with the number of runs that do.
    pub warnings: Vec<(String, usize)>,
}

/// A scored sweep.
#[derive(Clone, Debug)]
pub struct Score {
    /// Metric.
    pub metric: String,
    /// Expectation.
    pub scaling: Scaling,
    /// Base scale, p.
    pub base: u32,
    /// Compared scale, q.
    pub at: u32,
    /// Whether base and compared scale were asked for the other way round.
    pub swapped: bool,
    /// Good repetitions of both scales.
    pub repetitions: (usize, usize),
    /// Mean time between samples, seconds.
    pub period: f64,
    /// Calling context view.
    pub context: ScoredView,
    /// Callers view.
    pub callers: ScoredView,
    /// Flat view.
    pub flat: ScoredView,
    /// Every scale.
    pub scales: Vec<ScaleSummary>,
    /// Where the call paths of the two scales part.
    pub divergence: Divergence,
    /// Cost of threads that the application did not start, over all runs; it is in no score. Seconds.
    pub helper_seconds: f64,
    /// State of the measurements.
    pub health: RunHealth,
}

impl Score {
    /// Scores the good runs of a sweep.
    pub fn new(runs: &[Run], question: &Question) -> Result<Score> {
        let no_metric = || Error::Usage {
            action: "score",
            reason: format!("no metric `{}` was measured", question.metric),
            hint: format!("use one of: {}", metrics(runs).join(", ")),
        };
        if !metrics(runs).contains(&question.metric) {
            return Err(no_metric());
        }
        let aligned = Aligned::new(runs, &question.metric).ok_or_else(no_metric)?;
        let participants = |scale: u32| {
            let mut participants = Participants::new(aligned.tree.len());
            for (run, map) in runs.iter().zip(&aligned.maps).filter(|(run, _)| run.scale == scale) {
                participants.add(&run.database, map, &question.metric);
            }
            participants
        };
        Score::of_columns(&aligned.tree, &aligned.columns, question, participants, health(runs))
    }

    /// Scores columns of exclusive cost over a tree; `participants` gives the spread of a scale's cost.
    pub fn of_columns(
        tree: &Tree,
        columns: &Columns,
        question: &Question,
        participants: impl FnOnce(u32) -> Participants,
        health: RunHealth,
    ) -> Result<Score> {
        let (base, at, swapped) = choose(columns, question)?;
        let period = columns.period(question.period);
        let totals: Vec<f64> = (0..columns.values.len()).map(|c| columns.total(c)).collect();
        let (whole_base, whole_at) = (whole(&totals, base), whole(&totals, at));
        let scales =
            summarise(columns, base, question.scaling, period).ok_or_else(|| Error::NotEnoughRuns {
                path: question.dir.clone(),
                reason: format!("a run has no `{}` cost at all", question.metric),
            })?;
        let comparison = Comparison { base, at, scaling: question.scaling, period, whole_base, whole_at };
        let participants = participants(at.scale);
        let presence = presence(columns);
        let view = |kind| {
            let mut view = ScoredView::new(kind, tree, columns, &comparison);
            let spread = imbalance(kind, tree, &presence, participants.count(), participants.columns());
            for (row, ratio) in view.rows.iter_mut().zip(spread) {
                row.max_over_mean = ratio;
            }
            view
        };
        let context = view(ViewKind::Context);
        Ok(Score {
            metric: question.metric.clone(),
            scaling: question.scaling,
            base: base.scale,
            at: at.scale,
            swapped,
            repetitions: (base.cost.len(), at.cost.len()),
            period,
            divergence: Divergence::of(&context),
            callers: view(ViewKind::Callers),
            flat: view(ViewKind::Flat),
            context,
            scales,
            helper_seconds: columns.helper_seconds,
            health,
        })
    }

    /// Excess of the whole run.
    pub fn total(&self) -> super::Loss {
        self.context.rows[0].inclusive
    }

    /// One of the three views.
    pub fn view(&self, kind: ViewKind) -> &ScoredView {
        match kind {
            ViewKind::Context => &self.context,
            ViewKind::Callers => &self.callers,
            ViewKind::Flat => &self.flat,
        }
    }
}

fn metrics(runs: &[Run]) -> Vec<String> {
    let mut names: Vec<String> = runs
        .first()
        .map(|r| r.database.metrics().iter().map(|m| m.name.clone()).filter(|n| n != "samples").collect())
        .unwrap_or_default();
    names.sort();
    names
}

/// Base and compared scale, the smaller first, and whether that turned them round.
fn choose<'a>(
    columns: &'a Columns,
    question: &Question,
) -> Result<(&'a ScaleColumns, &'a ScaleColumns, bool)> {
    let known = || columns.scales.iter().map(|s| s.scale.to_string()).collect::<Vec<_>>().join(", ");
    let find = |wanted: Option<u32>, default: Option<&'a ScaleColumns>| match wanted {
        None => default.ok_or_else(|| Error::NotEnoughRuns {
            path: question.dir.clone(),
            reason: "no run of the sweep is good".into(),
        }),
        Some(scale) => columns.scale(scale).ok_or_else(|| Error::Usage {
            action: "score",
            reason: format!("no good run at {scale} is in `{}`", question.dir.display()),
            hint: format!("good runs are there at: {}", known()),
        }),
    };
    let base = find(question.base, columns.scales.first())?;
    let at = find(question.at, columns.scales.last())?;
    if question.base.is_none() && question.at.is_none() && base.scale == at.scale {
        return Err(Error::NotEnoughRuns {
            path: question.dir.clone(),
            reason: format!("good runs are there at {} only, two scales are needed", base.scale),
        });
    }
    Ok(if at.scale < base.scale { (at, base, true) } else { (base, at, false) })
}

/// Above zero for every context that has a value in any column.
fn presence(columns: &Columns) -> Vec<f64> {
    let contexts = columns.values.first().map_or(0, Vec::len);
    (0..contexts).map(|c| columns.values.iter().map(|v| v[c].abs()).sum()).collect()
}

fn health(runs: &[Run]) -> RunHealth {
    let mut all = RunHealth::default();
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs {
        let health = run.database.health();
        all.samples += health.samples;
        all.dropped += health.dropped;
        all.partial += health.partial;
        all.truncated += health.truncated;
        for warning in run.database.warnings() {
            *warnings.entry(warning).or_default() += 1;
        }
    }
    all.warnings = warnings.into_iter().map(|(text, runs)| (text.to_owned(), runs)).collect();
    all
}
