//! The outlook over problem sizes as JSON: `falloff.model_sizes`, version 1. Described in `docs/model.md`.

use falloff_models::{Interval, Scale};
use serde::Serialize;

use super::super::json_part::{self, CostJson, ModelJson, StandingJson};
use super::super::terms::{FormJson, form_json};
use crate::outlook::SizeOutlook;
use crate::outlook::sizes::{SizePart, Surface};
use crate::results::SweepState;

const SCHEMA: &str = "falloff.model_sizes";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    metric: &'a str,
    sweeps: Vec<SweepJson<'a>>,
    targets: Vec<ScaleJson>,
    ranked_at: Option<ScaleJson>,
    not_predicted: Vec<RefusedJson>,
    whole: SurfaceJson,
    paths: Vec<PartJson<'a>>,
    terms: Option<FormJson<'a>>,
    helper_seconds: f64,
}

#[derive(Serialize)]
struct SweepJson<'a> {
    size: f64,
    dir: String,
    program: &'a [String],
    launcher: &'a str,
    warnings: Vec<&'a str>,
    failed_runs: Vec<String>,
    missing_runs: Vec<String>,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct ScaleJson {
    size: f64,
    processors: f64,
}

#[derive(Serialize)]
struct RefusedJson {
    #[serde(flatten)]
    scale: ScaleJson,
    paths: usize,
    share_percent: f64,
}

#[derive(Serialize)]
struct SurfaceJson {
    #[serde(flatten)]
    model: ModelJson,
    measured: Vec<MeasuredJson>,
    predictions: Vec<PredictionJson>,
}

#[derive(Serialize)]
struct MeasuredJson {
    #[serde(flatten)]
    scale: ScaleJson,
    repetitions: usize,
    seconds: f64,
    standard_error_seconds: f64,
    law_seconds: Option<f64>,
}

/// A prediction.
#[derive(Serialize)]
pub(super) struct PredictionJson {
    #[serde(flatten)]
    scale: ScaleJson,
    #[serde(flatten)]
    cost: CostJson,
}

#[derive(Serialize)]
struct PartJson<'a> {
    #[serde(flatten)]
    standing: StandingJson<'a>,
    path: Vec<&'a str>,
    #[serde(flatten)]
    surface: SurfaceJson,
    shares_percent: Vec<Option<f64>>,
}

/// The outlook as one JSON document, without the parts whose share is below `threshold`, as a fraction of the run, at the largest scale
/// and at all targets; the sweeps are in order of their sizes.
pub fn json(
    sweeps: &[(f64, &SweepState)],
    outlook: &SizeOutlook,
    threshold: f64,
) -> serde_json::Result<String> {
    let kept = |part: &&SizePart| {
        let shares = part.standing.shares.iter().flatten().copied();
        shares.fold(part.standing.share, f64::max) >= threshold
    };
    let not_predicted = outlook.targets.iter().enumerate().map(|(index, target)| {
        let (paths, share) = outlook.refused(index);
        RefusedJson { scale: scale(*target), paths, share_percent: 100.0 * share }
    });
    serde_json::to_string(&Document {
        schema: SCHEMA,
        version: VERSION,
        metric: &outlook.metric,
        sweeps: sweep_list(sweeps, outlook),
        targets: outlook.targets.iter().copied().map(scale).collect(),
        ranked_at: outlook.ranked.map(|target| scale(outlook.targets[target])),
        not_predicted: not_predicted.collect(),
        whole: surface(&outlook.whole, &outlook.targets),
        paths: outlook.parts.iter().filter(kept).map(|part| part_json(part, &outlook.targets)).collect(),
        terms: outlook.form.as_deref().map(|form| form_json(form, &outlook.targets)),
        helper_seconds: outlook.helper_seconds,
    })
}

fn sweep_list<'a>(sweeps: &[(f64, &'a SweepState)], outlook: &'a SizeOutlook) -> Vec<SweepJson<'a>> {
    let with_health = sweeps.iter().zip(&outlook.health);
    with_health
        .map(|((size, sweep), health)| SweepJson {
            size: *size,
            dir: sweep.dir.display().to_string(),
            program: &sweep.plan.program,
            launcher: &sweep.plan.launcher,
            warnings: health.warnings.iter().map(|(text, _)| &**text).collect(),
            failed_runs: sweep.failed.iter().map(|entry| entry.key.to_string()).collect(),
            missing_runs: sweep.missing.iter().map(ToString::to_string).collect(),
        })
        .collect()
}

fn scale(scale: Scale) -> ScaleJson {
    ScaleJson { size: scale.n, processors: scale.p }
}

fn part_json<'a>(part: &'a SizePart, targets: &[Scale]) -> PartJson<'a> {
    PartJson {
        standing: json_part::standing(&part.standing),
        path: part.standing.path().collect(),
        surface: surface(&part.surface, targets),
        shares_percent: json_part::shares(&part.standing),
    }
}

fn surface(surface: &Surface, targets: &[Scale]) -> SurfaceJson {
    let model = surface.model.as_ref().ok();
    let measured = surface.times.iter().map(|point| MeasuredJson {
        scale: scale(point.scale),
        repetitions: point.count,
        seconds: point.mean,
        standard_error_seconds: point.error,
        law_seconds: model.map(|model| model.predict(point.scale).cost.value),
    });
    SurfaceJson {
        model: json_part::model(&surface.model),
        measured: measured.collect(),
        predictions: predictions(&surface.predictions, targets),
    }
}

/// What is said of each target.
pub(super) fn predictions(said: &[Result<Interval, String>], targets: &[Scale]) -> Vec<PredictionJson> {
    let both = targets.iter().zip(said);
    both.map(|(target, said)| PredictionJson { scale: scale(*target), cost: json_part::cost(said) }).collect()
}
