//! Every call path from count to count: what each step of a sweep adds to its excess.

use falloff_postprocess::Tree;
use falloff_postprocess::views::{Layout, ViewKind};

use super::columns::{Columns, ScaleColumns};
use super::growth::Growth;
use super::losses::{Comparison, Loss, Losses};
use super::scales::whole as mean_whole;

/// One step between neighbouring counts, for all rows of the context view.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The smaller count.
    pub from: u32,
    /// The larger one.
    pub to: u32,
    /// Of each row.
    pub rows: Vec<StepRow>,
}

/// A step of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRow {
    /// Excess with everything below, as a fraction of the whole run at `to`.
    pub inclusive: Loss,
    /// Excess of its own code.
    pub exclusive: Loss,
    /// What the step adds to the row's inclusive excess between the base and the compared count, as a fraction of the whole
    /// run there: ρ(to, at)·(W(to) − ρ(from, to)·W(from)) / A(at). The steps sum to that excess.
    pub part_inclusive: f64,
    /// The same of its own code.
    pub part_exclusive: f64,
}

/// The steps from the base to the compared count of `whole`, smallest first.
///
/// A(m)·X(m, 1) = Σ ρ(i, m)·A(i)·X(i, i−1), with a factor of its own for each context, since ρ(i−1, i)·ρ(i, m) = ρ(i−1, m).
pub fn steps(tree: &Tree, columns: &Columns, whole: &Comparison, growth: &Growth) -> Vec<Step> {
    let between = whole.base.scale..=whole.at.scale;
    let scales: Vec<&ScaleColumns> = columns.scales.iter().filter(|s| between.contains(&s.scale)).collect();
    let layout = Layout::new(ViewKind::Context, tree, |_| true);
    let totals = columns.totals();
    scales
        .windows(2)
        .map(|pair| {
            let (base, at) = (pair[0], pair[1]);
            let step = Comparison {
                base,
                at,
                whole_base: mean_whole(&totals, base),
                whole_at: mean_whole(&totals, at),
                ..*whole
            };
            let losses = Losses::new(&layout, tree, columns, &step, growth);
            let (part_inclusive, part_exclusive) =
                layout.column(tree, &carried(columns, &step, whole.at.scale, growth));
            let row = |row: usize| StepRow {
                inclusive: losses.inclusive[row],
                exclusive: losses.exclusive[row],
                part_inclusive: part_inclusive[row] / whole.whole_at,
                part_exclusive: part_exclusive[row] / whole.whole_at,
            };
            Step { from: base.scale, to: at.scale, rows: (0..layout.rows().len()).map(row).collect() }
        })
        .collect()
}

/// The excess work of every context in a step, as it is expected to grow on to the count `last`, seconds.
fn carried(columns: &Columns, step: &Comparison, last: u32, growth: &Growth) -> Vec<f64> {
    let (from, to) = (step.base.scale, step.at.scale);
    let (before, after) = (columns.mean(step.base), columns.mean(step.at));
    (0..)
        .zip(before.into_iter().zip(after))
        .map(|(context, (before, after))| {
            growth.of(context, to, last) * (after - growth.of(context, from, to) * before)
        })
        .collect()
}
