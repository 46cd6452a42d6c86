//! What can be asked of a database, and what can be wrong with it.

use std::collections::BTreeSet;

use super::derived::Derived;
use super::health::ranges;
use super::narrow::Narrow;
use super::selection::Selection;
use crate::database::{Database, Metric};

/// Which part of a database is looked at, and in which metrics.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Metrics by name. Percentages, thresholds and the hot path are of the first; the default one if none is named.
    pub metrics: Vec<String>,
    /// Further columns.
    pub derived: Vec<Derived>,
    /// Locations are those that all of these hold.
    pub locations: Vec<Selection>,
    /// What is done to the call paths, one after the other.
    pub narrow: Vec<Narrow>,
}

/// Why a database cannot be looked at as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nothing was measured.
    #[error("its measurement files hold no metric")]
    NoMetrics,
    /// A metric that was not measured.
    #[error("metric `{metric}` was not measured")]
    NotMeasured {
        /// The metric.
        metric: String,
        /// Those that were.
        known: Vec<String>,
    },
    /// A formula with such a metric.
    #[error("metric `{metric}` in the formula of `{name}` was not measured")]
    NotMeasuredInFormula {
        /// The derived column.
        name: String,
        /// The metric.
        metric: String,
        /// Those that were.
        known: Vec<String>,
    },
    /// Two columns of one name.
    #[error("`{name}` would be a second column `{field}`")]
    Twice {
        /// The derived column.
        name: String,
        /// The field that is there already.
        field: String,
    },
    /// No location is what was named.
    #[error("no location there is what --location names")]
    NoLocation {
        /// What could be named instead.
        known: Vec<String>,
    },
    /// A sort key that is none.
    #[error("there is no column `{key}` to sort by")]
    NoColumn {
        /// The key.
        key: String,
        /// Keys that there are.
        known: Vec<String>,
    },
    /// A hot path where there is none.
    #[error("the {view} view has no hot path")]
    NoHotPath {
        /// The view.
        view: &'static str,
    },
    /// More groups than a table has room for.
    #[error("{groups} groups are too many for columns of text")]
    TooManyGroups {
        /// How many there are.
        groups: usize,
    },
    /// No source file of this name has lines in the profile.
    #[error("no line of a source file `{name}` is in its call paths")]
    NoSource {
        /// What was named.
        name: String,
        /// Files that have cost, the largest first.
        known: Vec<String>,
    },
    /// Several source files end in this name.
    #[error("several source files are called `{name}`")]
    ManySources {
        /// What was named.
        name: String,
        /// The files, the one with the largest cost first.
        known: Vec<String>,
    },
}

impl QueryError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            QueryError::NoMetrics => "the files are damaged or empty; measure the program again".into(),
            QueryError::NotMeasured { known, .. } => format!("use one of: {}", known.join(", ")),
            QueryError::NotMeasuredInFormula { metric, known, .. } => {
                let minus = if metric.contains('-') { "; a minus has blanks around it" } else { "" };
                format!("use {}{minus}", known.join(", "))
            }
            QueryError::Twice { .. } => "choose another name".into(),
            QueryError::NoLocation { known } => format!("there are {}", listed(known)),
            QueryError::NoColumn { known, .. } => format!("use one of: {}", known.join(", ")),
            QueryError::NoHotPath { .. } => "use --hot-path with `--view context`".into(),
            QueryError::TooManyGroups { .. } => {
                "add --stats for their minimum, mean and maximum, or use `--format csv` or json".into()
            }
            QueryError::NoSource { known, .. } if known.is_empty() => {
                "no source line of the program is known: compile with -g, or see --debug-path".into()
            }
            QueryError::NoSource { known, .. } => format!("there are {}", listed(known)),
            QueryError::ManySources { known, .. } => format!("name one of {}", listed(known)),
        }
    }
}

/// The first of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let text = names[..names.len() - more].join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// The metric of this name or the default one.
///
/// # Errors
/// [`QueryError::NotMeasured`] or [`QueryError::NoMetrics`].
pub fn metric<'a>(database: &'a Database, name: Option<&str>) -> Result<&'a Metric, QueryError> {
    let found = match name {
        Some(name) => database.metric(name),
        None => database.default_metric(),
    };
    found.ok_or_else(|| match database.metrics() {
        [] => QueryError::NoMetrics,
        _ => QueryError::NotMeasured { metric: name.unwrap_or("time").into(), known: known(database) },
    })
}

/// Names of what was measured.
pub(super) fn known(database: &Database) -> Vec<String> {
    database.metrics().iter().map(|m| m.name.clone()).collect()
}

/// Ranks and hosts of the locations, as they can be named.
pub(super) fn known_locations(database: &Database) -> Vec<String> {
    let ranks: BTreeSet<u32> = database.locations().iter().filter_map(|l| l.rank).collect();
    let hosts: BTreeSet<&str> = database.locations().iter().map(|l| l.host.as_str()).collect();
    let ranks = (!ranks.is_empty()).then(|| format!("rank={}", ranges(&Vec::from_iter(ranks), ",")));
    ranks.into_iter().chain(hosts.into_iter().map(|host| format!("host={host}"))).collect()
}
