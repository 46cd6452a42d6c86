//! Two scales compared in one view: excess of every row.

use std::sync::Arc;

use falloff_postprocess::Tree;
use falloff_postprocess::views::{Layout, RowKind, ViewKind};

use super::columns::Columns;
use super::excess::{Class, own_efficiency};
use super::growth::Growth;
use super::interval::q_values;
use super::losses::{Comparison, Loss, Losses};

/// Samples below which a row is never judged: it needs at least these many at one of the scales.
pub const MIN_SAMPLES: u64 = 10;

/// Share of the work of the whole run, both scales together, from which a row is tested.
const TESTED: f64 = 0.001;

/// Share of false findings that is put up with.
pub const FALSE_FINDINGS: f64 = 0.05;

/// Smallest share of the row above that the next row of a hot path must have.
const HOT_SHARE: f64 = 0.5;

/// A row of a view with its excess.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredRow {
    /// Index of the row in its view.
    pub id: u32,
    /// Row above.
    pub parent: Option<u32>,
    /// Steps from the root.
    pub depth: u32,
    /// What it stands for.
    pub kind: RowKind,
    /// Name.
    pub name: Arc<str>,
    /// Load module.
    pub module: Option<Arc<str>>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line of the statement or of the definition.
    pub line: Option<u32>,
    /// Line of the call.
    pub call_line: Option<u32>,
    /// Of the row with everything below it.
    pub inclusive: Loss,
    /// Of its own code.
    pub exclusive: Loss,
    /// Inclusive samples at the base scale, all repetitions.
    pub samples_base: u64,
    /// Inclusive samples at the compared scale, all repetitions.
    pub samples_at: u64,
    /// At which scales it runs.
    pub class: Class,
    /// ρ·W_p / W_q, inclusive.
    pub own_efficiency: Option<f64>,
    /// Largest over mean inclusive work of the participants at the compared scale.
    pub max_over_mean: Option<f64>,
    /// Among the rows of the view that are tested, the share of false findings if this one and all with smaller p-values are
    /// called findings; `None` for rows too small to be tested.
    pub q_value: Option<f64>,
}

/// A view with the excess of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredView {
    /// Which view it is.
    pub kind: ViewKind,
    /// Rows in pre-order; row 0 is the root.
    pub rows: Vec<ScoredRow>,
    /// Rows below the root that one meets going down to the child with the largest inclusive excess while it
    /// has at least half of the row above. Empty if nothing is lost.
    pub hot_path: Vec<u32>,
}

impl ScoredView {
    /// Scores all rows of a view that is laid out.
    pub fn new(
        kind: ViewKind,
        layout: &Layout,
        tree: &Tree,
        columns: &Columns,
        comparison: &Comparison,
        growth: &Growth,
    ) -> ScoredView {
        let losses = Losses::new(layout, tree, columns, comparison, growth);
        let samples = |scale| layout.inclusive(&tree.inclusive(&columns.samples(scale)));
        let (samples_base, samples_at) = (samples(comparison.base), samples(comparison.at));
        let scopes = layout.rows();
        let mut rows: Vec<ScoredRow> = Vec::with_capacity(scopes.len());
        for (row, (inclusive, exclusive)) in losses.inclusive.into_iter().zip(losses.exclusive).enumerate() {
            let id = row as u32;
            let (scope, parent) = (scopes.scope(id), scopes.parent(id));
            rows.push(ScoredRow {
                id,
                parent,
                depth: parent.map_or(0, |p| rows[p as usize].depth + 1),
                kind: scope.kind,
                name: scope.name.clone(),
                module: scope.module.clone(),
                file: scope.file.clone(),
                line: scope.line,
                call_line: scope.call_line,
                samples_base: samples_base[row] as u64,
                samples_at: samples_at[row] as u64,
                class: Class::of(inclusive.work_base, inclusive.work_at),
                own_efficiency: own_efficiency(inclusive.work_at, 1.0, inclusive.expected),
                max_over_mean: None,
                q_value: None,
                inclusive,
                exclusive,
            });
        }
        let excess: Vec<f64> = rows.iter().map(|row| row.inclusive.excess).collect();
        let hot_path = layout.hot_path(&excess, HOT_SHARE);
        let mut view = ScoredView { kind, rows, hot_path };
        view.test(comparison.whole_at);
        view
    }

    /// Gives the rows that are tested their q-values: the root, and if its interval does not hold zero the rows with 0.1 % of
    /// the work `whole` at both scales together and with enough samples.
    ///
    /// The gate keeps an unchanged program from findings deep in its tree. It opens for all that is below, not step by step, so
    /// that a loss is seen beside a gain that hides it in the row above both.
    fn test(&mut self, whole: f64) {
        let open = self.rows.first().is_some_and(|root| root.inclusive.is_told_from_zero());
        let large = |r: &ScoredRow| r.inclusive.work_base + r.inclusive.work_at >= TESTED * whole;
        let tested: Vec<usize> = (0..self.rows.len())
            .filter(|i| (open || *i == 0) && self.rows[*i].judged() && large(&self.rows[*i]))
            .collect();
        let p_values: Vec<f64> = tested.iter().map(|i| self.rows[*i].inclusive.p_value()).collect();
        for (row, q) in tested.into_iter().zip(q_values(&p_values)) {
            self.rows[row].q_value = Some(q);
        }
    }

    /// Names from just below the root to a row.
    pub fn path(&self, row: u32) -> Vec<&str> {
        let mut names: Vec<&str> =
            std::iter::successors(self.rows.get(row as usize), |r| r.parent.map(|p| &self.rows[p as usize]))
                .filter(|r| r.parent.is_some())
                .map(|r| &*r.name)
                .collect();
        names.reverse();
        names
    }

    /// Rows whose exclusive values are the parts of the whole: each function once, in the callers view those of
    /// the first level. Their exclusive excess sums to the root's inclusive excess.
    pub fn parts(&self) -> impl Iterator<Item = &ScoredRow> {
        self.rows.iter().filter(|row| match self.kind {
            ViewKind::Callers => row.depth == 1,
            ViewKind::Context | ViewKind::Flat => row.is_function() || row.kind == RowKind::Root,
        })
    }

    /// Functions by falling exclusive excess.
    pub fn ranking(&self) -> Vec<&ScoredRow> {
        let mut rows: Vec<&ScoredRow> = self.rows.iter().filter(|r| r.is_function()).collect();
        rows.sort_by(|a, b| b.exclusive.excess.total_cmp(&a.exclusive.excess).then(a.id.cmp(&b.id)));
        rows
    }
}

impl ScoredRow {
    /// Whether there are enough samples at one of the scales to say anything.
    pub fn judged(&self) -> bool {
        self.samples_base.max(self.samples_at) >= MIN_SAMPLES
    }

    /// Whether it has too few samples at both scales to say anything. Text reports fold such rows.
    pub fn is_rare(&self) -> bool {
        !self.judged()
    }

    /// Whether the inclusive excess is told from zero, also among all rows that are looked at.
    pub fn significant(&self) -> bool {
        self.inclusive.is_told_from_zero() && self.q_value.is_some_and(|q| q < FALSE_FINDINGS)
    }

    /// Whether it is a function or stands in for one.
    pub fn is_function(&self) -> bool {
        self.kind.is_frame()
    }
}
