//! How complete a measurement is, and what it cost.

use std::collections::BTreeSet;

use falloff_format::Pseudo;
use serde::{Deserialize, Serialize};

use super::clock::Clocks;
use super::location::{Location, ProcessState};
use super::losses::{Drops, Partials};
use super::model::Database;
use super::time::CPU;

/// How complete a measurement is, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Samples of CPU time and of events.
    pub samples: u64,
    /// Samples of waits.
    pub wait_samples: u64,
    /// Samples that left no cost.
    pub dropped: u64,
    /// Those by kind.
    pub dropped_by_kind: Drops,
    /// Samples whose call path could not be followed to its root.
    pub partial: u64,
    /// Those by reason.
    pub partial_by_reason: Partials,
    /// Samples whose call path was deeper than is kept.
    pub truncated: u64,
    /// Process images that were measured.
    pub processes: u64,
    /// Of those, how many did not go through exit.
    pub killed: u64,
    /// Ranks that left a measurement.
    pub ranks_present: u32,
    /// Ranks of the job, 0 if no launcher said.
    pub ranks_expected: u32,
    /// Ranks that left none.
    pub missing_ranks: Vec<u32>,
    /// CPU time that the threads used while measured, ns.
    pub cpu_used_ns: u64,
    /// CPU time that is booked in contexts, ns; `None` if CPU time was not measured.
    pub cpu_booked_ns: Option<u64>,
    /// Of that, what no sample covers, ns.
    pub cpu_unsampled_ns: Option<u64>,
    /// Wall time spent in the sampler's handler, ns.
    pub handler_ns: u64,
    /// Asked sampling rates, samples a second of CPU time, each once.
    pub asked_rates_hz: Vec<u32>,
    /// Clocks used, each pair once; see [`Database::clocks`].
    pub clocks: Vec<Clocks>,
}

impl Health {
    /// Missing ranks that are listed one by one; a damaged rank count must not fill the memory.
    const LISTED_RANKS: u32 = 1 << 20;

    /// Counts over all locations.
    pub(super) fn of(database: &Database) -> Health {
        let mut health = Health::default();
        health.count(database.locations());
        health.dropped = health.dropped_by_kind.total();
        health.partial = health.partial_by_reason.total();
        health.clocks = database.clocks().into_iter().collect();
        let rates: BTreeSet<u32> =
            database.locations().iter().map(|l| l.rate_hz).filter(|r| *r > 0).collect();
        health.asked_rates_hz = rates.into_iter().collect();
        if let Some(cpu) = database.sums(CPU) {
            let tree = database.tree();
            let (mut booked, mut unsampled) = (0u64, 0u64);
            for (context, ns) in (0u32..).zip(cpu) {
                // Of a difference, what became less is no CPU time.
                let ns = u64::try_from(ns).unwrap_or(0);
                booked = booked.saturating_add(ns);
                if *tree.scope(context).name == *Pseudo::Unsampled.name() {
                    unsampled = unsampled.saturating_add(ns);
                }
            }
            (health.cpu_booked_ns, health.cpu_unsampled_ns) = (Some(booked), Some(unsampled));
        }
        health
    }

