//! Quotients of two metrics, shown beside a view's values.

use super::view::{View, ViewKind, build};
use crate::database::{Database, Location};

/// A quotient of two metrics: of sums, never a mean of quotients.
#[derive(Debug, PartialEq, Eq)]
pub struct Ratio {
    /// How reports call it.
    pub name: &'static str,
    /// How fields in JSON are called, with the unit if it has one.
    pub field: &'static str,
    /// Metric above the line.
    pub numerator: &'static str,
    /// Metric below the line.
    pub denominator: &'static str,
    /// What the quotient is multiplied by: 100 for percentages.
    pub factor: u32,
}

/// `ipc` = instructions / cycles; `cache-miss rate` = cache-misses / cache-references and `branch-miss rate` =
/// branch-misses / branches, both in percent.
pub static RATIOS: [Ratio; 3] = [
    Ratio { name: "ipc", field: "ipc", numerator: "instructions", denominator: "cycles", factor: 1 },
    Ratio {
        name: "cache-miss rate",
        field: "cache_miss_rate_percent",
        numerator: "cache-misses",
        denominator: "cache-references",
        factor: 100,
    },
    Ratio {
        name: "branch-miss rate",
        field: "branch_miss_rate_percent",
        numerator: "branch-misses",
        denominator: "branches",
        factor: 100,
    },
];

impl Ratio {
    /// The quotient, in percent for rates; `None` if nothing is below the line.
    ///
    /// ```
    /// use falloff_postprocess::views::RATIOS;
    /// assert_eq!(RATIOS[0].of(300.0, 200.0), Some(1.5));
    /// assert_eq!(RATIOS[1].of(3.0, 200.0), Some(1.5));
    /// assert_eq!(RATIOS[1].of(3.0, 0.0), None);
    /// ```
    pub fn of(&self, numerator: f64, denominator: f64) -> Option<f64> {
        let quotient = f64::from(self.factor) * numerator / denominator;
        quotient.is_finite().then_some(quotient)
    }
}

/// A ratio that a view can show: its parts are columns of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatioColumns {
    /// Which one.
    pub ratio: &'static Ratio,
    /// Column of the metric above the line.
    pub numerator: usize,
    /// Column of the metric below the line.
    pub denominator: usize,
}

impl RatioColumns {
    /// The ratio of a row's values; `None` if nothing is below the line.
    pub fn of(&self, values: &[f64]) -> Option<f64> {
        self.ratio.of(*values.get(self.numerator)?, *values.get(self.denominator)?)
    }
}

/// A view of one metric over the locations selected, in column 0, with every ratio whose metrics were measured.
/// `None` if the metric was not.
pub fn of_database(
    database: &Database,
    kind: ViewKind,
    metric: &str,
    select: impl Fn(&Location) -> bool,
) -> Option<View> {
    let column = |name: &str| database.exclusive_at(name, &select);
    let mut columns = vec![column(metric)?];
    let mut ratios = Vec::new();
    for ratio in &RATIOS {
        if let (Some(numerator), Some(denominator)) = (column(ratio.numerator), column(ratio.denominator)) {
            ratios.push(RatioColumns { ratio, numerator: columns.len(), denominator: columns.len() + 1 });
            columns.extend([numerator, denominator]);
        }
    }
    let mut view = build(kind, database.tree(), &columns);
    view.ratios = ratios;
    view.left_out = database.left_out(metric, select);
    Some(view)
}
