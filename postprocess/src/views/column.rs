//! Columns of a sheet: what each holds and how it is called.

use super::derived::field;
use super::excerpt::Excerpt;
use super::spread::{Spread, Values};
use super::view::ViewKind;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Values of a metric of the excerpt, by its index.
    Value(usize),
    /// The same in percent of the root's inclusive value.
    Percent(usize),
    /// A derived column of the excerpt, by its index.
    Derived(usize),
    Minimum,
    Mean,
    Maximum,
    /// The group that has the maximum.
    MaximumAt,
    ImbalancePercent,
    /// Values of a group of locations, by its index.
    Group(usize),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Of inclusive or of exclusive cost.
    pub inclusive: bool,
    pub content: Content,
    /// Name in JSON and CSV, with the unit.
    pub field: String,
    /// Word that names it as a sort key; empty if none does.
    key: String,
}

/// All columns of inclusive cost and then the same of exclusive cost.
pub(super) fn columns(excerpt: &Excerpt, spread: Option<&Spread>) -> Vec<Column> {
    [true, false].into_iter().flat_map(|inclusive| of_side(excerpt, spread, inclusive)).collect()
}

fn of_side(excerpt: &Excerpt, spread: Option<&Spread>, inclusive: bool) -> Vec<Column> {
    let side = if inclusive { "inclusive" } else { "exclusive" };
    let unit = excerpt.metrics()[0].unit.suffix();
    let mut columns = Vec::new();
    let mut add = |content, name: &str, key: &str| {
        columns.push(Column { inclusive, content, field: format!("{side}_{name}"), key: key.into() });
    };
    for (index, metric) in excerpt.metrics().iter().enumerate() {
        let name = if index == 0 { String::new() } else { format!("{}_", field(&metric.name)) };
        add(Content::Value(index), &format!("{name}{}", metric.unit.suffix()), &metric.name);
        add(Content::Percent(index), &format!("{name}percent"), "");
    }
    for (index, column) in excerpt.derived().iter().enumerate() {
        add(Content::Derived(index), column.derived().field(), column.derived().name());
    }
    match spread.map(|s| (&s.values[0], &s.labels)) {
        Some((Values::Balance(_), _)) => {
            add(Content::Minimum, &format!("min_{unit}"), "min");
            add(Content::Mean, &format!("mean_{unit}"), "mean");
            add(Content::Maximum, &format!("max_{unit}"), "max");
            add(Content::MaximumAt, "max_at", "");
            add(Content::ImbalancePercent, "imbalance_percent", "imbalance");
        }
        Some((Values::Each(_), labels)) => {
            for (index, label) in labels.iter().enumerate() {
                add(Content::Group(index), &format!("{unit} {label}"), label);
            }
        }
        None => {}
    }
    columns
}

/// The column that a sort key names: `inclusive`, `exclusive`, a field's name, or a metric, derived column, statistic or group.
/// Of metrics and derived columns that of the side that the view is sorted by if nothing is said, of the others the inclusive one.
pub(super) fn by_key(columns: &[Column], kind: ViewKind, key: &str) -> Option<usize> {
    let first = |inclusive| columns.iter().position(|c| c.inclusive == inclusive);
    let named = |column: &Column| {
        let both = matches!(column.content, Content::Value(_) | Content::Derived(_));
        let inclusive = kind == ViewKind::Context || !both;
        column.key == key && column.inclusive == inclusive
    };
    match key {
        "" => None,
        "inclusive" => first(true),
        "exclusive" => first(false),
        _ => columns.iter().position(|c| c.field == key).or_else(|| columns.iter().position(named)),
    }
}

/// Sort keys that there are, without fields' names.
pub(super) fn keys(columns: &[Column]) -> Vec<String> {
    let words = columns.iter().filter(|c| c.inclusive && !c.key.is_empty()).map(|c| c.key.clone());
    ["inclusive", "exclusive", "name"].into_iter().map(String::from).chain(words).collect()
}