    /// Of several measurements: the sum of all counts.
    pub(crate) fn together(all: &[Health]) -> Health {
        let mut together = Health::default();
        let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))));
        for one in all {
            let counts = [
                (&mut together.samples, one.samples),
                (&mut together.wait_samples, one.wait_samples),
                (&mut together.dropped, one.dropped),
                (&mut together.partial, one.partial),
                (&mut together.truncated, one.truncated),
                (&mut together.processes, one.processes),
                (&mut together.killed, one.killed),
                (&mut together.cpu_used_ns, one.cpu_used_ns),
                (&mut together.handler_ns, one.handler_ns),
            ];
            for (sum, n) in counts {
                *sum = sum.saturating_add(n);
            }
            together.dropped_by_kind.add(one.dropped_by_kind);
            together.partial_by_reason.add(one.partial_by_reason);
            together.ranks_present = together.ranks_present.max(one.ranks_present);
            together.ranks_expected = together.ranks_expected.max(one.ranks_expected);
            together.missing_ranks.extend(&one.missing_ranks);
            together.cpu_booked_ns = sum(together.cpu_booked_ns, one.cpu_booked_ns);
            together.cpu_unsampled_ns = sum(together.cpu_unsampled_ns, one.cpu_unsampled_ns);
            together.asked_rates_hz.extend(&one.asked_rates_hz);
            together.clocks.extend(&one.clocks);
        }
        together.missing_ranks.sort_unstable();
        together.missing_ranks.dedup();
        together.asked_rates_hz.sort_unstable();
        together.asked_rates_hz.dedup();
        together.clocks.sort_unstable();
        together.clocks.dedup();
        together
    }

    fn count(&mut self, locations: &[Location]) {
        let mut ranks = BTreeSet::new();
        let mut last: Option<&Location> = None;
        for location in locations {
            self.samples = self.samples.saturating_add(location.samples);
            self.wait_samples = self.wait_samples.saturating_add(location.wait_samples);
            self.dropped_by_kind.add(location.dropped);
            self.partial_by_reason.add(location.partial);
            self.truncated = self.truncated.saturating_add(location.truncated);
            self.cpu_used_ns = self.cpu_used_ns.saturating_add(location.cpu_ns);
            self.handler_ns = self.handler_ns.saturating_add(location.handler_ns);
            ranks.extend(location.rank);
            self.ranks_expected = self.ranks_expected.max(location.ranks);
            if !last.is_some_and(|l| l.same_process(location)) {
                self.processes += 1;
                self.killed += u64::from(location.state == ProcessState::Killed);
            }
            last = Some(location);
        }
        self.ranks_present = ranks.len() as u32;
        self.missing_ranks =
            (0..self.ranks_expected.min(Health::LISTED_RANKS)).filter(|r| !ranks.contains(r)).collect();
    }

    /// Whether cost is known to be missing.
    pub fn is_incomplete(&self) -> bool {
        self.dropped > 0 || !self.missing_ranks.is_empty()
    }

    /// All samples, those of waits among them.
    pub fn all_samples(&self) -> u64 {
        self.samples.saturating_add(self.wait_samples)
    }

    /// CPU time booked in contexts as a share of the CPU time used, 1 being all of it. `None` without CPU time.
    ///
    /// ```
    /// use falloff_postprocess::Health;
    /// let health = Health { cpu_used_ns: 200, cpu_booked_ns: Some(190), ..Health::default() };
    /// assert_eq!(health.coverage(), Some(0.95));
    /// assert_eq!(Health::default().coverage(), None);
    /// ```
    pub fn coverage(&self) -> Option<f64> {
        self.share_of_cpu(self.cpu_booked_ns?)
    }

    /// CPU time that is booked but that no sample covers, as a share of the CPU time used.
    pub fn unsampled_share(&self) -> Option<f64> {
        self.share_of_cpu(self.cpu_unsampled_ns?)
    }

    /// Wall time in the sampler's handler as a share of the CPU time used.
    pub fn handler_share(&self) -> Option<f64> {
        self.share_of_cpu(self.handler_ns)
    }

    /// Samples of CPU time and of events for each second of CPU time.
    pub fn reached_rate_hz(&self) -> Option<f64> {
        reached_rate(self.samples, self.cpu_used_ns)
    }

    fn share_of_cpu(&self, ns: u64) -> Option<f64> {
        (self.cpu_used_ns > 0).then(|| ns as f64 / self.cpu_used_ns as f64)
    }
}

/// Samples a second of CPU time.
pub(super) fn reached_rate(samples: u64, cpu_ns: u64) -> Option<f64> {
    (cpu_ns > 0).then(|| samples as f64 * 1e9 / cpu_ns as f64)
}
