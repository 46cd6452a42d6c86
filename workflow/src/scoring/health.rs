//! How complete the measurements behind a score are.

use std::collections::{BTreeMap, BTreeSet};

use falloff_postprocess::{Drops, Health, Partials, views};

use super::columns::Run;

/// How complete the measurements behind a score are, over all good runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHealth {
    /// Sums over the runs. Ranks are not among them: a run that lacks some is no good run.
    pub sum: Health,
    /// Threads of all runs.
    pub threads: usize,
    /// What the measurements warn of, with the number of runs that do.
    pub warnings: Vec<(String, usize)>,
}

impl RunHealth {
    pub(crate) fn of(runs: &[Run]) -> RunHealth {
        let mut all = RunHealth::default();
        let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
        for run in runs {
            all.sum = sum(&all.sum, &run.database.health());
            all.threads += run.database.locations().len();
            for warning in run.database.warnings() {
                *warnings.entry(warning).or_default() += 1;
            }
        }
        all.warnings = warnings.into_iter().map(|(text, runs)| (text.to_owned(), runs)).collect();
        all
    }

    /// Lines for a reader.
    ///
    /// ```
    /// use falloff_workflow::scoring::RunHealth;
    /// let mut health = RunHealth { threads: 8, ..RunHealth::default() };
    /// (health.sum.processes, health.sum.samples) = (2, 400);
    /// assert_eq!(health.lines(), ["2 processes, 8 threads, 400 samples"]);
    /// ```
    pub fn lines(&self) -> Vec<String> {
        views::health_lines(&self.sum, self.threads)
    }
}

fn sum(a: &Health, b: &Health) -> Health {
    let add = u64::saturating_add;
    let add_some = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (one, other) => one.or(other),
    };
    let (drops, partials) =
        ((a.dropped_by_kind, b.dropped_by_kind), (a.partial_by_reason, b.partial_by_reason));
    Health {
        samples: add(a.samples, b.samples),
        wait_samples: add(a.wait_samples, b.wait_samples),
        dropped: add(a.dropped, b.dropped),
        dropped_by_kind: Drops {
            room: add(drops.0.room, drops.1.room),
            unready: add(drops.0.unready, drops.1.unready),
        },
        partial: add(a.partial, b.partial),
        partial_by_reason: Partials {
            no_module: add(partials.0.no_module, partials.1.no_module),
            no_cfi: add(partials.0.no_cfi, partials.1.no_cfi),
            bad_read: add(partials.0.bad_read, partials.1.bad_read),
            not_advancing: add(partials.0.not_advancing, partials.1.not_advancing),
            unsupported: add(partials.0.unsupported, partials.1.unsupported),
        },
        truncated: add(a.truncated, b.truncated),
        processes: add(a.processes, b.processes),
        killed: add(a.killed, b.killed),
        cpu_used_ns: add(a.cpu_used_ns, b.cpu_used_ns),
        cpu_booked_ns: add_some(a.cpu_booked_ns, b.cpu_booked_ns),
        cpu_unsampled_ns: add_some(a.cpu_unsampled_ns, b.cpu_unsampled_ns),
        handler_ns: add(a.handler_ns, b.handler_ns),
        asked_rates_hz: union(&a.asked_rates_hz, &b.asked_rates_hz),
        clocks: union(&a.clocks, &b.clocks),
        ..Health::default()
    }
}

/// What is in either, each once.
fn union<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().chain(b).copied().collect::<BTreeSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up() {
        let mut a = Health { samples: 3, cpu_used_ns: 10, asked_rates_hz: vec![200], ..Health::default() };
        a.partial_by_reason.no_cfi = 2;
        let mut b =
            Health { samples: 4, cpu_booked_ns: Some(9), asked_rates_hz: vec![50, 200], ..Health::default() };
        b.partial_by_reason.no_cfi = 1;
        b.missing_ranks = vec![3];
        let both = sum(&a, &b);
        assert_eq!((both.samples, both.cpu_used_ns, both.cpu_booked_ns), (7, 10, Some(9)));
        assert_eq!(both.partial_by_reason.no_cfi, 3);
        assert_eq!(both.asked_rates_hz, [50, 200]);
        assert!(both.missing_ranks.is_empty());
    }
}
