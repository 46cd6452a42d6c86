//! Which part of a run something is, and how it stands among the others.

use super::part::Place;

/// A part and how it stands: by its time now, at the largest scale measured, and by what is predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Where it is; `None` for all parts with too few samples together.
    pub place: Option<Place>,
    /// How many parts of the run it stands for: 1 if it has a place.
    pub count: usize,
    /// Seconds a processor now.
    pub seconds: f64,
    /// Its share of the whole run's time now, as a fraction.
    pub share: f64,
    /// Its share of the whole run's predicted time at each target, as a fraction; `None` if one of the two is not predicted.
    pub shares: Vec<Option<f64>>,
    /// Its place by the time now, from 1.
    pub rank: usize,
    /// Its place by predicted time at the target that is ranked, among those that have one, from 1.
    pub rank_then: Option<usize>,
}

impl Standing {
    /// A part that takes `seconds` of the `whole` run's now; not yet ranked.
    pub(super) fn new(
        (place, count): (Option<Place>, usize),
        (seconds, whole): (f64, f64),
        shares: impl Iterator<Item = Option<f64>>,
    ) -> Standing {
        let share = seconds / whole;
        Standing { place, count, seconds, share, shares: shares.collect(), rank: 0, rank_then: None }
    }

    /// Whether it stands for parts with too few samples.
    pub fn is_rare(&self) -> bool {
        self.place.is_none()
    }

    /// Name of its own frame.
    pub fn name(&self) -> &str {
        self.place.as_ref().map_or("<rare>", |place| place.name())
    }

    /// Names of the frames from the outermost to its own; none if it is rare.
    pub fn path(&self) -> impl Iterator<Item = &str> {
        self.place.iter().flat_map(|place| &place.path).map(|name| &**name)
    }
}

/// What has a standing among others.
pub(super) trait Ranked {
    /// How it stands.
    fn standing(&self) -> &Standing;
    /// The same, to be changed.
    fn standing_mut(&mut self) -> &mut Standing;
    /// Seconds a processor that are predicted at the target that is ranked.
    fn then(&self, target: usize) -> Option<f64>;
}

/// Puts parts in the order of their times at the target that is ranked, then those of which nothing is predicted there by their
/// time now, and gives them their ranks at both.
pub(super) fn rank<P: Ranked>(parts: &mut [P], ranked: Option<usize>) {
    parts.sort_by(|a, b| b.standing().seconds.total_cmp(&a.standing().seconds));
    for (index, part) in parts.iter_mut().enumerate() {
        part.standing_mut().rank = index + 1;
    }
    let Some(target) = ranked else { return };
    let then = |part: &P| part.then(target).unwrap_or(f64::NEG_INFINITY);
    parts.sort_by(|a, b| then(b).total_cmp(&then(a)));
    for (index, part) in parts.iter_mut().enumerate() {
        part.standing_mut().rank_then = part.then(target).map(|_| index + 1);
    }
}
