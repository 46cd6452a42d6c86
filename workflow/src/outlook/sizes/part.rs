//! One part of a run over problem sizes.

use falloff_models::Scale;

use super::surface::Surface;
use crate::outlook::part::Place;

/// One part of a run: its times over sizes and counts, and how it stands among the others.
#[derive(Clone, Debug, PartialEq)]
pub struct SizePart {
    /// Where it is; `None` for all parts with too few samples together.
    pub place: Option<Place>,
    /// How many parts of the run it stands for: 1 if it has a place.
    pub count: usize,
    /// Its times, and what is predicted.
    pub surface: Surface,
    /// Seconds a processor at the largest count of the largest size.
    pub seconds: f64,
    /// That against the whole run's, as a fraction.
    pub share: f64,
    /// Its share of the whole run's predicted time at each target, as a fraction; `None` if one of the two is not predicted.
    pub shares: Vec<Option<f64>>,
    /// Its place by the time at the largest count of the largest size, from 1.
    pub rank: usize,
    /// Its place by predicted time at the target that is ranked, among those that have one, from 1.
    pub rank_then: Option<usize>,
}

impl SizePart {
    /// A part of the run whose times are `whole`, `last` being its largest scale; not yet ranked.
    pub(super) fn new(
        place: Option<Place>,
        count: usize,
        surface: Surface,
        whole: &Surface,
        last: Scale,
    ) -> SizePart {
        let seconds = surface.measured(last);
        let shares = (0..whole.predictions.len()).map(|target| Some(surface.at(target)? / whole.at(target)?));
        SizePart {
            place,
            count,
            seconds,
            share: seconds / whole.measured(last),
            shares: shares.collect(),
            surface,
            rank: 0,
            rank_then: None,
        }
    }
}

/// Puts parts in the order of their times at the target that is ranked, then those of which nothing is predicted there by their
/// time at the largest scale, and gives them their ranks at both.
pub(super) fn rank(parts: &mut [SizePart], ranked: Option<usize>) {
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    for (index, part) in parts.iter_mut().enumerate() {
        part.rank = index + 1;
    }
    let Some(target) = ranked else { return };
    let then = |part: &SizePart| part.surface.at(target).unwrap_or(f64::NEG_INFINITY);
    parts.sort_by(|a, b| then(b).total_cmp(&then(a)));
    for (index, part) in parts.iter_mut().enumerate() {
        part.rank_then = part.surface.at(target).map(|_| index + 1);
    }
}
