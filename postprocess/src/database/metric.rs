//! What was measured, and a value of it.

use serde::{Deserialize, Serialize};

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
