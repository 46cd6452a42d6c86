//! Bounds of the speed-up in JSON.

use falloff_models::{Inflexion, Interval, State, Step};
use serde::Serialize;

use crate::bounds::{PathBounds, RowBounds};
use crate::scoring::Score;

/// A value and where it lies.
#[derive(Clone, Serialize)]
pub(super) struct IntervalJson {
    value: f64,
    low: f64,
    high: f64,
}

/// Where a time stops falling.
#[derive(Clone, Serialize)]
pub(super) struct InflexionJson {
    state: &'static str,
    fastest: f64,
    bracket_low: f64,
    bracket_high: f64,
    noise_known: bool,
}

/// What one part takes from the speed-up.
#[derive(Serialize)]
pub(super) struct StepJson {
    seconds: f64,
    bound: f64,
    share_percent: f64,
    without: f64,
    next: Option<usize>,
    next_bound: Option<f64>,
    inflexion: Option<InflexionJson>,
}

/// How a row bounds the speed-up.
#[derive(Serialize)]
pub(super) struct RowBoundsJson {
    bound_average: IntervalJson,
    bound_largest: IntervalJson,
    inflexion: Option<InflexionJson>,
}

/// What bounds the speed-up of a score.
#[derive(Serialize)]
pub(super) struct BoundsJson<'a> {
    speedup: f64,
    waterfall: Vec<BoundStepJson<'a>>,
    tightest: Option<usize>,
    lasting: Option<usize>,
}

/// What one call path takes from the speed-up; without an id all that are rare.
#[derive(Serialize)]
pub(super) struct BoundStepJson<'a> {
    id: Option<u32>,
    name: &'a str,
    #[serde(flatten)]
    step: StepJson,
}

pub(super) fn interval(interval: Interval) -> IntervalJson {
    IntervalJson { value: interval.value, low: interval.low, high: interval.high }
}

pub(super) fn inflexion(inflexion: &Inflexion) -> InflexionJson {
    InflexionJson {
        state: state(inflexion.state),
        fastest: inflexion.fastest,
        bracket_low: inflexion.bracket.0,
        bracket_high: inflexion.bracket.1,
        noise_known: inflexion.noise_known,
    }
}

/// The word for a state.
pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Accelerating => "falls",
        State::Saturated => "flat",
        State::Past => "past",
    }
}

/// A step of a waterfall; `next` is a place in it.
pub(super) fn step(step: &Step, of: Option<Inflexion>) -> StepJson {
    StepJson {
        seconds: step.seconds,
        bound: step.bound,
        share_percent: 100.0 * step.share,
        without: step.without,
        next: step.next.map(|(next, _)| next),
        next_bound: step.next.map(|(_, bound)| bound),
        inflexion: of.as_ref().map(inflexion),
    }
}

/// The bounds of a row.
pub(super) fn row(row: &RowBounds) -> RowBoundsJson {
    RowBoundsJson {
        bound_average: interval(row.bounds.average),
        bound_largest: interval(row.bounds.largest),
        inflexion: row.inflexion.as_ref().map(inflexion),
    }
}

/// The waterfall of a score over its call paths, at most so many.
pub(super) fn bounds(score: &Score, most: usize) -> Option<BoundsJson<'_>> {
    let bounds = score.bounds.as_ref()?;
    let steps = &bounds.waterfall.steps;
    Some(BoundsJson {
        speedup: bounds.waterfall.speedup,
        waterfall: bound_steps(score, most),
        tightest: (!steps.is_empty()).then_some(0),
        lasting: bounds.lasting().and_then(|step| steps.iter().position(|other| other == step)),
    })
}

/// What each call path takes from the speed-up, at most so many, those that take most first.
pub(super) fn bound_steps(score: &Score, most: usize) -> Vec<BoundStepJson<'_>> {
    let of_bounds = |bounds: &'_ PathBounds| {
        let step = |step: &Step| {
            let id = bounds.context(step);
            BoundStepJson {
                id,
                name: id.map_or("<rare>", |id| &score.context.rows[id as usize].name),
                step: self::step(step, bounds.inflexion(step)),
            }
        };
        bounds.waterfall.steps.iter().take(most).map(step).collect::<Vec<_>>()
    };
    score.bounds.as_ref().map(of_bounds).unwrap_or_default()
}
