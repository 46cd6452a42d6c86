//! The score as JSON: `falloff.score`, version 1. Described in `docs/score.md`.

use std::collections::BTreeMap;
use std::io;

use falloff_postprocess::views::{RowKind, ViewKind};
use serde::{Serialize, Serializer};

use super::json_bounds::{self, BoundsJson, RowBoundsJson};
use super::json_causes::{
    self, CauseJson, DisturbanceJson, EfficiencyJson, StepJson as WaterfallJson, SubtreeJson, WaitingJson,
};
use super::json_findings::{FindingJson, findings};
use crate::bounds::{PathBounds, RowBounds};
use crate::results::SweepState;
use crate::scoring::{Loss, RunHealth, Score, ScoredRow, ScoredView, Step as ScoreStep};

const SCHEMA: &str = "falloff.score";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    metric: &'a str,
    scaling: &'static str,
    expectations: &'a [String],
    base: u32,
    at: u32,
    swapped: bool,
    base_repetitions: usize,
    at_repetitions: usize,
    sampling_error_only: bool,
    sampling_period_seconds: f64,
    asked_rate_hz: u32,
    total_excess_percent: f64,
    total_excess_half_width_percent: f64,
    work_base_seconds: f64,
    work_at_seconds: f64,
    preempted_percent: Option<f64>,
    program: &'a [String],
    launcher: &'a str,
    contexts: RowsJson<'a>,
    views: Views<'a>,
    hot_path: &'a [u32],
    findings: Vec<FindingJson<'a>>,
    charge: Option<&'static str>,
    causes: Vec<CauseJson>,
    waiting: Vec<WaitingJson>,
    disturbances: Vec<DisturbanceJson>,
    efficiencies: Vec<EfficiencyJson>,
    waterfall: Vec<WaterfallJson>,
    bounds: Option<BoundsJson<'a>>,
    context_efficiencies: Vec<SubtreeJson>,
    divergence: DivergenceJson<'a>,
    scales: Vec<ScaleJson>,
    health: Health<'a>,
    failed_runs: Vec<FailedRun>,
    missing_runs: Vec<String>,
    /// Which pairs of processes and threads the processor counts are.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<String>,
    /// Each of these by its processor count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    grid_pairs: BTreeMap<u32, String>,
    oversubscribed_scales: &'a [u32],
    disturbed_runs: Vec<DisturbedRun>,
}

#[derive(Serialize)]
struct Views<'a> {
    callers: RowsJson<'a>,
    flat: RowsJson<'a>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    id: u32,
    parent: Option<u32>,
    kind: RowKind,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<&'a str>>,
    module: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    call_line: Option<u32>,
    excess_incl_percent: f64,
    excess_incl_half_width_percent: f64,
    excess_excl_percent: f64,
    excess_excl_half_width_percent: f64,
    work_base_incl_seconds: f64,
    work_expected_incl_seconds: f64,
    work_at_incl_seconds: f64,
    work_base_excl_seconds: f64,
    work_expected_excl_seconds: f64,
    work_at_excl_seconds: f64,
    own_efficiency_percent: Option<f64>,
    imbalance_percent: Option<f64>,
    samples_base: u64,
    samples_at: u64,
    rare: bool,
    q_value: Option<f64>,
    significant: bool,
    class: &'static str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    bounds: Option<RowBoundsJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<RowStepJson>,
}

/// A step of one row.
#[derive(Serialize)]
pub(super) struct RowStepJson {
    from: u32,
    to: u32,
    excess_incl_percent: f64,
    excess_incl_half_width_percent: f64,
    excess_excl_percent: f64,
    excess_excl_half_width_percent: f64,
    part_incl_percent: f64,
    part_excl_percent: f64,
}

#[derive(Serialize)]
struct DivergenceJson<'a> {
    new_percent: f64,
    vanished_percent: f64,
    paths: Vec<DivergentJson<'a>>,
}

