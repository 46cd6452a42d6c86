//! A view with all its columns, ready to be written.

use std::cmp::Ordering;

use super::column::{Column, Content, by_key, columns, keys};
use super::excerpt::Excerpt;
use super::query::QueryError;
use super::spread::{Spread, SpreadOptions, Values, spread};
use super::view::{Row, View, ViewKind, build};

/// Share of the row above from which a child belongs to the hot path, if nothing else is said.
pub const HOT_SHARE: f64 = 0.5;

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

/// Which rows are written, and in which order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowOptions {
    /// Rows whose inclusive cost is a smaller share of the whole in every metric shown are left out, percent.
    pub threshold_percent: f64,
    /// Levels below the root.
    pub depth: Option<u32>,
    /// Order of the rows that have the same parent.
    pub sort: Sort,
    /// Only the hot path: from the root down to the child with the largest inclusive cost, while that is at least this share of
    /// the row above.
    pub hot_path: Option<f64>,
}

/// Order of the rows that have the same parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As in the database: by kind, module, file and name.
    #[default]
    Canonical,
    /// By name.
    Name,
    /// By a column of the sheet, by its index; the largest absolute value comes first, empty cells last.
    Column(usize),
}

/// Rows that are written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// In order, parents before children.
    pub rows: Vec<u32>,
    /// How many are left out.
    pub hidden: u64,
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
        let total = self.total(metric);
        if total == 0.0 { 0.0 } else { 100.0 * value / total }
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
            Values::Statistics(rows) => {
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

    /// The rows that the options leave.
    pub(super) fn rows(&self, options: &RowOptions) -> Shown {
        let all = self.view.rows.len() as u64;
        let mut rows = Vec::new();
        if let Some(share) = options.hot_path {
            rows.push(0);
            rows.extend(self.view.hot_path(0, share));
            rows.retain(|row| self.is_shallow(*row, options));
        } else {
            let mut stack = vec![0];
            while let Some(row) = stack.pop().filter(|row| (*row as usize) < self.view.rows.len()) {
                rows.push(row);
                let mut below: Vec<u32> =
                    self.view.children(row).filter(|child| self.is_shown(*child, options)).collect();
                if options.sort != Sort::Canonical {
                    below.sort_by(|a, b| self.order(*a, *b, options.sort));
                }
                stack.extend(below.into_iter().rev());
            }
        }
        Shown { hidden: all - rows.len() as u64, rows }
    }

    fn is_shallow(&self, row: u32, options: &RowOptions) -> bool {
        options.depth.is_none_or(|depth| self.view.rows[row as usize].depth <= depth)
    }

    fn is_shown(&self, row: u32, options: &RowOptions) -> bool {
        let large = |metric: usize| {
            let value = self.view.rows[row as usize].inclusive[metric];
            self.percent(metric, value).abs() >= options.threshold_percent
        };
        self.is_shallow(row, options) && (0..self.excerpt.metrics().len()).any(large)
    }

    fn order(&self, a: u32, b: u32, sort: Sort) -> Ordering {
        let rows = [a, b].map(|row| &self.view.rows[row as usize]);
        let first = match sort {
            Sort::Canonical => Ordering::Equal,
            Sort::Name => rows[0].name.cmp(&rows[1].name),
            Sort::Column(column) => self.columns.get(column).map_or(Ordering::Equal, |column| {
                let [a, b] = rows.map(|row| match self.cell(row, column) {
                    Cell::Number(value) => value.abs(),
                    Cell::Text(_) | Cell::Nothing => -1.0,
                });
                b.total_cmp(&a)
            }),
        };
        let larger = |values: [&Vec<f64>; 2]| values[1][0].abs().total_cmp(&values[0][0].abs());
        first
            .then_with(|| larger(rows.map(|row| &row.inclusive)))
            .then_with(|| larger(rows.map(|row| &row.exclusive)))
            .then(a.cmp(&b))
    }
}
