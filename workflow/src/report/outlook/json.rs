//! The outlook as JSON: `falloff.model`, version 1. Described in `docs/model.md`.

use serde::Serialize;

use super::json_part::{self, CostJson, ModelJson, StandingJson};
use super::json_sections::{self, GridJson, SectionsJson};
use super::terms::{FormJson, form_json};
use crate::bounds::Series;
use crate::outlook::{Fact, Forecast, Held, Note, Outlook, Part};
use crate::report::json_bounds::{InflexionJson, IntervalJson, inflexion, interval};
use crate::results::SweepState;

const SCHEMA: &str = "falloff.model";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    metric: &'a str,
    scaling: &'static str,
    program: &'a [String],
    launcher: &'a str,
    targets: &'a [u32],
    ranked_at: Option<u32>,
    whole: WholeJson,
    laws: Vec<LawJson>,
    paths: Vec<PartJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<SectionsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<GridJson<'a>>,
    notes: Vec<NoteJson<'a>>,
    terms: Option<FormJson<'a>>,
    helper_seconds: f64,
    warnings: Vec<&'a str>,
    failed_runs: Vec<String>,
    missing_runs: Vec<String>,
}

#[derive(Serialize)]
struct WholeJson {
    #[serde(flatten)]
    forecast: ForecastJson,
    measured: Vec<MeasuredJson>,
    inflexion: InflexionJson,
    turning: Option<IntervalJson>,
    largest_paying: f64,
    largest_efficient: Option<f64>,
    next_run: Option<NextRunJson>,
}

/// A mean time at a count.
#[derive(Serialize)]
pub(super) struct MeasuredJson {
    processors: f64,
    repetitions: usize,
    seconds: f64,
    standard_error_seconds: f64,
}

#[derive(Serialize)]
struct NextRunJson {
    processors: f64,
    processor_seconds: f64,
    target: u32,
    width_now_percent: f64,
    width_percent: f64,
}

/// A law and what it predicts.
#[derive(Serialize)]
pub(super) struct ForecastJson {
    #[serde(flatten)]
    model: ModelJson,
    predictions: Vec<PredictionJson>,
}

/// A prediction.
#[derive(Clone, Serialize)]
pub(super) struct PredictionJson {
    pub processors: u32,
    #[serde(flatten)]
    cost: CostJson,
}

/// What one law says, or why it says nothing.
#[derive(Serialize)]
pub(super) struct LawJson {
    law: &'static str,
    processors: Option<f64>,
    quantity: &'static str,
    value: Option<f64>,
    miss_percent: Option<f64>,
    refusal: Option<String>,
}

/// What a part is, without its lists.
#[derive(Clone, Serialize)]
pub(super) struct AboutJson<'a> {
    #[serde(flatten)]
    standing: StandingJson<'a>,
    bound_average: IntervalJson,
    bound_largest: IntervalJson,
    max_over_mean: Option<f64>,
    inflexion: InflexionJson,
    turning: Option<IntervalJson>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    #[serde(flatten)]
    about: AboutJson<'a>,
    path: Vec<&'a str>,
    measured: Vec<MeasuredJson>,
    #[serde(flatten)]
    forecast: ForecastJson,
    shares_percent: Vec<Option<f64>>,
}

/// One thing that does not fit.
#[derive(Serialize)]
pub(super) struct NoteJson<'a> {
    kind: &'static str,
    context: Option<u32>,
    name: &'a str,
    run: Option<&'a str>,
    processors: Option<f64>,
    seconds: Option<f64>,
    expected_seconds: Option<f64>,
    next_processors: Option<f64>,
}

/// The outlook as one JSON document, without the parts whose share is below `threshold`, as a fraction of the run, at the largest count
/// and at all targets.
pub fn json(sweep: &SweepState, outlook: &Outlook, threshold: f64) -> serde_json::Result<String> {
    let whole = &outlook.whole;
    let kept = |part: &&Part| {
        let shares = part.standing.shares.iter().flatten().copied();
        shares.fold(part.standing.share, f64::max) >= threshold
    };
    serde_json::to_string(&Document {
        schema: SCHEMA,
        version: VERSION,
        metric: &outlook.metric,
        scaling: outlook.scaling.name(),
        program: &sweep.plan.program,
        launcher: &sweep.plan.launcher,
        targets: &outlook.targets,
        ranked_at: outlook.ranked_at,
        whole: WholeJson {
            forecast: forecast(&whole.forecast),
            measured: measured(&whole.series),
            inflexion: inflexion(&whole.inflexion),
            turning: whole.turning.map(|turning| interval(turning.p)),
            largest_paying: whole.advice.largest_paying,
            largest_efficient: whole.advice.largest_efficient,
            next_run: whole.next_run.map(|next| NextRunJson {
                processors: next.run.scale.p,
                processor_seconds: next.run.cost,
                target: next.target,
                width_now_percent: 100.0 * next.width_now,
                width_percent: 100.0 * next.run.width,
            }),
        },
        laws: laws(outlook),
        paths: outlook.parts.iter().filter(kept).map(part).collect(),
        sections: outlook.sections.as_ref().map(json_sections::sections),
        grid: outlook.grid.as_ref().map(json_sections::grid),
        notes: notes(outlook),
        terms: outlook.form.as_deref().map(|form| form_json(form, &outlook.scales())),
        helper_seconds: outlook.helper_seconds,
        warnings: outlook.health.warnings.iter().map(|(text, _)| &**text).collect(),
        failed_runs: sweep.failed.iter().map(|entry| entry.key.to_string()).collect(),
        missing_runs: sweep.missing.iter().map(ToString::to_string).collect(),
    })
}