#[derive(Serialize)]
struct DivergentJson<'a> {
    id: u32,
    class: &'static str,
    excess_incl_percent: f64,
    path: Vec<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ScaleJson {
    processors: u32,
    /// Its processes and threads, in a sweep over both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<String>,
    repetitions: usize,
    samples: u64,
    work_seconds: f64,
    wall_seconds: f64,
    excess_percent: f64,
    excess_half_width_percent: f64,
    work_efficiency_percent: f64,
    previous: Option<StepJson>,
}

#[derive(Serialize)]
struct StepJson {
    processors: u32,
    excess_percent: f64,
    excess_half_width_percent: f64,
}

#[derive(Serialize)]
struct Health<'a> {
    samples: u64,
    dropped_samples: u64,
    partial_samples: u64,
    truncated_samples: u64,
    wait_samples: u64,
    processes: u64,
    threads: usize,
    cpu_seconds: f64,
    cpu_coverage: Option<f64>,
    unsampled_share: Option<f64>,
    reached_rate_hz: Option<f64>,
    handler_share: Option<f64>,
    clocks: Vec<String>,
    helper_seconds: f64,
    warnings: Vec<Warning<'a>>,
}

#[derive(Serialize)]
struct Warning<'a> {
    text: &'a str,
    runs: usize,
}

#[derive(Serialize)]
struct DisturbedRun {
    run: String,
    others_processors: f64,
}

#[derive(Serialize)]
struct FailedRun {
    run: String,
    processors: u32,
    repetition: u32,
    reason: String,
}

/// The score as one JSON document.
///
/// `threshold` leaves out rows whose inclusive and exclusive excess are both below it in size, as a fraction of
/// the run, unless a row below is kept; 0 keeps all.
pub fn json(sweep: &SweepState, score: &Score, threshold: f64, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(sweep, score, Some(threshold)))?;
    writeln!(out)
}

/// Bounds, and places of a cause, that a brief document has.
const BRIEF: usize = 10;

/// As [`json`], not yet as text; without a threshold a brief one, without any rows and with the beginnings of lists that may be as long.
pub(crate) fn document<'a>(
    sweep: &'a SweepState,
    score: &'a Score,
    threshold: Option<f64>,
) -> impl Serialize + 'a {
    let most = if threshold.is_some() { usize::MAX } else { BRIEF };
    // Nothing has more excess than this: no row is kept.
    let threshold = threshold.unwrap_or(f64::INFINITY);
    let total = score.total();
    let analysis = score.analysis.as_ref();
    let (base_repetitions, at_repetitions) = score.repetitions;
    Document {
        schema: SCHEMA,
        version: VERSION,
        metric: &score.metric,
        scaling: score.scaling.name(),
        expectations: &score.own,
        base: score.base,
        at: score.at,
        swapped: score.swapped,
        base_repetitions,
        at_repetitions,
        sampling_error_only: base_repetitions == 1 || at_repetitions == 1,
        sampling_period_seconds: score.period,
        asked_rate_hz: sweep.plan.rate_hz,
        total_excess_percent: percent(total.excess),
        total_excess_half_width_percent: percent(total.half_width),
        work_base_seconds: total.work_base,
        work_at_seconds: total.work_at,
        preempted_percent: score.preempted.map(percent),
        program: &sweep.plan.program,
        launcher: &sweep.plan.launcher,
        contexts: rows(Some(&score.context), threshold, &score.steps, score.bounds.as_ref()),
        views: Views {
            callers: rows(score.callers.as_ref(), threshold, &[], None),
            flat: rows(Some(&score.flat), threshold, &[], None),
        },
        hot_path: &score.context.hot_path,
        findings: findings(sweep, score),
        charge: analysis.map(json_causes::charge),
        causes: json_causes::causes(analysis, most),
        waiting: json_causes::waiting(analysis, total.work_at),
        disturbances: json_causes::disturbances(analysis),
        efficiencies: json_causes::efficiencies(sweep, analysis),
        waterfall: json_causes::waterfall(analysis),
        bounds: json_bounds::bounds(score, most),
        context_efficiencies: json_causes::subtrees(analysis),
        divergence: divergence(score),
        scales: scales(sweep, score),
        health: health(score),
        failed_runs: failed_runs(sweep),
        missing_runs: sweep.missing.iter().map(ToString::to_string).collect(),
        grid: sweep.line.as_ref().map(ToString::to_string),
        grid_pairs: sweep.pairs(),
        oversubscribed_scales: &sweep.oversubscribed,
        disturbed_runs: sweep
            .disturbed
            .iter()
            .map(|(key, others)| DisturbedRun { run: key.to_string(), others_processors: *others })
            .collect(),
    }
}

