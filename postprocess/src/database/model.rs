//! The database: what it has beside its values, and the values as far as they are in memory.

use std::collections::BTreeSet;

use super::clock::{Clocks, CpuClock, WaitClock};
use super::health::Health;
use super::left_out::LeftOut;
use super::location::Location;
use super::manifest::Provenance;
use super::metric::{Metric, Value};
use super::module::ModuleInfo;
use super::section_values::SectionValues;
use super::time::{CPU, TIME};
use super::totals::Totals;
use super::values::Values;
use crate::cct::Tree;
use crate::error::Error;
use crate::load::Warnings;
use crate::sections::{SectionValue, Sections};

/// Metric that counts samples.
pub(crate) const SAMPLES: &str = "samples";

/// A merged run: one tree, the locations, and exact sparse values.
#[derive(Clone, Debug)]
pub struct Database {
    pub(super) head: Head,
    /// Lines of the head's warnings.
    warnings: Vec<String>,
    pub(super) totals: Totals,
    pub(super) values: Values,
    pub(super) section_values: SectionValues,
    pub(super) left_out: Option<LeftOut>,
    /// State of the measurement as it was known when the database was made; locations and values tell it otherwise.
    known_health: Option<Health>,
}

/// What a database has beside its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub tree: Tree,
    pub metrics: Vec<Metric>,
    pub locations: Vec<Location>,
    pub modules: Vec<ModuleInfo>,
    pub warnings: Warnings,
    pub provenance: Provenance,
    pub sections: Sections,
}

