//! Bounds of the speed-up in JSON.

use falloff_models::{Inflexion, Interval, State, Step};
use serde::Serialize;

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
