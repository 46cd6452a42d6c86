//! Up to which size messages went without waiting for their receive.

use super::by_size::octave;
use std::collections::BTreeMap;

/// How often sends of like size ended before their receive began, and how often they waited for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Eagerness(BTreeMap<u32, OfSize>);

#[derive(Clone, Copy, Debug)]
struct OfSize {
    went: u64,
    waited: u64,
    largest_that_went: u64,
    smallest_that_waited: u64,
}

impl Eagerness {
    pub fn add(&mut self, bytes: u64, waited: bool) {
        let none = OfSize { went: 0, waited: 0, largest_that_went: 0, smallest_that_waited: u64::MAX };
        let of = self.0.entry(octave(bytes)).or_insert(none);
        if waited {
            of.waited += 1;
            of.smallest_that_waited = of.smallest_that_waited.min(bytes);
        } else {
            of.went += 1;
            of.largest_that_went = of.largest_that_went.max(bytes);
        }
    }

    /// The limit that contradicts fewest of the sends, the largest of several; `usual` where that contradicts none.
    pub fn limit(&self, usual: u64) -> Option<u64> {
        let sizes: Vec<OfSize> = self.0.values().copied().collect();
        if sizes.is_empty() {
            return None;
        }
        let contradicting = |eager: usize| {
            let (below, above) = sizes.split_at(eager);
            below.iter().map(|of| of.waited).sum::<u64>() + above.iter().map(|of| of.went).sum::<u64>()
        };
        let eager = (0..=sizes.len()).rev().min_by_key(|eager| contradicting(*eager))?;
        let (below, above) = sizes.split_at(eager);
        let least = below.iter().map(|of| of.largest_that_went).max().unwrap_or(0);
        let most = above.iter().map(|of| of.smallest_that_waited).min().unwrap_or(u64::MAX);
        Some(usual.clamp(least, most.saturating_sub(1).max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(sends: &[(u64, bool)]) -> Option<u64> {
        let mut all = Eagerness::default();
        sends.iter().for_each(|(bytes, waited)| all.add(*bytes, *waited));
        all.limit(4096)
    }

    #[test]
    fn it_lies_between_what_went_and_what_waited() {
        assert_eq!(limit(&[]), None);
        assert_eq!(limit(&[(100, false), (1000, true)]), Some(999));
        assert_eq!(limit(&[(100, false), (100_000, true)]), Some(4096));
        assert_eq!(limit(&[(50_000, false), (100_000, true)]), Some(50_000));
        assert_eq!(limit(&[(100_000, true)]), Some(4096));
        assert_eq!(limit(&[(100_000, false)]), Some(100_000));
    }

    #[test]
    fn a_few_that_took_long_do_not_count() {
        let mut all = Eagerness::default();
        for n in 0..100 {
            all.add(8000, n % 20 == 0);
            all.add(20_000, n % 20 != 0);
        }
        assert_eq!(all.limit(4096), Some(8000));
    }
}
