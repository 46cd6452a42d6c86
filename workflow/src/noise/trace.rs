//! Detours one by one.

use serde::{Deserialize, Serialize};

/// Detours one by one, over the beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// From the beginning of the measurement to its end, or to where the list ends for want of room.
    pub covers_ns: u64,
    /// When each began, since the beginning of the measurement, ascending.
    pub start_ns: Vec<u64>,
    /// How long each was.
    pub length_ns: Vec<u64>,
}

impl Trace {
    /// To lay over a replay, again and again.
    ///
    /// # Errors
    /// They leave no time for anything else.
    pub fn overlay(&self) -> Result<falloff_messages::Detours, falloff_messages::DetoursError> {
        let detours: Vec<(u64, u64)> =
            self.start_ns.iter().copied().zip(self.length_ns.iter().copied()).collect();
        falloff_messages::Detours::new(self.covers_ns, &detours)
    }

    /// What this has more than `usual`: of the detours of each length, within a factor of two, as much as they take more of the
    /// time than in `usual`, evenly from beginning to end. Where `usual` has more, the next shorter ones make up for it, and
    /// then the longer ones, so that what is left takes as much of the time as all of these take more.
    ///
    /// ```
    /// use falloff_workflow::noise::Trace;
    /// // 4 ms of each 20 ms beside a tick of 3 µs every millisecond, and the tick alone.
    /// let tick = |n: u64| (n * 1_000_000, 3_000);
    /// let both = (0..100).flat_map(|n| if n % 20 == 0 { vec![tick(n), (n * 1_000_000 + 50_000, 4_000_000)] } else { vec![tick(n)] });
    /// let trace = |detours: Vec<(u64, u64)>| {
    ///     let (start_ns, length_ns) = detours.into_iter().unzip();
    ///     Trace { covers_ns: 100_000_000, start_ns, length_ns }
    /// };
    /// let more = trace(both.collect()).beyond(&trace((0..100).map(tick).collect()));
    /// assert_eq!(more.length_ns, [4_000_000; 5]);
    /// ```
    pub fn beyond(&self, usual: &Trace) -> Trace {
        let (here, there) = (self.share_by_class(), usual.share_by_class());
        let mut more: Vec<f64> = here.iter().zip(&there).map(|(here, there)| here - there).collect();
        let mut owed = 0.0;
        for class in (0..CLASSES).rev().chain(0..CLASSES) {
            let left = more[class] - owed;
            (more[class], owed) = (left.max(0.0), (-left).max(0.0));
        }
        // Time of each class that is still to be kept of what has come.
        let mut due = [0.0; CLASSES];
        let is_kept = |length: u64| {
            let class = class_of(length);
            due[class] += length as f64 * more[class] / here[class];
            let is_kept = due[class] >= length as f64 / 2.0;
            due[class] -= if is_kept { length as f64 } else { 0.0 };
            is_kept
        };
        let is_kept: Vec<bool> = self.length_ns.iter().copied().map(is_kept).collect();
        let only =
            |all: &[u64]| all.iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(of, _)| *of).collect();
        Trace { covers_ns: self.covers_ns, start_ns: only(&self.start_ns), length_ns: only(&self.length_ns) }
    }

    /// Which part of the time detours of each class of lengths take.
    fn share_by_class(&self) -> [f64; CLASSES] {
        let mut shares = [0.0; CLASSES];
        self.length_ns.iter().for_each(|length| {
            shares[class_of(*length)] += *length as f64 / self.covers_ns.max(1) as f64;
        });
        shares
    }
}

/// Classes of lengths of nanoseconds, one for each factor of two.
const CLASSES: usize = u64::BITS as usize + 1;

fn class_of(length_ns: u64) -> usize {
    (u64::BITS - length_ns.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    fn trace(lengths: &[u64]) -> Trace {
        let start_ns = (0..lengths.len() as u64).map(|n| n * 1_000).collect();
        Trace { covers_ns: 1_000_000, start_ns, length_ns: lengths.to_vec() }
    }

    fn share(trace: &Trace) -> f64 {
        trace.share_by_class().iter().sum()
    }

    proptest! {
        /// Up to a detour of each class, since they are kept whole.
        #[test]
        fn what_is_left_takes_as_much_of_the_time_as_there_is_more(
            all in proptest::collection::vec(1..1_000_u64, 0..60),
            usual in proptest::collection::vec(1..1_000_u64, 0..60)
        ) {
            let (all, usual) = (trace(&all), trace(&usual));
            let left = all.beyond(&usual);
            let of_each: BTreeSet<u64> = all.length_ns.iter().map(|length| 1 << class_of(*length)).collect();
            let more = (share(&all) - share(&usual)).max(0.0);
            prop_assert!((share(&left) - more).abs() <= of_each.iter().sum::<u64>() as f64 / 1e6);
            prop_assert!(left.start_ns.iter().all(|start| all.start_ns.contains(start)));
            prop_assert_eq!(left.start_ns.len(), left.length_ns.len());
        }
    }
}
