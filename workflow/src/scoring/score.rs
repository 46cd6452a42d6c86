//! The score of a sweep: everything that a report shows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use falloff_postprocess::views::{Layout, ViewKind};
use falloff_postprocess::{Tree, Unit};
use rayon::prelude::*;

use super::columns::{Aligned, Columns, Run, ScaleColumns};
use super::divergence::Divergence;
use super::expectation::Scaling;
use super::growth::Growth;
use super::health::RunHealth;
use super::imbalance::{Participants, imbalance};
use super::losses::{Comparison, Loss};
use super::own_expectation::OwnExpectation;
use super::rows::{ScoredRow, ScoredView};
use super::scales::{ScaleSummary, summarise, whole};
use super::steps::{Step, steps};
use crate::bounds::{BoundsOf, PathBounds, Row};
use crate::causes::{Accounts, Analysis, Charge, RunCosts};
use crate::template::Argument;
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
    /// Expectation of all call paths that have none of their own.
    pub scaling: Scaling,
    /// Expectations of some call paths.
    pub own: Vec<OwnExpectation>,
    /// Values of the names in these.
    pub arguments: Vec<Argument>,
    /// Asked time between samples, seconds.
    pub period: f64,
    /// To which call paths waiting for the last is charged.
    pub charge: Charge,
    /// How much of their time the runs of each scale would have taken on a network that costs nothing; empty if that is not known of all.
    pub transfer: BTreeMap<u32, f64>,
    /// Whether the callers view is wanted: it may have many times the rows of the tree.
    pub callers: bool,
    /// Whether the steps from count to count are wanted for every call path.
    pub steps: bool,
    /// Whose bounds are wanted.
    pub bounds: BoundsOf,
}

/// A scored sweep.
#[derive(Clone, Debug)]
pub struct Score {
    /// Metric.
    pub metric: String,
    /// Expectation of all call paths that have none of their own.
    pub scaling: Scaling,
    /// Expectations of some call paths, as texts.
    pub own: Vec<String>,
    /// What both expect of every context.
    pub growth: Growth,
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
    /// Callers view, if it was wanted.
    pub callers: Option<ScoredView>,
    /// Flat view.
    pub flat: ScoredView,
    /// Every scale.
    pub scales: Vec<ScaleSummary>,
    /// Every context from count to count, if that was wanted; else empty.
    pub steps: Vec<Step>,
    /// How the call paths bound the speed-up at the compared scale over the base, by strong or weak scaling, whatever some call paths
    /// are expected to cost.
    pub bounds: Option<PathBounds>,
    /// Where the call paths of the two scales part.
    pub divergence: Divergence,
    /// Cost of threads that the application did not start, over all runs; it is in no score. Seconds.
    pub helper_seconds: f64,
    /// Of the time at the compared scale, the part in which threads were ready to run but had no processor, as a
    /// fraction; `None` for metrics that do not hold it.
    pub preempted: Option<f64>,
    /// Why the run loses what it loses; `None` where only columns were scored.
    pub analysis: Option<Analysis>,
    /// State of the measurements.
    pub health: RunHealth,
}

/// Metric that holds time without a processor, and the metric of that part alone.
pub(crate) const TIME: &str = "time";
pub(crate) const PREEMPTED: &str = "preempted";

impl Score {
    /// Scores the good runs of a sweep.
    pub fn new(runs: &[Run], question: &Question) -> Result<Score> {
        Score::with_columns(runs, question, |_, _| Vec::new(), |_| ()).map(|(score, _)| score)
    }

    /// The same, with the columns that it is of, in which waiting is charged as the question has it. `each` gets the scores of
    /// the other pairs of counts that `others` wants of these columns beside its own pair, one after the other; a pair between which an expectation is
    /// of nothing has none.
    pub(crate) fn with_columns(
        runs: &[Run],
        question: &Question,
        others: impl FnOnce(&Aligned, (u32, u32)) -> Vec<(u32, u32)>,
        mut each: impl FnMut(&Score),
    ) -> Result<(Score, Aligned)> {
        check_metric(runs, &question.metric, "score")?;
        let no_metric = || unknown_metric(runs, &question.metric, "score");
        let mut aligned = Aligned::new(runs, &question.metric).ok_or_else(no_metric)?;
        let costs: Option<Vec<RunCosts>> = runs
            .par_iter()
            .zip(&aligned.maps)
            .map(|(run, map)| RunCosts::of(run, map, &question.metric))
            .collect();
        let costs = costs.ok_or_else(no_metric)?;
        let expecting = (!question.own.is_empty()).then(|| costs.clone());
        let period = aligned.columns.period(question.period);
        let accounts = Accounts::new(&aligned.tree, costs, question.charge, period);
        accounts.charge(&mut aligned.columns);
        let Aligned { tree, columns, maps } = &aligned;
        let participants = |scale: u32| {
            let mut participants = Participants::new(tree.len());
            for (run, map) in runs.iter().zip(maps).filter(|(run, _)| run.scale == scale) {
                participants.add(&run.database, map, &question.metric);
            }
            participants
        };
        let score_of = |question: &Question| -> Result<Score> {
            let health = RunHealth::of(runs);
            let mut score = Score::of_columns(tree, columns, question, participants, health)?;
            match &expecting {
                None => score.analyse(&accounts, columns, &question.transfer),
                Some(costs) => {
                    let costs = score.expected_costs(costs.clone());
                    let accounts = Accounts::new(tree, costs, question.charge, period);
                    score.analyse(&accounts, columns, &question.transfer);
                }
            }
            score.preempted = preempted(runs, &score);
            Ok(score)
        };
        let score = score_of(question)?;
        for (base, at) in others(&aligned, (score.base, score.at)) {
            let pair = Question { base: Some(base), at: Some(at), ..question.clone() };
            if let Ok(score) = score_of(&pair) {
                each(&score);
            }
        }
        Ok((score, aligned))
    }

