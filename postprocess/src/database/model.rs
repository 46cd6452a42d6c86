//! The database in memory.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::clock::{Clocks, CpuClock, WaitClock};
use super::health::Health;
use super::left_out::LeftOut;
use super::location::Location;
use super::manifest::Provenance;
use super::time::{CPU, TIME};
use crate::cct::Tree;

/// Metric that counts samples.
const SAMPLES: &str = "samples";

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
    /// What its values are divided by to be in the unit, at least 1: means and scaled databases stay exact. What was
    /// measured has 1, and no number divides the divisor and all values.
    pub divisor: u64,
}

impl Metric {
    /// A metric as it is measured: in whole units.
    pub fn new(unit: Unit, name: impl Into<String>) -> Metric {
        Metric { unit, name: name.into(), divisor: 1 }
    }

    /// A value, or a sum of values, in the unit.
    ///
    /// ```
    /// use falloff_postprocess::{Metric, Unit};
    /// let mean_of_two = Metric { divisor: 2, ..Metric::new(Unit::Count, "samples") };
    /// assert_eq!(mean_of_two.in_unit(7), 3.5);
    /// ```
    pub fn in_unit(&self, value: i64) -> f64 {
        value as f64 / self.divisor as f64
    }
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
    /// The value, in the metric's unit once divided by [`Metric::divisor`]. Differences may be below 0.
    pub exclusive: i64,
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
    pub(super) parts: Parts,
    pub(super) left_out: Option<LeftOut>,
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

impl Database {
    pub(crate) fn from_parts(parts: Parts) -> Database {
        Database { parts, left_out: None }
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

    /// How complete the measurement is, whatever of it was left out.
    pub fn health(&self) -> Health {
        self.left_out.as_ref().map_or_else(|| Health::of(self), |left_out| left_out.health.clone())
    }

    /// The metric that is shown if none is asked for: `time` if it is there, else `cpu`, else the first that is not the
    /// number of samples.
    pub fn default_metric(&self) -> Option<&Metric> {
        let other = || self.parts.metrics.iter().find(|m| m.name != SAMPLES);
        self.metric(TIME).or_else(|| self.metric(CPU)).or_else(other).or(self.parts.metrics.first())
    }

    /// How the locations were measured, each pair of clocks once. Helper threads and threads that were not measured at
    /// all do not count: their cost is compared with nothing.
    pub fn clocks(&self) -> BTreeSet<Clocks> {
        let unmeasured = Clocks { cpu: CpuClock::NotMeasured, waits: WaitClock::NotMeasured };
        let measured = |l: &&Location| !l.helper && l.clocks != unmeasured;
        self.parts.locations.iter().filter(measured).map(|l| l.clocks).collect()
    }

    /// Exclusive value of every context in the metric's unit, summed over all locations; `None` if the metric was not
    /// measured.
    pub fn exclusive_totals(&self, metric: &str) -> Option<Vec<f64>> {
        self.exclusive_at(metric, |_| true)
    }

    /// Exclusive value of every context in the metric's unit, summed over the locations selected.
    pub fn exclusive_at(&self, metric: &str, select: impl Fn(&Location) -> bool) -> Option<Vec<f64>> {
        let (sums, metric) = (self.sums(metric, select)?, self.metric(metric)?);
        Some(sums.into_iter().map(|sum| metric.in_unit(sum)).collect())
    }

    /// The same before it is divided by [`Metric::divisor`].
    pub(super) fn sums(&self, metric: &str, select: impl Fn(&Location) -> bool) -> Option<Vec<i64>> {
        let metric = self.parts.metrics.iter().position(|m| m.name == metric)? as u32;
        let selected: Vec<bool> = self.parts.locations.iter().map(select).collect();
        let mut sums = vec![0i64; self.parts.tree.len()];
        for value in &self.parts.values {
            if value.metric == metric && selected[value.location as usize] {
                let sum = &mut sums[value.context as usize];
                *sum = sum.saturating_add(value.exclusive);
            }
        }
        Some(sums)
    }
}