/// What every law says, one quantity each.
pub(super) fn laws(outlook: &Outlook) -> Vec<LawJson> {
    let laws = &outlook.whole.laws;
    let mut all = Vec::new();
    quantities(&mut all, "amdahl", &laws.amdahl, &[("serial", |l| l.serial), ("limit", |l| l.limit())]);
    quantities(&mut all, "gustafson", &laws.gustafson, &[("serial", |l| l.serial)]);
    match &laws.karp_flatt {
        Ok(shares) => all.extend(shares.iter().map(|(p, share)| LawJson {
            processors: Some(*p),
            value: Some(*share),
            ..LawJson::none("karp_flatt", "serial")
        })),
        Err(reason) => all.push(LawJson::refused("karp_flatt", "serial", reason)),
    }
    quantities(
        &mut all,
        "scalability",
        &laws.scalability,
        &[
            ("contention", |l| l.contention),
            ("coherence", |l| l.coherence),
            ("peak_processors", |l| l.peak()),
            ("limit", |l| l.limit()),
        ],
    );
    for (processors, needed) in &laws.isoefficiency {
        let quantity = "times_the_work";
        let law = match needed {
            Ok(needed) => {
                LawJson { value: Some(needed.times_the_work), ..LawJson::none("isoefficiency", quantity) }
            }
            Err(reason) => LawJson::refused("isoefficiency", quantity, reason),
        };
        all.push(LawJson { processors: Some(f64::from(*processors)), ..law });
    }
    all
}

type Quantity<T> = (&'static str, fn(&T) -> f64);

fn quantities<T>(
    all: &mut Vec<LawJson>,
    law: &'static str,
    found: &Result<Held<T>, String>,
    quantities: &[Quantity<T>],
) {
    all.extend(quantities.iter().map(|(quantity, value)| match found {
        Ok(held) => LawJson {
            value: Some(value(&held.law)),
            miss_percent: Some(100.0 * held.miss),
            ..LawJson::none(law, quantity)
        },
        Err(reason) => LawJson::refused(law, quantity, reason),
    }));
}

impl LawJson {
    fn none(law: &'static str, quantity: &'static str) -> LawJson {
        LawJson { law, processors: None, quantity, value: None, miss_percent: None, refusal: None }
    }

    fn refused(law: &'static str, quantity: &'static str, reason: &str) -> LawJson {
        LawJson { refusal: Some(reason.to_owned()), ..LawJson::none(law, quantity) }
    }
}

fn part(part: &Part) -> PartJson<'_> {
    PartJson {
        about: about(part),
        path: part.standing.path().collect(),
        measured: measured(&part.series),
        forecast: forecast(&part.forecast),
        shares_percent: json_part::shares(&part.standing),
    }
}

/// What a part is and how it stands.
pub(super) fn about(part: &Part) -> AboutJson<'_> {
    AboutJson {
        standing: json_part::standing(&part.standing),
        bound_average: interval(part.bounds.average),
        bound_largest: interval(part.bounds.largest),
        max_over_mean: part.max_over_mean,
        inflexion: inflexion(&part.inflexion),
        turning: part.turning.map(|turning| interval(turning.p)),
    }
}

/// The times of a series.
pub(super) fn measured(series: &Series) -> Vec<MeasuredJson> {
    let of_point = |point: &falloff_models::Point| MeasuredJson {
        processors: point.scale.p,
        repetitions: point.count,
        seconds: point.mean,
        standard_error_seconds: point.error,
    };
    series.times.iter().map(of_point).collect()
}

/// What a law says, or why there is none.
pub(super) fn forecast(forecast: &Forecast) -> ForecastJson {
    ForecastJson { model: json_part::model(&forecast.model), predictions: predictions(forecast) }
}

/// The predictions of a part.
pub(super) fn predictions(forecast: &Forecast) -> Vec<PredictionJson> {
    let predictions = forecast.predictions.iter();
    predictions
        .map(|prediction| PredictionJson {
            processors: prediction.processors,
            cost: json_part::cost(&prediction.seconds),
        })
        .collect()
}

/// Notes on the data.
pub(super) fn notes(outlook: &Outlook) -> Vec<NoteJson<'_>> {
    outlook.notes.iter().map(|note| note_json(note, note.part.map(|part| &outlook.parts[part]))).collect()
}

fn note_json<'a>(note: &'a Note, part: Option<&'a Part>) -> NoteJson<'a> {
    let none = NoteJson {
        kind: "",
        context: part.and_then(|part| part.standing.place.as_ref()).map(|place| place.context),
        name: part.map_or("<whole run>", |part| part.standing.name()),
        run: None,
        processors: None,
        seconds: None,
        expected_seconds: None,
        next_processors: None,
    };
    match &note.fact {
        Fact::StrayRun { run, seconds, typical } => NoteJson {
            kind: "stray_run",
            run: Some(run),
            seconds: Some(*seconds),
            expected_seconds: Some(*typical),
            ..none
        },
        Fact::StrayCount { processors, seconds, expected } => NoteJson {
            kind: "stray_count",
            processors: Some(*processors),
            seconds: Some(*seconds),
            expected_seconds: Some(*expected),
            ..none
        },
        Fact::Split { last, first } => {
            NoteJson { kind: "split", processors: Some(*last), next_processors: Some(*first), ..none }
        }
    }
}