/// What of a score is told against its pair of counts, in brief.
#[derive(Serialize)]
struct PairJson<'a> {
    base: u32,
    at: u32,
    findings: Vec<FindingJson<'a>>,
    causes: Vec<CauseJson>,
    waterfall: Vec<WaterfallJson>,
    bounds: Option<BoundsJson<'a>>,
    scales: Vec<ScaleJson>,
}

/// That of the score of one pair of several.
pub(crate) fn pair<'a>(sweep: &SweepState, score: &'a Score) -> impl Serialize + use<'a> {
    let analysis = score.analysis.as_ref();
    PairJson {
        base: score.base,
        at: score.at,
        findings: findings(sweep, score),
        causes: json_causes::causes(analysis, BRIEF),
        waterfall: json_causes::waterfall(analysis),
        bounds: json_bounds::bounds(score, BRIEF),
        scales: scales(sweep, score),
    }
}

/// Percent without a sign on zero.
pub(super) fn percent(fraction: f64) -> f64 {
    100.0 * fraction + 0.0
}

/// The rows of a view that are kept, each after its parent. They are made as they are written: there may be millions.
struct RowsJson<'a> {
    view: Option<&'a ScoredView>,
    kept: Vec<bool>,
    steps: &'a [ScoreStep],
    bounds: Option<&'a PathBounds>,
}

impl Serialize for RowsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.view.into_iter().flat_map(|view| view.rows.iter().map(move |row| (view, row)));
        let kept = all.filter(|(_, row)| self.kept[row.id as usize]);
        let bounds = |row: &ScoredRow| self.bounds.and_then(|bounds| bounds.row(row.id));
        serializer.collect_seq(kept.map(|(view, row)| row_json(view, row, self.steps, bounds(row))))
    }
}

fn rows<'a>(
    view: Option<&'a ScoredView>,
    threshold: f64,
    steps: &'a [ScoreStep],
    bounds: Option<&'a PathBounds>,
) -> RowsJson<'a> {
    let large = |loss: &Loss| loss.excess.abs() >= threshold;
    let all = view.map_or(&[][..], |view| &view.rows);
    let mut kept: Vec<bool> = all.iter().map(|r| large(&r.inclusive) || large(&r.exclusive)).collect();
    for row in all.iter().rev() {
        if let Some(parent) = row.parent.filter(|_| kept[row.id as usize]) {
            kept[parent as usize] = true;
        }
    }
    RowsJson { view, kept, steps, bounds }
}

fn row_json<'a>(
    view: &'a ScoredView,
    row: &'a ScoredRow,
    steps: &[ScoreStep],
    bounds: Option<&RowBounds>,
) -> RowJson<'a> {
    RowJson {
        id: row.id,
        parent: row.parent,
        kind: row.kind,
        name: &row.name,
        path: (view.kind == ViewKind::Context).then(|| view.path(row.id)),
        module: row.module.as_deref(),
        file: row.file.as_deref(),
        line: row.line,
        call_line: row.call_line,
        excess_incl_percent: percent(row.inclusive.excess),
        excess_incl_half_width_percent: percent(row.inclusive.half_width),
        excess_excl_percent: percent(row.exclusive.excess),
        excess_excl_half_width_percent: percent(row.exclusive.half_width),
        work_base_incl_seconds: row.inclusive.work_base,
        work_expected_incl_seconds: row.inclusive.expected,
        work_at_incl_seconds: row.inclusive.work_at,
        work_base_excl_seconds: row.exclusive.work_base,
        work_expected_excl_seconds: row.exclusive.expected,
        work_at_excl_seconds: row.exclusive.work_at,
        own_efficiency_percent: row.own_efficiency.map(percent),
        imbalance_percent: row.max_over_mean.map(|m| percent(m - 1.0)),
        samples_base: row.samples_base,
        samples_at: row.samples_at,
        rare: row.is_rare(),
        q_value: row.q_value,
        significant: row.significant(),
        class: row.class.name(),
        bounds: bounds.map(json_bounds::row),
        steps: steps.iter().map(|step| row_step(step, row.id)).collect(),
    }
}

