//! How every call path of a score bounds the speed-up.

use falloff_models::{Inflexion, PartialBounds, Step, Waterfall};
use falloff_postprocess::Tree;
use rayon::prelude::*;

use super::partial::{lasting, partial_bounds};
use super::parts::Parts;
use super::series::Series;
use crate::scoring::{Columns, Scaling};

/// Whose bounds are wanted: those of every call path take time and memory where there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundsOf {
    /// Nobody's.
    Nothing,
    /// Of the parts of the run, which add up to it.
    #[default]
    Parts,
    /// Of every row of the calling context view as well.
    Rows,
}

/// Bounds of the speed-up at the compared count over the base, by call path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathBounds {
    /// Base and compared count.
    pub counts: (u32, u32),
    /// By row of the calling context view, with all that it calls; `None` where it does not run at the compared count. Empty if they were
    /// not wanted.
    rows: Vec<Option<RowBounds>>,
    /// 1/S = Σ 1/B over the parts of the run; what none of them covers are those with too few samples to be looked at one by one.
    pub waterfall: Waterfall,
    /// Contexts of its parts: functions with their own code, and whole operations of run-time libraries.
    pub parts: Vec<u32>,
    /// Where the times of its parts stop falling, in the same order.
    inflexions: Vec<Option<Inflexion>>,
}

/// Of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowBounds {
    /// How fast the work of the base could be done at most, while the row takes what it takes at the compared count.
    pub bounds: PartialBounds,
    /// Where its time for the same work stops falling, over all counts of the sweep; `None` of rare rows and of a single count.
    pub inflexion: Option<Inflexion>,
}

/// What is known of a row beside its cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Largest over mean cost of the participants at the compared count.
    pub max_over_mean: Option<f64>,
    /// Whether there are too few samples to say anything of it alone.
    pub is_rare: bool,
}

impl PathBounds {
    /// Of the parts, and of the rows (none if they are not wanted) whose inclusive costs in each column of cost are `inclusive`, in
    /// seconds. `None` if one of the counts is not there or has no cost.
    pub(crate) fn new(
        tree: &Tree,
        columns: &Columns,
        (inclusive, rows): (&[Vec<f64>], &[Row]),
        scaling: Scaling,
        period: f64,
        counts: (u32, u32),
    ) -> Option<PathBounds> {
        let cost_columns = || columns.scales.iter().flat_map(|scale| &scale.cost);
        let wholes: Vec<f64> = cost_columns().map(|column| columns.total(*column)).collect();
        let series = |work: &[f64]| Series::new(columns, scaling, period, &wholes, work).ok();
        let whole = series(&wholes)?;
        let place = |count: u32| columns.scales.iter().position(|scale| scale.scale == count);
        let (from, to) = (place(counts.0)?, place(counts.1)?);
        let at = |of: &Series| of.same_work.get(to).mean;
        let of_row = |(index, row): (usize, &Row)| {
            let work: Vec<f64> = inclusive.iter().map(|column| column[index]).collect();
            let series = series(&work).filter(|series| at(series) > 0.0)?;
            let inflexion = (!row.is_rare).then(|| Inflexion::new(&series.same_work).ok()).flatten();
            let bounds = partial_bounds(&whole, &series, (from, to), (row.max_over_mean, None)).ok()?;
            Some(RowBounds { bounds, inflexion })
        };
        let parts = Parts::new(tree, columns);
        let of_part = |context: &u32| {
            let work: Vec<f64> = parts.costs.iter().map(|column| column[*context as usize]).collect();
            let series = series(&work);
            let inflexion = series.as_ref().and_then(|series| Inflexion::new(&series.same_work).ok());
            (series.map_or(0.0, |series| at(&series)), inflexion)
        };
        let (seconds, inflexions): (Vec<f64>, Vec<Option<Inflexion>>) =
            parts.judged.par_iter().map(of_part).unzip();
        let reference = whole.same_work.get(from).mean;
        Some(PathBounds {
            counts,
            rows: rows.par_iter().enumerate().map(of_row).collect(),
            waterfall: Waterfall::new(reference, at(&whole), &seconds).ok()?,
            parts: parts.judged,
            inflexions,
        })
    }

    /// The bounds of a row of the calling context view, if they were wanted and it runs at the compared count.
    pub fn row(&self, row: u32) -> Option<&RowBounds> {
        self.rows.get(row as usize)?.as_ref()
    }

    /// The context of a step; `None` for what is rare.
    pub fn context(&self, step: &Step) -> Option<u32> {
        step.part.map(|part| self.parts[part])
    }

    /// Where the time of a step stops falling.
    pub fn inflexion(&self, step: &Step) -> Option<Inflexion> {
        self.inflexions[step.part?]
    }

    /// The tightest bound among those whose time no longer falls.
    pub fn lasting(&self) -> Option<&Step> {
        lasting(&self.waterfall, |step| self.inflexion(step))
    }
}

#[cfg(test)]
mod tests {
    use falloff_models::State;
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    use super::*;

    #[test]
    fn parts_add_up_and_rows_have_their_bounds() {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
        let shared = builder.child(main, &Scope::new(ScopeKind::Function, "shared"));
        let serial = builder.child(main, &Scope::new(ScopeKind::Function, "serial"));
        let (tree, place) = builder.finish();
        let [main, shared, serial] = [main, shared, serial].map(|context| place[context as usize] as usize);
        let mut columns = Columns::default();
        // What is shared takes 96 s in all, what is serial 4 s on one of the processes.
        for p in [1, 2, 4, 8] {
            for noise in [0.99, 1.0, 1.01] {
                let mut cost = vec![0.0; tree.len()];
                (cost[shared], cost[serial]) = (96.0 * noise, 4.0 * noise * f64::from(p));
                let samples = cost.iter().map(|seconds| seconds * 100.0).collect();
                columns.push(p, cost, samples, 1.0);
            }
        }
        let inclusive: Vec<Vec<f64>> = columns
            .scales
            .iter()
            .flat_map(|scale| &scale.cost)
            .map(|column| tree.inclusive(&columns.values[*column]))
            .collect();
        let rows = vec![Row { max_over_mean: Some(2.0), is_rare: false }; tree.len()];
        let found =
            PathBounds::new(&tree, &columns, (&inclusive, &rows), Scaling::Strong, 0.0, (1, 8)).unwrap();
        assert!((found.waterfall.speedup - 100.0 / 16.0).abs() < 1e-9);
        let sum: f64 = found.waterfall.steps.iter().map(|step| 1.0 / step.bound).sum();
        assert!((sum * found.waterfall.speedup - 1.0).abs() < 1e-12);
        let of = |context: usize| found.row(context as u32).unwrap();
        let speedup = of(main).bounds.average;
        assert!((speedup.value - 6.25).abs() < 1e-9 && speedup.low < speedup.value);
        let serial_bounds = of(serial);
        assert!((serial_bounds.bounds.largest.value - 12.5).abs() < 1e-9);
        assert_eq!(serial_bounds.inflexion.unwrap().state, State::Saturated);
        assert_eq!(found.lasting().and_then(|step| found.context(step)), Some(serial as u32));
        assert_eq!(found.context(&found.waterfall.steps[0]), Some(shared as u32));
        let of_two = PathBounds::new(&tree, &columns, (&inclusive, &rows), Scaling::Strong, 0.0, (2, 3));
        assert_eq!(of_two, None);
    }
}
