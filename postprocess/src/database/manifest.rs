//! The manifest: what the tables belong to and how they were made.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::health::Health;
use super::location::Location;
use super::matched::InputCost;
use super::model::Database;
use crate::load::Warnings;

/// File name of the manifest in a database directory.
pub(crate) const MANIFEST_FILE: &str = "manifest.json";
/// Its `schema`.
pub(crate) const SCHEMA: &str = "falloff.database";
/// Major version that is written; this one and those before it are read.
pub(crate) const VERSION: u64 = 2;

/// Where a database came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Run that was measured.
    pub run_id: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// When the run began, as its launcher wrote it or in nanoseconds since 1970.
    pub created: String,
    /// Measurement files that were merged, by name.
    pub sources: Vec<SourceFile>,
    /// Measurement files that were there, readable or not.
    pub files: u64,
    /// Places where debug files were searched beyond the usual ones.
    pub debug_paths: Vec<String>,
    /// Replaced beginnings of source paths.
    pub path_maps: Vec<(String, String)>,
    /// Whether the paths of OpenMP workers were put under their parallel regions.
    pub graft_openmp: bool,
    /// Whether call paths were put under the sections that they ran in.
    #[serde(default)]
    pub by_section: bool,
    /// Which parts of the measurement files were merged, if not all were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<Shard>,
    /// What the launcher wrote about the run, as it is.
    pub run: Json,
    /// Operations that made this database out of others, oldest first.
    pub history: Vec<Operation>,
    /// State of the measurements of these others, which locations and values do not tell any more.
    #[serde(skip)]
    pub inputs_health: Option<Health>,
}

impl Provenance {
    /// Whether call paths are put where those of another are.
    pub(crate) fn has_paths_of(&self, other: &Provenance) -> bool {
        (self.graft_openmp, self.by_section) == (other.graft_openmp, other.by_section)
    }

    /// Of a difference, also of a part of one, the database that was subtracted.
    pub fn subtracted(&self) -> Option<&Input> {
        self.difference().map(|(_, subtracted)| subtracted)
    }

    /// Of a difference, also of a part of one, the database that another was subtracted from, and that other.
    pub fn difference(&self) -> Option<(&Input, &Input)> {
        let part = |o: &&Operation| ["filter", "cut", "collapse"].contains(&o.operator.as_str());
        let operation = self.history.iter().rev().find(|o| !part(o))?;
        match &operation.inputs[..] {
            [from, subtracted] if operation.operator == "diff" => Some((from, subtracted)),
            _ => None,
        }
    }

    /// Takes from the first process what no launcher has written.
    pub(crate) fn fill(&mut self, locations: &[Location]) {
        let Some(first) = locations.iter().min_by_key(|l| l.start_ns) else { return };
        if self.run.is_null() || self.command.is_empty() {
            self.command = first.argv.clone();
        }
        if self.run.is_null() || self.created.is_empty() {
            self.created = first.start_ns.to_string();
        }
    }

    /// A line about parts that are missing.
    pub(super) fn missing_parts(&self) -> Option<String> {
        let of = self.shards.first()?.of;
        let there = |index: &u32| self.shards.iter().any(|s| s.of == of && s.index == *index);
        let missing: Vec<String> =
            (1..=of).filter(|i| !there(i)).take(NAMED_PARTS).map(|i| i.to_string()).collect();
        let count = of as usize - self.shards.iter().filter(|s| s.of == of).count();
        let more = if count > missing.len() { ", …" } else { "" };
        Some(format!("{count} of {of} parts of the measurement are missing: {}{more}", missing.join(", ")))
    }
}

/// Missing parts that are named.
const NAMED_PARTS: usize = 10;

/// A part of a run's measurement files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u32,
    /// How many parts there are.
    pub of: u32,
}

/// An operation that made a database out of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// Its name, for example `diff`.
    pub operator: String,
    /// What it was told beside the databases, in order.
    pub arguments: Vec<String>,
    /// The databases that it was applied to, in order.
    pub inputs: Vec<Input>,
}

/// The operator, the names of the inputs and the arguments, for reports.
///
/// ```
/// use falloff_postprocess::{Input, Operation};
/// let input = |name: &str| Input { name: name.into(), ..Input::default() };
/// let inputs = vec![input("after"), input("before")];
/// let operation = Operation { operator: "diff".into(), arguments: vec!["locations paired".into()], inputs };
/// assert_eq!(operation.to_string(), "diff of after and before (locations paired)");
/// ```
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.inputs.iter().map(|i| i.name.as_str()).collect();
        write!(f, "{} of {}", self.operator, names.join(" and "))?;
        if self.arguments.is_empty() { Ok(()) } else { write!(f, " ({})", self.arguments.join(", ")) }
    }
}

/// A database that another was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Run that was measured; empty for a database of several.
    pub run_id: String,
    /// How it was called, as a rule its directory.
    pub name: String,
    /// What it has of each metric and how much of that was matched, if it was put beside others.
    pub costs: Vec<InputCost>,
}

impl Input {
    /// What it has of a metric.
    pub fn cost(&self, metric: &str) -> Option<&InputCost> {
        self.costs.iter().find(|c| c.metric == metric)
    }
}

/// A measurement file as it was when merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// File name.
    pub name: String,
    /// Whether the process had ended.
    pub ended: bool,
    /// Bytes that were in use.
    pub used_bytes: u64,
}

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub schema: String,
    pub version: u64,
    pub generator: String,
    pub provenance: Provenance,
    pub warnings: Warnings,
    pub health: Health,
    /// Rows of each table.
    pub tables: BTreeMap<String, u64>,
}

impl Manifest {
    /// Where the database came from.
    pub fn provenance(&self) -> Provenance {
        let inputs_health = (!self.provenance.history.is_empty()).then(|| self.health.clone());
        Provenance { inputs_health, ..self.provenance.clone() }
    }
}

/// The manifest of a database whose tables have these numbers of rows.
pub(crate) fn manifest_of(database: &Database, tables: BTreeMap<String, u64>) -> Manifest {
    Manifest {
        schema: SCHEMA.into(),
        version: VERSION,
        generator: concat!("falloff ", env!("CARGO_PKG_VERSION")).into(),
        provenance: database.provenance().clone(),
        warnings: database.head.warnings.clone(),
        health: database.health(),
        tables,
    }
}
