//! Columns that follow from metrics by a formula.

use super::formula::{Formula, FormulaError};
use crate::database::{Database, Metric, Unit};

/// Those that are shown wherever their metrics were measured.
const BUILT_IN: [&str; 3] = [
    "ipc=instructions/cycles",
    "cache-miss rate%=100*cache-misses/cache-references",
    "branch-miss rate%=100*branch-misses/branches",
];

/// A named formula. Its values are those of sums over locations and call paths, never sums of its values.
///
/// ```
/// use falloff_postprocess::views::Derived;
/// let waiting = Derived::parse("wait%=100*blocked/time").unwrap();
/// assert_eq!((waiting.name(), waiting.field()), ("wait%", "wait_percent"));
/// assert!(Derived::parse("100*blocked/time").is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    name: String,
    field: String,
    text: String,
    formula: Formula,
}

/// Why a text is no named formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivedError {
    /// There is no `=` or nothing before it.
    #[error("`{0}` has no NAME=FORMULA, as in ipc=instructions/cycles")]
    Name(String),
    /// What stands behind it is no formula.
    #[error("`{formula}`: {error}")]
    Formula {
        /// The formula.
        formula: String,
        /// What is wrong with it.
        error: FormulaError,
    },
}

impl Derived {
    /// Reads `NAME=FORMULA`. A name that ends in `%` is in percent.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(text: &str) -> Result<Derived, DerivedError> {
        let (name, formula) = text.split_once('=').ok_or_else(|| DerivedError::Name(text.into()))?;
        let (name, formula) = (name.trim(), formula.trim());
        if !name.contains(char::is_alphanumeric) || name.chars().any(char::is_control) {
            return Err(DerivedError::Name(text.into()));
        }
        let parsed = Formula::parse(formula)
            .map_err(|error| DerivedError::Formula { formula: formula.into(), error })?;
        Ok(Derived { name: name.into(), field: field(name), text: formula.into(), formula: parsed })
    }

    /// How reports call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its fields in JSON and CSV end, behind `inclusive_` and `exclusive_`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The formula as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Metrics that it needs.
    pub fn metrics(&self) -> &[String] {
        self.formula.names()
    }

    /// Those that are built in and whose metrics the database has.
    pub(super) fn built_in(database: &Database) -> impl Iterator<Item = Derived> {
        BUILT_IN
            .into_iter()
            .filter_map(|text| Derived::parse(text).ok())
            .filter(|derived| derived.metrics().iter().all(|name| database.metric(name).is_some()))
    }

    /// It over columns of these metrics; `None` if one that it needs is not among them.
    pub(super) fn over(self, metrics: &[&Metric]) -> Option<DerivedColumn> {
        let place = |name: &String| {
            let at = metrics.iter().position(|m| m.name == *name)?;
            Some((at, if metrics[at].unit == Unit::Nanoseconds { 1e-9 } else { 1.0 }))
        };
        let parts = self.metrics().iter().map(place).collect::<Option<_>>()?;
        Some(DerivedColumn { derived: self, parts })
    }
}

/// A derived column of a view whose columns are known.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedColumn {
    derived: Derived,
    /// For each metric of the formula its column, and its unit: times are in seconds in formulas.
    parts: Vec<(usize, f64)>,
}

impl DerivedColumn {
    /// What it is.
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    /// Its value for a row's values; `None` if there is none, as where nothing is below the line.
    pub fn of(&self, values: &[f64]) -> Option<f64> {
        let parts = self.parts.iter().map(|(column, unit)| Some(values.get(*column)? * unit));
        self.derived.formula.of(&parts.collect::<Option<Vec<f64>>>()?)
    }
}

/// A name as part of a field's name.
pub(super) fn field(name: &str) -> String {
    let (name, percent) = name.strip_suffix('%').map_or((name, ""), |name| (name.trim_end(), "_percent"));
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    format!("{}{percent}", name.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::time_database;

    #[test]
    fn built_in_ones_are_shown_where_their_metrics_are() {
        let database = time_database();
        let fields: Vec<String> = Derived::built_in(&database).map(|d| d.field).collect();
        assert_eq!(fields, ["ipc", "branch_miss_rate_percent"]);
        assert!(BUILT_IN.iter().all(|text| Derived::parse(text).is_ok()));
    }

    #[test]
    fn times_are_in_seconds() {
        let database = time_database();
        let metrics: Vec<&Metric> = database.metrics().iter().collect();
        let per_second = Derived::parse("GHz=cycles/cpu/1G").unwrap().over(&metrics).unwrap();
        let mut values = vec![0.0; metrics.len()];
        values[metrics.iter().position(|m| m.name == "cpu").unwrap()] = 2e9;
        assert_eq!(per_second.of(&values), Some(0.0));
        values[metrics.iter().position(|m| m.name == "cycles").unwrap()] = 3e9;
        assert_eq!(per_second.of(&values), Some(1.5));
        assert_eq!(Derived::parse("x=cache-misses").unwrap().over(&metrics), None);
    }

    #[test]
    fn names_are_needed() {
        for bad in ["ipc", "=1", "%=1", " - =1", "a\nb=1", "ipc=", "ipc=a=b"] {
            assert!(Derived::parse(bad).is_err(), "{bad}");
        }
        let error = Derived::parse("ipc=instructions/").unwrap_err();
        assert_eq!(error.to_string(), "`instructions/`: a metric, a number or `(` is missing (character 14)");
    }
}