/// A step of a row of the context view.
pub(super) fn row_step(step: &ScoreStep, row: u32) -> RowStepJson {
    let of = &step.rows[row as usize];
    RowStepJson {
        from: step.from,
        to: step.to,
        excess_incl_percent: percent(of.inclusive.excess),
        excess_incl_half_width_percent: percent(of.inclusive.half_width),
        excess_excl_percent: percent(of.exclusive.excess),
        excess_excl_half_width_percent: percent(of.exclusive.half_width),
        part_incl_percent: percent(of.part_inclusive),
        part_excl_percent: percent(of.part_exclusive),
    }
}

fn divergence(score: &Score) -> DivergenceJson<'_> {
    let found = &score.divergence;
    DivergenceJson {
        new_percent: percent(found.new),
        vanished_percent: percent(found.vanished),
        paths: found
            .paths
            .iter()
            .map(|p| DivergentJson {
                id: p.row,
                class: p.class.name(),
                excess_incl_percent: percent(p.excess),
                path: score.context.path(p.row),
            })
            .collect(),
    }
}

pub(super) fn scales(sweep: &SweepState, score: &Score) -> Vec<ScaleJson> {
    let pairs = sweep.pairs();
    let scale = |s: &crate::scoring::ScaleSummary| ScaleJson {
        processors: s.scale,
        pair: pairs.get(&s.scale).cloned(),
        repetitions: s.repetitions,
        samples: s.samples,
        work_seconds: s.against_base.work_at,
        wall_seconds: s.wall_seconds,
        excess_percent: percent(s.against_base.excess),
        excess_half_width_percent: percent(s.against_base.half_width),
        work_efficiency_percent: percent(1.0 - s.against_base.excess),
        previous: s.against_previous.map(|(processors, loss)| StepJson {
            processors,
            excess_percent: percent(loss.excess),
            excess_half_width_percent: percent(loss.half_width),
        }),
    };
    score.scales.iter().map(scale).collect()
}

fn health(score: &Score) -> Health<'_> {
    let RunHealth { sum: health, threads, warnings } = &score.health;
    Health {
        samples: health.all_samples(),
        dropped_samples: health.dropped,
        partial_samples: health.partial,
        truncated_samples: health.truncated,
        wait_samples: health.wait_samples,
        processes: health.processes,
        threads: *threads,
        cpu_seconds: health.cpu_used_ns as f64 * 1e-9,
        cpu_coverage: health.coverage(),
        unsampled_share: health.unsampled_share(),
        reached_rate_hz: health.reached_rate_hz(),
        handler_share: health.handler_share(),
        clocks: health.clocks.iter().map(ToString::to_string).collect(),
        helper_seconds: score.helper_seconds,
        warnings: warnings.iter().map(|(text, runs)| Warning { text, runs: *runs }).collect(),
    }
}

fn failed_runs(sweep: &SweepState) -> Vec<FailedRun> {
    let failed = |entry: &crate::journal::Entry| FailedRun {
        run: entry.key.to_string(),
        processors: entry.key.processors(),
        repetition: entry.key.repetition,
        reason: entry.reason.clone().unwrap_or_default(),
    };
    sweep.failed.iter().map(failed).collect()
}
