//! Whose work makes the others wait.

/// Work of all participants at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Context of a task.
    pub place: u32,
    /// Seconds of each participant.
    pub seconds: Vec<f64>,
}

/// Waiting with its reasons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Charges {
    /// Seconds of waiting that the work at each place brings about, largest first.
    pub places: Vec<(u32, f64)>,
    /// Waiting that no difference of work explains.
    pub rest: f64,
}

impl Charges {
    /// All that is explained, seconds.
    pub fn explained(&self) -> f64 {
        self.places.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// Shares out what each participant waits among the places at which others have more work than it has: delay costs of the
/// kind that Böhme et al., ICPP'10, take from traces, with sums over a run in place of single instances.
///
/// `waits[r]` is what participant r waits, and `late` says who comes last. At every place the excess of the work of those who
/// come last (the most of any of them) over r's counts, if it is more than twice its sampling error at `period` seconds
/// between samples. r's wait is shared in proportion, and what is more than the sum of these differences stays unexplained.
///
/// Work of 10, 6 and 4 s before a barrier: the others wait 0, 4 and 6 s, all of it for the work of the first.
///
/// ```
/// use falloff_workflow::causes::{Work, charge};
/// let work = [Work { place: 7, seconds: vec![10.0, 6.0, 4.0] }, Work { place: 9, seconds: vec![1.0, 1.0, 1.0] }];
/// let charges = charge(&[0.0, 4.0, 6.0], &[true, false, false], &work, 0.0);
/// assert_eq!((charges.places, charges.rest), (vec![(7, 10.0)], 0.0));
/// ```
pub fn charge(waits: &[f64], late: &[bool], work: &[Work], period: f64) -> Charges {
    let mut places: Vec<(u32, f64)> = work.iter().map(|w| (w.place, 0.0)).collect();
    let mut rest = 0.0;
    for (who, wait) in waits.iter().enumerate() {
        let more: Vec<f64> = work.iter().map(|w| more_than(w, who, late, period)).collect();
        let sum: f64 = more.iter().sum();
        let explained = wait.min(sum);
        rest += wait - explained;
        if sum > 0.0 {
            places.iter_mut().zip(more).for_each(|(place, more)| place.1 += explained * more / sum);
        }
    }
    places.retain(|(_, seconds)| *seconds > 0.0);
    places.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Charges { places, rest }
}

/// How much more work those who are late have at a place than `who` has.
fn more_than(work: &Work, who: usize, late: &[bool], period: f64) -> f64 {
    let own = work.seconds[who];
    let most = work.seconds.iter().zip(late).filter(|(_, late)| **late).map(|(s, _)| *s).fold(0.0, f64::max);
    let error = (period * (most + own)).sqrt();
    if most - own > 2.0 * error { most - own } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn several_places_share_a_wait() {
        let work = [Work { place: 1, seconds: vec![6.0, 3.0] }, Work { place: 2, seconds: vec![2.0, 1.0] }];
        let charges = charge(&[0.0, 8.0], &[true, false], &work, 0.0);
        assert_eq!(charges.places, [(1, 3.0), (2, 1.0)]);
        assert_eq!(charges.rest, 4.0);
    }

    #[test]
    fn differences_within_the_sampling_error_do_not_count() {
        let work = [Work { place: 1, seconds: vec![1.05, 1.0] }];
        let charges = charge(&[0.0, 0.05], &[true, false], &work, 0.005);
        assert_eq!((charges.places.len(), charges.rest), (0, 0.05));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            waits in prop::collection::vec(0.0f64..10.0, 4),
            seconds in prop::collection::vec(prop::collection::vec(0.0f64..10.0, 4), 1..5),
            last in 0usize..4,
        ) {
            let work: Vec<Work> = (0..).zip(seconds).map(|(place, seconds)| Work { place, seconds }).collect();
            let late: Vec<bool> = (0..4).map(|who| who == last).collect();
            let charges = charge(&waits, &late, &work, 0.005);
            prop_assert!((charges.explained() + charges.rest - waits.iter().sum::<f64>()).abs() < 1e-9);
            prop_assert!(charges.rest >= -1e-9);
        }
    }
}