    /// The costs of the runs that are compared, those at the base multiplied by what each context is expected to grow beyond the
    /// whole run: why something is lost is then told against the run that is expected. All as they are where no call path has an
    /// expectation of its own.
    pub fn expected_costs(&self, mut costs: Vec<RunCosts>) -> Vec<RunCosts> {
        let (base, at) = (self.base, self.at);
        if self.growth.of_all(base, at).is_some() {
            return costs;
        }
        costs.retain(|run| run.scale == base || run.scale == at);
        for cost in costs.iter_mut().filter(|run| run.scale == base).flat_map(|run| &mut run.costs) {
            let weight = self.growth.of(cost.context, base, at) / self.scaling.rho(base, at);
            for part in [&mut cost.seconds, &mut cost.preempted, &mut cost.instructions, &mut cost.cycles] {
                *part *= weight;
            }
        }
        costs
    }

    /// Adds why the runs, whose costs `accounts` has, lose what they lose; `transfer` is as in [`Question::transfer`].
    pub fn analyse(&mut self, accounts: &Accounts, columns: &Columns, transfer: &BTreeMap<u32, f64>) {
        self.analysis =
            self.comparison(columns).and_then(|comparison| Analysis::new(accounts, &comparison, transfer));
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
        let growth = expected_growth(tree, columns, question, (base.scale, at.scale))?;
        let period = columns.period(question.period);
        let totals = columns.totals();
        let (whole_base, whole_at) = (whole(&totals, base), whole(&totals, at));
        let scales = summarise(columns, base, question.scaling, &growth, period).ok_or_else(|| {
            Error::NotEnoughRuns {
                path: question.dir.clone(),
                reason: format!("a run has no `{}` cost at all", question.metric),
            }
        })?;
        let comparison = Comparison { base, at, scaling: question.scaling, period, whole_base, whole_at };
        let participants = participants(at.scale);
        let present = tree.inclusive(&columns.presence());
        let view = |kind| {
            let layout = Layout::new(kind, tree, |context| present[context as usize] > 0.0);
            let mut view = ScoredView::new(kind, &layout, tree, columns, &comparison, &growth);
            let spread = imbalance(&layout, tree, participants.count(), participants.columns());
            for (row, ratio) in view.rows.iter_mut().zip(spread) {
                row.max_over_mean = ratio;
            }
            view
        };
        let context = view(ViewKind::Context);
        let bounds = bounds(tree, columns, &context, question, (base.scale, at.scale));
        Ok(Score {
            bounds,
            metric: question.metric.clone(),
            scaling: question.scaling,
            own: question.own.iter().map(|own| own.text().to_owned()).collect(),
            base: base.scale,
            at: at.scale,
            swapped,
            repetitions: (base.cost.len(), at.cost.len()),
            period,
            divergence: Divergence::of(&context),
            callers: question.callers.then(|| view(ViewKind::Callers)),
            flat: view(ViewKind::Flat),
            context,
            scales,
            steps: if question.steps { steps(tree, columns, &comparison, &growth) } else { Vec::new() },
            growth,
            helper_seconds: columns.helper_seconds,
            preempted: None,
            analysis: None,
            health,
        })
    }

