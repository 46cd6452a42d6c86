//! What was found of a run's waiting.

use std::collections::BTreeMap;

use super::{Blame, Checks, Efficiencies, Metric, Severities};

/// What was found of a run's waiting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Time of all metrics, by location and call path.
    pub times: Severities,
    /// Nanoseconds of waiting by what made it wait, most first: by the nearest cause, which may be waiting itself.
    pub blames: Vec<(Blame, u64)>,
    /// From the first call of any location to the end of the last, nanoseconds.
    pub length_ns: u64,
    /// How many locations there are.
    pub locations: usize,
    /// How often times contradicted the order of what happened.
    pub checks: Checks,
}

impl Analysis {
    /// Nanoseconds of all waiting for others.
    pub fn waiting_ns(&self) -> u64 {
        self.times.iter().filter(|(_, _, metric, _)| metric.is_wait()).map(|(.., ns)| ns).sum()
    }

    /// Nanoseconds of waiting for others at each call path that waited, by pattern.
    pub fn waiting_by_path(&self) -> BTreeMap<u32, BTreeMap<Metric, u64>> {
        let mut waits: BTreeMap<u32, BTreeMap<Metric, u64>> = BTreeMap::new();
        for (_, path, metric, ns) in self.times.iter().filter(|(_, _, metric, _)| metric.is_wait()) {
            *waits.entry(path).or_default().entry(metric).or_default() += ns;
        }
        waits
    }

    /// Factors of the run's efficiency. `None` if nothing was computed.
    pub fn efficiencies(&self) -> Option<Efficiencies> {
        let mut useful = vec![0; self.locations];
        for (location, ns) in self.times.by_location(Metric::Computation) {
            useful[location as usize] = ns;
        }
        Efficiencies::new(&useful, self.length_ns, None)
    }

    /// How much longer the critical path computes at each call path than locations do in the mean, nanoseconds: what perfect
    /// balance of that call path could save at most. Only call paths with any.
    ///
    /// Böhme et al., "Scalable critical-path based performance analysis", IPDPS 2012: max(0, time on the critical path − mean).
    pub fn critical_imbalance(&self) -> BTreeMap<u32, u64> {
        let computed = self.times.by_path(Metric::Computation);
        let excess = |(path, on_path): (u32, u64)| {
            let all = computed.get(&path).copied().unwrap_or(0);
            (path, on_path.saturating_sub(all / self.locations.max(1) as u64))
        };
        let critical = self.times.by_path(Metric::CriticalComputation);
        critical.into_iter().map(excess).filter(|(_, ns)| *ns > 0).collect()
    }
}
