//! What an operation on databases matched of its inputs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How well two contexts of different databases agree; a call path agrees as well as the worst of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The same scope of the same build of its module: module, function, file, line and inlining are the same.
    SameBuild,
    /// The same scope of another build, or of builds of which it is not known whether they are the same.
    SamePath,
    /// The same function name, but for what a compiler adds to copies and parts of a function, and the same file; the
    /// same file for statements and loops. Lines, module and inlining may differ.
    SameFile,
    /// The same name; for statements and loops the same file name, without its directory.
    SameName,
}

impl Level {
    /// All levels, the best first.
    pub const ALL: [Level; 4] = [Level::SameBuild, Level::SamePath, Level::SameFile, Level::SameName];

    /// What reports call it.
    pub fn words(self) -> &'static str {
        match self {
            Level::SameBuild => "same path in the same build",
            Level::SamePath => "same path in another build",
            Level::SameFile => "same names and files, other lines",
            Level::SameName => "same names",
        }
    }
}

/// What an input of an operation has of one metric, without threads that the program did not start. Values are divided by
/// `divisor` to be in the metric's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct InputCost {
    /// The metric.
    pub metric: String,
    /// Divisor of the values, at least 1.
    pub divisor: u64,
    /// Sum over all contexts and locations.
    pub total: i64,
    /// By level, how much of it is in contexts that another input has too: a sum of absolute values.
    pub matched: BTreeMap<Level, u64>,
    /// How much is in contexts that no other input has.
    pub unmatched: u64,
}

impl InputCost {
    /// Share of the cost that was matched at a level, percent; 0 of nothing.
    pub fn matched_percent(&self, level: Level) -> f64 {
        self.percent(self.matched.get(&level).copied().unwrap_or(0))
    }

    /// Share of the cost that was not matched, percent; 0 of nothing.
    pub fn unmatched_percent(&self) -> f64 {
        self.percent(self.unmatched)
    }

    fn percent(&self, part: u64) -> f64 {
        let all = self.matched.values().fold(self.unmatched, |sum, n| sum.saturating_add(*n));
        if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
    }

    /// The total in the metric's unit.
    pub fn total_in_unit(&self) -> f64 {
        self.total as f64 / self.divisor.max(1) as f64
    }
}