    fn comparison<'a>(&self, columns: &'a Columns) -> Option<Comparison<'a>> {
        let total = self.total();
        Some(Comparison {
            base: columns.scale(self.base)?,
            at: columns.scale(self.at)?,
            scaling: self.scaling,
            period: self.period,
            whole_base: total.work_base,
            whole_at: total.work_at,
        })
    }

    /// Excess of the whole run.
    pub fn total(&self) -> Loss {
        self.context.rows[0].inclusive
    }

    /// One of the three views, if it is there.
    pub fn view(&self, kind: ViewKind) -> Option<&ScoredView> {
        match kind {
            ViewKind::Context => Some(&self.context),
            ViewKind::Callers => self.callers.as_ref(),
            ViewKind::Flat => Some(&self.flat),
        }
    }

    /// The views that are there.
    pub fn views(&self) -> impl Iterator<Item = &ScoredView> {
        [ViewKind::Context, ViewKind::Callers, ViewKind::Flat].into_iter().filter_map(|kind| self.view(kind))
    }
}

/// The bounds that are wanted, at the compared scale over the base.
fn bounds(
    tree: &Tree,
    columns: &Columns,
    context: &ScoredView,
    question: &Question,
    counts: (u32, u32),
) -> Option<PathBounds> {
    let (inclusive, rows) = match question.bounds {
        BoundsOf::Nothing => return None,
        BoundsOf::Parts => (Vec::new(), Vec::new()),
        BoundsOf::Rows => {
            let present = tree.inclusive(&columns.presence());
            let layout = Layout::new(ViewKind::Context, tree, |context| present[context as usize] > 0.0);
            let inclusive = |column: &usize| layout.inclusive(&tree.inclusive(&columns.values[*column]));
            let costs: Vec<usize> =
                columns.scales.iter().flat_map(|scale| scale.cost.iter().copied()).collect();
            let row = |row: &ScoredRow| Row { max_over_mean: row.max_over_mean, is_rare: row.is_rare() };
            (costs.par_iter().map(inclusive).collect(), context.rows.iter().map(row).collect())
        }
    };
    let period = columns.period(question.period);
    PathBounds::new(tree, columns, (&inclusive, &rows), question.scaling, period, counts)
}

fn preempted(runs: &[Run], score: &Score) -> Option<f64> {
    let total = |metric: &str| {
        let runs = runs.iter().filter(|run| run.scale == score.at);
        runs.map(|run| Some(run.database.exclusive_totals(metric)?.into_iter().sum::<f64>()))
            .sum::<Option<f64>>()
    };
    (score.metric == TIME).then(|| Some(total(PREEMPTED)? / total(TIME)?)).flatten()
}

/// Names of the metrics that are times, which can be scored.
fn times(runs: &[Run]) -> Vec<String> {
    let metrics = runs.first().map(|r| r.database.metrics()).unwrap_or_default();
    metrics.iter().filter(|m| m.unit == Unit::Nanoseconds).map(|m| m.name.clone()).collect()
}

/// Fails unless the metric is a time that was measured; `action` is what it is wanted for, as a verb.
pub(crate) fn check_metric(runs: &[Run], name: &str, action: &'static str) -> Result<()> {
    if times(runs).iter().any(|time| time == name) { Ok(()) } else { Err(unknown_metric(runs, name, action)) }
}

fn unknown_metric(runs: &[Run], name: &str, action: &'static str) -> Error {
    let times = times(runs);
    let counted = runs.first().is_some_and(|r| r.database.metric(name).is_some());
    Error::Usage {
        action,
        reason: match (counted, name) {
            (true, _) => format!("`{name}` counts events, and {action}s are of time"),
            (false, "") => format!("no time was measured, and {action}s are of time"),
            (false, _) => format!("no metric `{name}` was measured"),
        },
        hint: match times.is_empty() {
            true => "sweep with `-e time`, alone or with other events; see counts with `falloff view DIR --metric NAME`".into(),
            false => format!("use one of: {}", times.join(", ")),
        },
    }
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

/// What every context is expected to do between all counts that are looked at.
fn expected_growth(
    tree: &Tree,
    columns: &Columns,
    question: &Question,
    (base, at): (u32, u32),
) -> Result<Growth> {
    let scales: Vec<u32> = columns.scales.iter().map(|s| s.scale).collect();
    let wrong = |reason: String| {
        Error::Usage {
        action: "score",
        reason,
        hint: "in `--expect PATTERN=FORMULA`, p is the processor count and other names are numbers given at every count by \
               `--arg NAME={1:100,2:126}`"
            .into(),
    }
    };
    let growth =
        Growth::new(question.scaling, &question.own, &question.arguments, tree, &scales).map_err(wrong)?;
    let between: Vec<u32> =
        scales.into_iter().filter(|s| question.steps && (base..at).contains(s)).chain([base]).collect();
    match between.into_iter().find(|from| !growth.is_known(*from, at)) {
        None => Ok(growth),
        Some(from) => Err(Error::Usage {
            action: "score",
            reason: format!(
                "an expectation is of nothing at {from}, so that any growth from there is infinite"
            ),
            hint: "compare with another count by `--base`, or expect something there: `1+log2(p)`".into(),
        }),
    }
}
