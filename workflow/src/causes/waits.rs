//! How much of the time in a meeting of all participants is waiting, from samples alone.

use super::ledger::times;
use super::spread::Spread;

/// What of the participants' times in one collective call path must be waiting, and what may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitBounds {
    /// At least so much is waiting, seconds over all participants.
    pub low: f64,
    /// At most so much is.
    pub high: f64,
}

/// Bounds of the waiting in a call path that all participants go through equally often, from the time of each in it.
///
/// `wait_low = Σ (T_r − min T)`: the operation itself takes each of them as long, so whoever takes longer than the fastest
/// has waited; the sum of the smallest times of all instances is at most the smallest sum. It is exact if the same
/// participant always comes last. `wait_high = Σ T_r − q·floor`, with `floor` the time that the instances would take without
/// waiting, 0 if it is not known.
///
/// ```
/// use falloff_workflow::causes::wait_bounds;
/// let bounds = wait_bounds(&[1.0, 5.0, 7.0], 0.5);
/// assert_eq!((bounds.low, bounds.high), (10.0, 11.5));
/// ```
pub fn wait_bounds(times: &[f64], floor: f64) -> WaitBounds {
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return WaitBounds::default();
    }
    let sum: f64 = times.iter().sum();
    let count = times.len() as f64;
    WaitBounds { low: sum - count * least, high: (sum - count * floor).max(0.0) }
}

/// Part of the waiting, as a fraction, up to which somebody still counts as coming last.
const LAST: f64 = 0.1;

/// Part of the time in an operation that must be waiting for the same participants, as a fraction, for them to be the reason.
const PERSISTENT: f64 = 0.5;

/// What participants wait in one collective call path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// Context of the operation.
    pub place: u32,
    /// What each participant waits at least; zero for who comes last or takes no part.
    pub waits: Vec<f64>,
    /// All the time there, seconds over all participants: so much of it is waiting at most.
    pub high: f64,
    /// Indices of those who come last.
    pub last: Vec<u32>,
    /// How many take part.
    pub count: usize,
}

impl Waiting {
    /// What is waited in an operation, from the time of each in the operations.
    pub(super) fn of(place: u32, operations: &Spread) -> Waiting {
        let times = times(operations, place);
        let least = times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let mut waits = vec![0.0; operations.participants()];
        times.iter().for_each(|(who, time)| waits[*who as usize] = time - least);
        let most = waits.iter().copied().fold(0.0, f64::max);
        let last =
            times.iter().filter(|(_, time)| time - least <= LAST * most).map(|(who, _)| *who).collect();
        Waiting { place, high: times.iter().map(|(_, time)| time).sum(), last, count: times.len(), waits }
    }

    /// What is waited at least, seconds over all participants.
    pub fn low(&self) -> f64 {
        self.waits.iter().sum()
    }

    /// How much of the time is surely waiting, as a fraction: near 1 if the same participant comes last each time.
    pub fn persistence(&self) -> f64 {
        if self.high > 0.0 { self.low() / self.high } else { 0.0 }
    }

    /// Whether most of the time is waiting for the same participants.
    pub fn is_persistent(&self) -> bool {
        self.persistence() >= PERSISTENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Waits at a barrier where all leave when the last has come: what each has waited, over all instances.
    fn barriers(instances: &[Vec<f64>], operation: f64) -> (Vec<f64>, f64) {
        let ranks = instances[0].len();
        let (mut inside, mut waited) = (vec![0.0; ranks], 0.0);
        for arrivals in instances {
            let last = arrivals.iter().copied().fold(0.0, f64::max);
            for (rank, arrival) in arrivals.iter().enumerate() {
                inside[rank] += last - arrival + operation;
                waited += last - arrival;
            }
        }
        (inside, waited)
    }

    proptest! {
        #[test]
        fn the_lower_bound_is_one(instances in prop::collection::vec(prop::collection::vec(0.0f64..10.0, 4), 1..20)) {
            let (inside, waited) = barriers(&instances, 0.25);
            let bounds = wait_bounds(&inside, 0.25 * instances.len() as f64);
            prop_assert!(bounds.low <= waited + 1e-9);
            prop_assert!((bounds.high - waited).abs() < 1e-9);
        }

        #[test]
        fn it_is_exact_if_one_is_always_last(early in prop::collection::vec(prop::collection::vec(0.0f64..5.0, 3), 1..20)) {
            let instances: Vec<Vec<f64>> = early.into_iter().map(|mut ranks| { ranks.push(6.0); ranks }).collect();
            let (inside, waited) = barriers(&instances, 0.25);
            prop_assert!((wait_bounds(&inside, 0.0).low - waited).abs() < 1e-9);
        }
    }

    #[test]
    fn nobody_waits_alone() {
        assert_eq!(wait_bounds(&[], 0.0), WaitBounds::default());
        assert_eq!(wait_bounds(&[3.0], 0.0).low, 0.0);
    }

    #[test]
    fn waits_are_told_by_participant() {
        let operations = Spread::new(4, vec![(3, 0, 5.0), (3, 1, 1.0), (3, 3, 1.2), (8, 2, 9.0)]);
        let waiting = Waiting::of(3, &operations);
        assert_eq!((waiting.count, waiting.last.as_slice()), (3, [1, 3].as_slice()));
        let bounds = wait_bounds(&[5.0, 1.0, 1.2], 0.0);
        assert!((waiting.low() - bounds.low).abs() < 1e-12 && (waiting.high - bounds.high).abs() < 1e-12);
        assert!((waiting.persistence() - 4.2 / 7.2).abs() < 1e-12);
        assert_eq!(Waiting::of(4, &operations).persistence(), 0.0);
    }
}
