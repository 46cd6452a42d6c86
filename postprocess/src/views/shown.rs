//! The rows of a sheet that are written, in their order.

use std::cmp::Ordering;

use super::query::QueryError;
use super::sheet::{Cell, Sheet};
use super::view::ViewKind;

/// Share of the row above from which a child belongs to the hot path, if nothing else is said.
pub const HOT_SHARE: f64 = 0.5;

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

/// A sheet with the rows of it that are written.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    pub(super) sheet: &'a Sheet<'a>,
    pub(super) options: RowOptions,
    /// In order, parents before children.
    pub(super) rows: Vec<u32>,
    /// How many are left out.
    pub(super) hidden: u64,
}

impl<'a> Shown<'a> {
    /// Takes the rows that the options leave.
    ///
    /// # Errors
    /// [`QueryError::NoHotPath`] if the hot path of a callers or flat view is asked for.
    pub fn new(sheet: &'a Sheet<'a>, options: RowOptions) -> Result<Shown<'a>, QueryError> {
        let view = sheet.view();
        if options.hot_path.is_some() && view.kind != ViewKind::Context {
            return Err(QueryError::NoHotPath { view: view.kind.word() });
        }
        let mut shown = Shown { sheet, options, rows: Vec::new(), hidden: 0 };
        match shown.options.hot_path {
            Some(share) => {
                let path = std::iter::once(0).chain(view.hot_path(0, share));
                shown.rows = path.filter(|row| shown.is_shallow(*row)).collect();
            }
            None => shown.walk(),
        }
        shown.hidden = view.rows.len() as u64 - shown.rows.len() as u64;
        Ok(shown)
    }

    fn walk(&mut self) {
        let view = self.sheet.view();
        let mut stack = vec![0];
        while let Some(row) = stack.pop() {
            self.rows.push(row);
            let mut below: Vec<u32> = view.children(row).filter(|child| self.is_large(*child)).collect();
            if self.options.sort != Sort::Canonical {
                below.sort_by(|a, b| self.order(*a, *b));
            }
            stack.extend(below.into_iter().rev());
        }
    }

    fn is_shallow(&self, row: u32) -> bool {
        self.options.depth.is_none_or(|depth| self.sheet.view().rows[row as usize].depth <= depth)
    }

    fn is_large(&self, row: u32) -> bool {
        let share = |metric: usize, value: &f64| self.sheet.percent(metric, *value).abs();
        let values = &self.sheet.view().rows[row as usize].inclusive[..self.sheet.excerpt.metrics().len()];
        let large =
            values.iter().enumerate().any(|(m, value)| share(m, value) >= self.options.threshold_percent);
        large && self.is_shallow(row)
    }

    /// Equal rows have the larger cost first, then keep the view's order.
    fn order(&self, a: u32, b: u32) -> Ordering {
        let rows = [a, b].map(|row| &self.sheet.view().rows[row as usize]);
        let first = match self.options.sort {
            Sort::Canonical => Ordering::Equal,
            Sort::Name => rows[0].name.cmp(&rows[1].name),
            Sort::Column(column) => self.sheet.columns.get(column).map_or(Ordering::Equal, |column| {
                let [a, b] = rows.map(|row| match self.sheet.cell(row, column) {
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
