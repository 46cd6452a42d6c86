//! What a database is made of.

use super::ids::Id;
use crate::cct::Tree;
use crate::database::ModuleInfo;

/// One tree, metrics, and the exclusive values of parts that add up to the whole.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    /// Name of the database; viewers show it as their window's title.
    pub title: String,
    /// What it is, as Markdown.
    pub description: String,
    /// The tree. Contexts that have no value in any part, nor have others below them, are left out.
    pub tree: &'a Tree,
    /// Load modules, for their paths.
    pub modules: &'a [ModuleInfo],
    /// What is measured, in the order of the values' metrics.
    pub metrics: Vec<Column>,
    /// The parts: locations of a run or runs of a sweep.
    pub parts: Vec<Part>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name with the unit in parentheses, for example `REALTIME (sec)`. No two metrics may have names that differ in case
    /// only.
    pub name: String,
    /// What it means.
    pub description: String,
}

/// What one location or one run contributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Which one it is, from the outermost to the innermost.
    pub ids: Vec<Id>,
    /// Exclusive values: context, metric by its index, value.
    pub values: Vec<(u32, u16, f64)>,
}
