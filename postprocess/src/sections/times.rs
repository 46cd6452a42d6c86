//! The times of a section over its locations and instances.

use super::model::{Dwell, Sections};

const NS: f64 = 1e-9;

/// What a section took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionTimes {
    /// Index of the section.
    pub section: u32,
    /// Locations that were in it.
    pub locations: u32,
    /// Instances: of the location that was in it most often.
    pub instances: u64,
    /// Time from entry to exit, summed over its instances: mean over the locations.
    pub mean: f64,
    /// Of the location with the least.
    pub min: f64,
    /// Of the location with the most.
    pub max: f64,
    /// Mean time in it and in no section within.
    pub exclusive: f64,
    /// What needs the times of each instance and one clock; `None` if there are none or they are of several hosts.
    pub together: Option<Together>,
}

/// What the locations' times give together, in seconds, summed over the instances that were written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// Instances that were written.
    pub instances: u64,
    /// From first entry to last exit.
    pub span: f64,
    /// How much later than the first the mean location came.
    pub entry_imbalance: f64,
    /// Standard deviation of the entries of an instance: the root of the mean variance. Not summed.
    pub entry_deviation: f64,
    /// How much earlier than the last the mean location left.
    pub imbalance: f64,
}

impl Sections {
    /// The times of every section, in their order.
    pub fn times(&self) -> Vec<SectionTimes> {
        (0..self.sections.len() as u32).map(|section| self.times_of(section)).collect()
    }

    fn times_of(&self, section: u32) -> SectionTimes {
        let from = self.dwells.partition_point(|d| d.section < section);
        let to = self.dwells.partition_point(|d| d.section <= section);
        let dwells = self.dwells.get(from..to).unwrap_or_default();
        let seconds = |d: &Dwell| d.dwell_ns as f64 * NS;
        let mean =
            |of: &dyn Fn(&Dwell) -> f64| dwells.iter().map(of).sum::<f64>() / dwells.len().max(1) as f64;
        SectionTimes {
            section,
            locations: dwells.len() as u32,
            instances: dwells.iter().map(|d| d.count).max().unwrap_or(0),
            mean: mean(&seconds),
            min: dwells.iter().map(seconds).reduce(f64::min).unwrap_or(0.0),
            max: dwells.iter().map(seconds).reduce(f64::max).unwrap_or(0.0),
            exclusive: mean(&|d| d.dwell_ns.saturating_sub(d.nested_ns) as f64 * NS),
            together: self.together(section),
        }
    }

    fn together(&self, section: u32) -> Option<Together> {
        let from = self.instances.partition_point(|i| i.section < section);
        let to = self.instances.partition_point(|i| i.section <= section);
        let instances = self.instances.get(from..to).filter(|i| !i.is_empty())?;
        let mut sum =
            Together { instances: 0, span: 0.0, entry_imbalance: 0.0, entry_deviation: 0.0, imbalance: 0.0 };
        let mut variances = 0.0;
        for instance in instances {
            let times = instance.times()?;
            sum.instances += 1;
            sum.span += times.span;
            sum.entry_imbalance += times.entry_imbalance;
            sum.imbalance += times.imbalance;
            variances += times.entry_variance;
        }
        sum.entry_deviation = (variances / sum.instances as f64).sqrt();
        Some(sum)
    }
}
