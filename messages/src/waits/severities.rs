//! Time by location, call path and metric.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Metric;

/// Nanoseconds of each metric at each call path of each location, exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Severities(FxHashMap<(u32, u32, Metric), u64>);

impl Severities {
    /// Adds nanoseconds.
    pub(super) fn add(&mut self, location: u32, path: u32, metric: Metric, ns: u64) {
        if ns > 0 {
            let sum = self.0.entry((location, path, metric)).or_default();
            *sum = sum.saturating_add(ns);
        }
    }

    /// Counts nanoseconds for `to` that were counted for `from`.
    pub(super) fn transfer(&mut self, location: u32, path: u32, from: Metric, to: Metric, ns: u64) {
        if let Some(there) = self.0.get_mut(&(location, path, from)) {
            let moved = ns.min(*there);
            *there -= moved;
            if *there == 0 {
                self.0.remove(&(location, path, from));
            }
            self.add(location, path, to, moved);
        }
    }

    /// All values that are not 0: location, call path, metric, nanoseconds, in this order.
    pub fn sorted(&self) -> Vec<(u32, u32, Metric, u64)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable();
        all
    }

    /// All values that are not 0: location, call path, metric, nanoseconds, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, Metric, u64)> {
        self.0.iter().map(|((location, path, metric), ns)| (*location, *path, *metric, *ns))
    }

    /// Nanoseconds of a metric and all below it, over all call paths and locations.
    pub fn total(&self, metric: Metric) -> u64 {
        self.by(metric, |_, _| ()).into_values().sum()
    }

    /// The same for each location that has any.
    pub fn by_location(&self, metric: Metric) -> BTreeMap<u32, u64> {
        self.by(metric, |location, _| location)
    }

    /// The same for each call path that has any.
    pub fn by_path(&self, metric: Metric) -> BTreeMap<u32, u64> {
        self.by(metric, |_, path| path)
    }

    fn by<K: Ord>(&self, metric: Metric, key: impl Fn(u32, u32) -> K) -> BTreeMap<K, u64> {
        let mut sums = BTreeMap::new();
        for (location, path, _, ns) in self.iter().filter(|(_, _, of, _)| of.is_within(metric)) {
            let sum: &mut u64 = sums.entry(key(location, path)).or_default();
            *sum = sum.saturating_add(ns);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_what_it_has_and_what_those_below_it_have() {
        let mut times = Severities::default();
        times.add(0, 1, Metric::LateSender, 5);
        times.add(1, 2, Metric::Transfer, 2);
        times.transfer(0, 1, Metric::LateSender, Metric::WrongOrderSameSource, 3);
        assert_eq!(times.total(Metric::LateSender), 5);
        assert_eq!(times.total(Metric::PointToPoint), 7);
        assert_eq!(times.by_location(Metric::Mpi), BTreeMap::from([(0, 5), (1, 2)]));
        assert_eq!(times.by_path(Metric::WrongOrderSameSource), BTreeMap::from([(1, 3)]));
        assert_eq!(times.sorted()[0], (0, 1, Metric::LateSender, 2));
    }
}
