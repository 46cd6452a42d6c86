//! The database in memory.

use serde::{Deserialize, Serialize};

use super::location::{Location, ProcessState};
use super::manifest::Provenance;
use crate::cct::Tree;

/// Unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Plain count.
    Count,
}

impl Unit {
    /// The word that databases use.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Count => "count",
        }
    }

    /// The unit with this [`Unit::word`].
    pub fn from_word(word: &str) -> Option<Unit> {
        [Unit::Nanoseconds, Unit::Count].into_iter().find(|u| u.word() == word)
    }

    /// How a field name in JSON or CSV ends: `_ns` or `_count`.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Count => "count",
        }
    }
}

/// What was measured. Times come first, then counts, each by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Metric {
    /// Unit of its values.
    pub unit: Unit,
    /// Name, for example `cpu`.
    pub name: String,
}

/// An exclusive value of one context at one location. Values that are zero are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// Index of the context.
    pub context: u32,
    /// Index of the location.
    pub location: u32,
    /// Index of the metric.
    pub metric: u32,
    /// The value, in the metric's unit.
    pub exclusive: u64,
}

/// Where a module's names came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymbolSource {
    /// Debug information: functions, inlined functions and lines.
    Debug,
    /// A symbol table: functions only.
    Symbols,
    /// Unwind tables: where functions begin, no names.
    Bounds,
    /// Nothing: the file is missing, another one, or damaged.
    Nothing,
}

impl SymbolSource {
    /// The word that databases use.
    pub fn word(self) -> &'static str {
        match self {
            SymbolSource::Debug => "debug",
            SymbolSource::Symbols => "symbols",
            SymbolSource::Bounds => "bounds",
            SymbolSource::Nothing => "nothing",
        }
    }

    /// The source with this [`SymbolSource::word`].
    pub fn from_word(word: &str) -> Option<SymbolSource> {
        [SymbolSource::Debug, SymbolSource::Symbols, SymbolSource::Bounds, SymbolSource::Nothing]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// A load module that call paths go through.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleInfo {
    /// Path as the process had it.
    pub path: String,
    /// GNU build id, hexadecimal; empty if it has none.
    pub build_id: String,
    /// Where its names came from.
    pub source: SymbolSource,
    /// Separate file of debug information that was used.
    pub debug_file: Option<String>,
}

/// A merged run: one tree, the locations, and exact sparse values.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    parts: Parts,
}

/// What a database consists of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub tree: Tree,
    pub metrics: Vec<Metric>,
    pub locations: Vec<Location>,
    pub values: Vec<Value>,
    pub modules: Vec<ModuleInfo>,
    pub warnings: Vec<String>,
    pub provenance: Provenance,
}

/// How complete a measurement is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Samples taken.
    pub samples: u64,
    /// Samples that found no room: their cost is missing.
    pub dropped: u64,
    /// Samples whose call path could not be followed to its root.
    pub partial: u64,
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
}

impl Health {
    /// Missing ranks that are listed one by one; a damaged rank count must not fill the memory.
    const LISTED_RANKS: u32 = 1 << 20;

    /// Counts over all locations.
    pub(crate) fn of(locations: &[Location]) -> Health {
        let mut health = Health::default();
        let mut ranks = std::collections::BTreeSet::new();
        let mut last: Option<&Location> = None;
        for location in locations {
            health.samples = health.samples.saturating_add(location.samples);
            health.dropped = health.dropped.saturating_add(location.dropped);
            health.partial = health.partial.saturating_add(location.partial);
            health.truncated = health.truncated.saturating_add(location.truncated);
            ranks.extend(location.rank);
            health.ranks_expected = health.ranks_expected.max(location.ranks);
            if !last.is_some_and(|l| l.same_process(location)) {
                health.processes += 1;
                health.killed += u64::from(location.state == ProcessState::Killed);
            }
            last = Some(location);
        }
        health.ranks_present = ranks.len() as u32;
        health.missing_ranks =
            (0..health.ranks_expected.min(Health::LISTED_RANKS)).filter(|r| !ranks.contains(r)).collect();
        health
    }

    /// Whether cost is known to be missing.
    pub fn is_incomplete(&self) -> bool {
        self.dropped > 0 || !self.missing_ranks.is_empty()
    }
}

impl Database {
    pub(crate) fn from_parts(parts: Parts) -> Database {
        Database { parts }
    }

    pub(crate) fn with_warning(mut self, warning: String) -> Database {
        self.parts.warnings.push(warning);
        self
    }

    /// The calling context tree.
    pub fn tree(&self) -> &Tree {
        &self.parts.tree
    }

    /// What was measured.
    pub fn metrics(&self) -> &[Metric] {
        &self.parts.metrics
    }

    /// The metric of this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.parts.metrics.iter().find(|m| m.name == name)
    }

    /// All threads of all processes.
    pub fn locations(&self) -> &[Location] {
        &self.parts.locations
    }

    /// Exclusive values, sorted by context, location and metric.
    pub fn values(&self) -> &[Value] {
        &self.parts.values
    }

    /// Load modules that call paths go through.
    pub fn modules(&self) -> &[ModuleInfo] {
        &self.parts.modules
    }

    /// What could not be read or resolved, counted. Every report shows them.
    pub fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    /// Where the database came from.
    pub fn provenance(&self) -> &Provenance {
        &self.parts.provenance
    }

    /// How complete the measurement is.
    pub fn health(&self) -> Health {
        Health::of(&self.parts.locations)
    }

    /// Exclusive value of every context, summed over all locations; `None` if the metric was not measured.
    pub fn exclusive_totals(&self, metric: &str) -> Option<Vec<u64>> {
        self.exclusive_at(metric, |_| true)
    }

    /// Exclusive value of every context, summed over the locations selected.
    pub fn exclusive_at(&self, metric: &str, select: impl Fn(&Location) -> bool) -> Option<Vec<u64>> {
        let metric = self.parts.metrics.iter().position(|m| m.name == metric)? as u32;
        let selected: Vec<bool> = self.parts.locations.iter().map(select).collect();
        let mut sums = vec![0u64; self.parts.tree.len()];
        for value in &self.parts.values {
            if value.metric == metric && selected[value.location as usize] {
                let sum = &mut sums[value.context as usize];
                *sum = sum.saturating_add(value.exclusive);
            }
        }
        Some(sums)
    }
}
