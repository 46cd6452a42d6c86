//! The outlook over problem sizes as JSON: `falloff.model_sizes`, version 1. Described in `docs/model.md`.

use falloff_models::{Interval, Scale};
use serde::Serialize;

use super::super::terms::{FormJson, form_json};
use crate::outlook::SizeOutlook;
use crate::outlook::sizes::{SizePart, Surface};
use crate::report::json_bounds::{IntervalJson, interval};
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
    formula: Option<String>,
    smape_percent: Option<f64>,
    adjusted_r2: Option<f64>,
    laws: Vec<String>,
    coefficients: Vec<IntervalJson>,
    no_model: Option<String>,
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

/// A prediction; the seconds are null where it is refused.
#[derive(Serialize)]
pub(super) struct PredictionJson {
    #[serde(flatten)]
    scale: ScaleJson,
    seconds: Option<f64>,
    low_seconds: Option<f64>,
    high_seconds: Option<f64>,
    refusal: Option<String>,
}

/// What a part is, without its lists.
#[derive(Clone, Serialize)]
pub(super) struct AboutJson<'a> {
    context: Option<u32>,
    name: &'a str,
    count: usize,
    module: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    rank: usize,
    rank_then: Option<usize>,
    seconds: f64,
    share_percent: f64,
}

#[derive(Serialize)]
struct PartJson<'a> {
    #[serde(flatten)]
    about: AboutJson<'a>,
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
    let kept =
        |part: &&SizePart| part.shares.iter().flatten().copied().fold(part.share, f64::max) >= threshold;
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
    let path = part.place.iter().flat_map(|place| &place.path);
    PartJson {
        about: about(part),
        path: path.map(|name| &**name).collect(),
        surface: surface(&part.surface, targets),
        shares_percent: part.shares.iter().map(|share| share.map(|s| 100.0 * s)).collect(),
    }
}

/// What a part is and how it stands.
pub(super) fn about(part: &SizePart) -> AboutJson<'_> {
    let place = part.place.as_ref();
    AboutJson {
        context: place.map(|place| place.context),
        name: place.map_or("<rare>", |place| place.name()),
        count: part.count,
        module: place.and_then(|place| place.module.as_deref()),
        file: place.and_then(|place| place.file.as_deref()),
        line: place.and_then(|place| place.line),
        rank: part.rank,
        rank_then: part.rank_then,
        seconds: part.seconds,
        share_percent: 100.0 * part.share,
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
    let coefficients = model.map(|model| model.coefficients()).unwrap_or_default();
    SurfaceJson {
        formula: model.map(ToString::to_string),
        smape_percent: model.map(|model| model.smape()),
        adjusted_r2: model.map(|model| model.adjusted_r2()),
        laws: model.map(|model| model.set()).unwrap_or_default(),
        coefficients: coefficients.into_iter().map(interval).collect(),
        no_model: surface.model.as_ref().err().cloned(),
        measured: measured.collect(),
        predictions: predictions(&surface.predictions, targets),
    }
}

/// What is said of each target.
pub(super) fn predictions(said: &[Result<Interval, String>], targets: &[Scale]) -> Vec<PredictionJson> {
    let prediction = |(target, prediction): (&Scale, &Result<Interval, String>)| {
        let cost = prediction.as_ref().ok();
        PredictionJson {
            scale: scale(*target),
            seconds: cost.map(|cost| cost.value),
            low_seconds: cost.map(|cost| cost.low),
            high_seconds: cost.map(|cost| cost.high),
            refusal: prediction.as_ref().err().cloned(),
        }
    };
    targets.iter().zip(said).map(prediction).collect()
}
