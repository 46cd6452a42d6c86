//! What all outlooks say of a part in JSON and CSV: which it is, its law, and what that predicts.

use falloff_models::{Interval, Model};
use serde::Serialize;

use crate::outlook::Standing;
use crate::report::json_bounds::{IntervalJson, interval};

/// Which part it is and how it stands.
#[derive(Clone, Serialize)]
pub(super) struct StandingJson<'a> {
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

/// A law, or why there is none.
#[derive(Serialize)]
pub(super) struct ModelJson {
    formula: Option<String>,
    smape_percent: Option<f64>,
    adjusted_r2: Option<f64>,
    laws: Vec<String>,
    coefficients: Vec<IntervalJson>,
    no_model: Option<String>,
}

/// A predicted time; the seconds are null where it is refused.
#[derive(Clone, Serialize)]
pub(super) struct CostJson {
    seconds: Option<f64>,
    low_seconds: Option<f64>,
    high_seconds: Option<f64>,
    refusal: Option<String>,
}

/// What a line of CSV says of a part's future: its law, and one prediction.
#[derive(Serialize)]
pub(super) struct Said<'a, P> {
    formula: Option<String>,
    smape_percent: Option<f64>,
    no_model: Option<&'a str>,
    prediction: P,
}

/// The line of a call path in CSV: what is said of it (`A`), and a prediction (`P`).
#[derive(Serialize)]
pub(super) struct PathLine<'a, A, P> {
    #[serde(flatten)]
    about: A,
    path: String,
    #[serde(flatten)]
    said: Said<'a, P>,
    prediction_share_percent: Option<f64>,
}

/// Which part it is and how it stands.
pub(super) fn standing(standing: &Standing) -> StandingJson<'_> {
    let place = standing.place.as_ref();
    StandingJson {
        context: place.map(|place| place.context),
        name: standing.name(),
        count: standing.count,
        module: place.and_then(|place| place.module.as_deref()),
        file: place.and_then(|place| place.file.as_deref()),
        line: place.and_then(|place| place.line),
        rank: standing.rank,
        rank_then: standing.rank_then,
        seconds: standing.seconds,
        share_percent: 100.0 * standing.share,
    }
}

/// Shares of the whole run's predicted time.
pub(super) fn shares(standing: &Standing) -> Vec<Option<f64>> {
    standing.shares.iter().map(|share| share.map(|share| 100.0 * share)).collect()
}

/// What a law says, or why there is none.
pub(super) fn model(model: &Result<Model, String>) -> ModelJson {
    let law = model.as_ref().ok();
    let coefficients = law.map(|law| law.coefficients()).unwrap_or_default();
    ModelJson {
        formula: law.map(ToString::to_string),
        smape_percent: law.map(|law| law.smape()),
        adjusted_r2: law.map(|law| law.adjusted_r2()),
        laws: law.map(|law| law.set()).unwrap_or_default(),
        coefficients: coefficients.into_iter().map(interval).collect(),
        no_model: model.as_ref().err().cloned(),
    }
}

/// A predicted time.
pub(super) fn cost(said: &Result<Interval, String>) -> CostJson {
    let cost = said.as_ref().ok();
    CostJson {
        seconds: cost.map(|cost| cost.value),
        low_seconds: cost.map(|cost| cost.low),
        high_seconds: cost.map(|cost| cost.high),
        refusal: said.as_ref().err().cloned(),
    }
}

/// A law with each of its predictions.
pub(super) fn said<'a, P>(
    model: &'a Result<Model, String>,
    predictions: Vec<P>,
) -> impl Iterator<Item = Said<'a, P>> {
    let law = model.as_ref();
    predictions.into_iter().map(move |prediction| Said {
        formula: law.ok().map(ToString::to_string),
        smape_percent: law.ok().map(|law| law.smape()),
        no_model: law.err().map(String::as_str),
        prediction,
    })
}

/// One line of CSV for each prediction of a call path.
pub(super) fn path_lines<'a, A: Clone, P>(
    about: A,
    standing: &'a Standing,
    model: &'a Result<Model, String>,
    predictions: Vec<P>,
) -> impl Iterator<Item = PathLine<'a, A, P>> {
    let path = standing.path().collect::<Vec<_>>().join(" > ");
    said(model, predictions).zip(shares(standing)).map(move |(said, share)| PathLine {
        about: about.clone(),
        path: path.clone(),
        said,
        prediction_share_percent: share,
    })
}