/// What a database in memory consists of. Values are sorted by context, location and metric, each place once.
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
        let Parts { tree, metrics, locations, values, modules, warnings, provenance } = parts;
        let warnings = Warnings::of_lines(warnings);
        let sections = Sections::default();
        Database::in_memory(
            Head { tree, metrics, locations, modules, warnings, provenance, sections },
            values,
        )
    }

    /// A database with all its values.
    pub(crate) fn in_memory(head: Head, values: Vec<Value>) -> Database {
        let totals = Totals::of_values(&head, &values);
        Database::new(head, totals, Values::in_memory(values))
    }

    pub(super) fn new(head: Head, totals: Totals, values: Values) -> Database {
        let mut warnings = head.warnings.lines();
        warnings.extend(head.provenance.missing_parts());
        let section_values = SectionValues::default();
        Database { warnings, head, totals, values, section_values, left_out: None, known_health: None }
    }

    /// With these values of its sections.
    pub(super) fn with_section_values(mut self, section_values: SectionValues) -> Database {
        self.section_values = section_values;
        self
    }

    /// With these values of its sections, in memory.
    pub(crate) fn with_section_rows(self, rows: Vec<SectionValue>) -> Database {
        self.with_section_values(SectionValues::in_memory(rows))
    }

    /// With the state of the measurements that it was made of, whatever its own locations and values tell.
    pub(crate) fn with_health(mut self, health: Health) -> Database {
        self.known_health = Some(health);
        self
    }

    pub(crate) fn with_warning(mut self, warning: String) -> Database {
        self.warnings.push(warning);
        self
    }

    /// The calling context tree.
    pub fn tree(&self) -> &Tree {
        &self.head.tree
    }

    /// What was measured.
    pub fn metrics(&self) -> &[Metric] {
        &self.head.metrics
    }

    /// The metric of this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.head.metrics.iter().find(|m| m.name == name)
    }

    /// All threads of all processes.
    pub fn locations(&self) -> &[Location] {
        &self.head.locations
    }

    /// Exclusive values, sorted by context, location and metric.
    ///
    /// Of a database that was opened by [`Database::open_lazily`] they are read here, unless [`Database::load`] has
    /// read them; what it says is damaged has none here.
    pub fn values(&self) -> &[Value] {
        self.values.get().unwrap_or_default()
    }

    /// Reads the values if they are not in memory yet, and checks that they add up to the sums of the database.
    ///
    /// # Errors
    /// [`Error::DatabaseDamaged`] if their table cannot be read or does not fit the others.
    pub fn load(&self) -> Result<(), Error> {
        let values = self.values.get()?;
        let Some(path) = self.values.path() else { return Ok(()) };
        let totals = Totals::of_values(&self.head, values);
        let unlike = |metric: usize| totals.of_metric(metric) != self.totals.of_metric(metric);
        if (0..self.metrics().len()).any(unlike) {
            let reason = "its sums are not those of the summary".into();
            return Err(Error::DatabaseDamaged { path, reason });
        }
        Ok(())
    }

    /// Load modules that call paths go through.
    pub fn modules(&self) -> &[ModuleInfo] {
        &self.head.modules
    }

    /// What could not be read or resolved, counted. Every report shows them.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where the database came from.
    pub fn provenance(&self) -> &Provenance {
        &self.head.provenance
    }

    /// How complete the measurement is, whatever of it was left out; of a database that was made of others, how complete
    /// theirs are together.
    pub fn health(&self) -> Health {
        let known = self.known_health.as_ref().or(self.provenance().inputs_health.as_ref());
        known.cloned().unwrap_or_else(|| Health::of(self))
    }

    /// The metric that is shown if none is asked for: `time` if it is there, else `cpu`, else the first that is not the
    /// number of samples.
    pub fn default_metric(&self) -> Option<&Metric> {
        let other = || self.metrics().iter().find(|m| m.name != SAMPLES);
        self.metric(TIME).or_else(|| self.metric(CPU)).or_else(other).or(self.metrics().first())
    }

    /// How the locations were measured, each pair of clocks once. Helper threads and threads that were not measured at
    /// all do not count: their cost is compared with nothing.
    pub fn clocks(&self) -> BTreeSet<Clocks> {
        let unmeasured = Clocks { cpu: CpuClock::NotMeasured, waits: WaitClock::NotMeasured };
        let measured = |l: &&Location| !l.helper && l.clocks != unmeasured;
        self.locations().iter().filter(measured).map(|l| l.clocks).collect()
    }

    /// Exclusive value of every context in the metric's unit, summed over all locations; `None` if the metric was not
    /// measured.
    pub fn exclusive_totals(&self, metric: &str) -> Option<Vec<f64>> {
        let (sums, metric) = (self.sums(metric)?, self.metric(metric)?);
        Some(sums.into_iter().map(|sum| metric.in_unit(sum)).collect())
    }

    /// Exclusive value of every context in the metric's unit, summed over the locations selected. Needs
    /// [`Database::values`] if these are not all.
    pub fn exclusive_at(&self, metric: &str, select: impl Fn(&Location) -> bool) -> Option<Vec<f64>> {
        let selected: Vec<bool> = self.locations().iter().map(select).collect();
        if !selected.contains(&false) {
            return self.exclusive_totals(metric);
        }
        let (place, metric) = (self.place_of(metric)?, self.metric(metric)?);
        let mut sums = vec![0i64; self.tree().len()];
        for value in self.values() {
            if value.metric as usize == place && selected[value.location as usize] {
                let sum = &mut sums[value.context as usize];
                *sum = sum.saturating_add(value.exclusive);
            }
        }
        Some(sums.into_iter().map(|sum| metric.in_unit(sum)).collect())
    }

    /// Exclusive value of every context summed over all locations, not yet divided by [`Metric::divisor`].
    pub(super) fn sums(&self, metric: &str) -> Option<Vec<i64>> {
        Some(self.totals.of_metric(self.place_of(metric)?))
    }

    pub(super) fn place_of(&self, metric: &str) -> Option<usize> {
        self.metrics().iter().position(|m| m.name == metric)
    }
}

impl PartialEq for Database {
    fn eq(&self, other: &Database) -> bool {
        self.head == other.head
            && self.warnings == other.warnings
            && self.totals == other.totals
            && self.left_out == other.left_out
            && self.health() == other.health()
            && self.values == other.values
            && self.section_values().ok() == other.section_values().ok()
    }
}
