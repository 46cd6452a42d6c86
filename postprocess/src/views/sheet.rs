//! A view with all its columns, ready to be written.

use super::column::{Column, Content, by_key, columns, keys};
use super::excerpt::Excerpt;
use super::query::QueryError;
use super::shown::Sort;
use super::spread::{Spread, SpreadOptions, Values, spread};
use super::view::{Row, View, ViewKind, build};

/// A view of an [`Excerpt`] with its columns.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    pub(super) excerpt: &'a Excerpt<'a>,
    pub(super) view: View,
    pub(super) spread: Option<Spread>,
    pub(super) columns: Vec<Column>,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Number(f64),
    Text(&'a str),
    Nothing,
}

impl<'a> Sheet<'a> {
    /// Lays out a view.
    ///
    /// # Errors
    /// [`QueryError::Twice`] if two columns would have one name.
    pub fn new(
        excerpt: &'a Excerpt<'a>,
        kind: ViewKind,
        options: Option<SpreadOptions>,
    ) -> Result<Sheet<'a>, QueryError> {
        let (view, spread) = match options {
            None => (excerpt.view(kind), None),
            Some(options) => {
                let (spread, presence) = spread(excerpt, kind, options);
                let columns = [excerpt.columns(), &[presence]].concat();
                (build(kind, excerpt.tree(), &columns), Some(spread))
            }
        };
        let columns = columns(excerpt, spread.as_ref());
        for (index, column) in columns.iter().enumerate() {
            if let Content::Derived(derived) = column.content
                && columns.iter().enumerate().any(|(other, c)| other != index && c.field == column.field)
            {
                let derived = excerpt.derived()[derived].derived();
                return Err(QueryError::Twice { name: derived.name().into(), field: column.field.clone() });
            }
        }
        Ok(Sheet { excerpt, view, spread, columns })
    }

    /// The view.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The order that a key names: `name`, `inclusive`, `exclusive`, a field's name as in JSON, or the name of a metric, derived
    /// column, statistic or group that is shown.
    ///
    /// # Errors
    /// [`QueryError::NoColumn`].
    pub fn sort(&self, key: &str) -> Result<Sort, QueryError> {
        match by_key(&self.columns, self.view.kind, key) {
            Some(column) => Ok(Sort::Column(column)),
            None if key == "name" => Ok(Sort::Name),
            None => Err(QueryError::NoColumn { key: key.into(), known: keys(&self.columns) }),
        }
    }

    /// The largest first: by inclusive cost in the calling context view, by exclusive cost in the others.
    pub fn largest_first(&self) -> Sort {
        let key = if self.view.kind == ViewKind::Context { "inclusive" } else { "exclusive" };
        by_key(&self.columns, self.view.kind, key).map_or(Sort::Canonical, Sort::Column)
    }

    /// Inclusive value of the root in a metric.
    pub(super) fn total(&self, metric: usize) -> f64 {
        self.view.rows.first().and_then(|root| root.inclusive.get(metric)).copied().unwrap_or(0.0)
    }

    /// A value of a metric in percent of the whole.
    pub(super) fn percent(&self, metric: usize, value: f64) -> f64 {
        let base = self.excerpt.base(metric);
        if base == 0.0 { 0.0 } else { 100.0 * value / base }
    }

    pub(super) fn cell(&self, row: &Row, column: &Column) -> Cell<'_> {
        let values = if column.inclusive { &row.inclusive } else { &row.exclusive };
        let number = match column.content {
            Content::Value(metric) => values.get(metric).copied(),
            Content::Percent(metric) => values.get(metric).map(|v| self.percent(metric, *v)),
            Content::Derived(index) => self.excerpt.derived()[index].of(values),
            _ => return self.spread_cell(row.id as usize, column),
        };
        number.map_or(Cell::Nothing, Cell::Number)
    }

    fn spread_cell(&self, row: usize, column: &Column) -> Cell<'_> {
        let Some(spread) = &self.spread else { return Cell::Nothing };
        let number = |number: Option<f64>| number.map_or(Cell::Nothing, Cell::Number);
        match &spread.values[usize::from(!column.inclusive)] {
            Values::Each(rows) => match column.content {
                Content::Group(group) => number(rows.get(row).and_then(|row| row.get(group)).copied()),
                _ => Cell::Nothing,
            },
            Values::Balance(rows) => {
                let Some(statistics) = rows.get(row) else { return Cell::Nothing };
                match column.content {
                    Content::Minimum => Cell::Number(statistics.min),
                    Content::Mean => Cell::Number(statistics.mean()),
                    Content::Maximum => Cell::Number(statistics.max),
                    Content::ImbalancePercent => number(statistics.imbalance_percent()),
                    Content::MaximumAt if statistics.max > 0.0 => spread
                        .labels
                        .get(statistics.max_group)
                        .map_or(Cell::Nothing, |label| Cell::Text(label)),
                    _ => Cell::Nothing,
                }
            }
        }
    }
}
