//! The runs of a sweep side by side: one column of exclusive cost for each run, over one tree.

use falloff_postprocess::{Database, Tree, union};
use rayon::prelude::*;

/// One good run of a sweep, opened.
pub struct Run {
    /// Processor count of the run.
    pub scale: u32,
    /// Which repetition it is, from 1.
    pub repetition: u32,
    /// How long the run took by the clock, seconds.
    pub wall_seconds: f64,
    /// What it measured, without threads that the application did not start.
    pub database: Database,
}

/// Which columns belong to one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleColumns {
    /// Processor count.
    pub scale: u32,
    /// Columns of cost, one for each repetition.
    pub cost: Vec<usize>,
    /// Columns of sample counts, in the same order.
    pub samples: Vec<usize>,
    /// Wall time of each repetition, seconds.
    pub wall_seconds: Vec<f64>,
}

/// Exclusive values of every context in every run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The scales, smallest first.
    pub scales: Vec<ScaleColumns>,
    /// `values[column][context]`: cost in seconds, or samples.
    pub values: Vec<Vec<f64>>,
    /// Cost of helper threads, which is in no column, summed over all runs, seconds.
    pub helper_seconds: f64,
}

/// The union of the runs' trees with the columns over it.
pub(crate) struct Aligned {
    pub tree: Tree,
    pub columns: Columns,
    /// For each run, its contexts' places in the tree.
    pub maps: Vec<Vec<u32>>,
}

/// Seconds in the unit of a metric in nanoseconds.
pub(crate) const SECONDS_PER_NS: f64 = 1e-9;

impl Aligned {
    /// Puts runs side by side for a metric in nanoseconds. `None` if a run lacks the metric.
    ///
    /// The cost of threads that the runs leave out is summed apart.
    pub fn new(runs: &[Run], metric: &str) -> Option<Aligned> {
        let trees: Vec<&Tree> = runs.iter().map(|r| r.database.tree()).collect();
        let (tree, maps) = union(&trees);
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|i| (runs[*i].scale, runs[*i].repetition));
        let of_run = |i: &usize| {
            let (database, map) = (&runs[*i].database, &maps[*i]);
            let spread = |exclusive: Vec<f64>, unit: f64| -> Vec<f64> {
                let mut column = vec![0.0; tree.len()];
                for (value, context) in exclusive.into_iter().zip(map) {
                    column[*context as usize] += value * unit;
                }
                column
            };
            let cost = spread(database.exclusive_totals(metric)?, SECONDS_PER_NS);
            Some((cost, spread(database.exclusive_totals("samples")?, 1.0)))
        };
        let of_runs = order.par_iter().map(of_run).collect::<Option<Vec<_>>>()?;
        let mut columns = Columns::default();
        for (i, (cost, samples)) in order.into_iter().zip(of_runs) {
            let run = &runs[i];
            columns.helper_seconds += run.database.left_out(metric, |_| true) * SECONDS_PER_NS;
            columns.push(run.scale, cost, samples, run.wall_seconds);
        }
        Some(Aligned { tree, columns, maps })
    }
}

impl Columns {
    /// Adds one run: its exclusive cost in seconds and its samples by context, and its wall time in seconds.
    /// Runs come in order of their scales.
    pub fn push(&mut self, scale: u32, cost: Vec<f64>, samples: Vec<f64>, wall_seconds: f64) {
        if self.scales.last().is_none_or(|s| s.scale != scale) {
            self.scales.push(ScaleColumns { scale, cost: vec![], samples: vec![], wall_seconds: vec![] });
        }
        let first = self.values.len();
        self.values.extend([cost, samples]);
        if let Some(last) = self.scales.last_mut() {
            last.cost.push(first);
            last.samples.push(first + 1);
            last.wall_seconds.push(wall_seconds);
        }
    }

    /// The columns of a scale.
    pub fn scale(&self, scale: u32) -> Option<&ScaleColumns> {
        self.scales.iter().find(|s| s.scale == scale)
    }

    /// Totals of all columns over all contexts.
    pub fn totals(&self) -> Vec<f64> {
        (0..self.values.len()).map(|c| self.total(c)).collect()
    }

    /// Mean cost of every context over the repetitions of a scale.
    pub fn mean(&self, scale: &ScaleColumns) -> Vec<f64> {
        let count = scale.cost.len().max(1) as f64;
        self.sum(&scale.cost).into_iter().map(|sum| sum / count).collect()
    }

    /// Samples of every context in all repetitions of a scale.
    pub fn samples(&self, scale: &ScaleColumns) -> Vec<f64> {
        self.sum(&scale.samples)
    }

    fn sum(&self, columns: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; self.values.first().map_or(0, Vec::len)];
        for column in columns {
            sums.iter_mut().zip(&self.values[*column]).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    /// 1 for every context that has a value in any column, 0 for the others.
    pub fn presence(&self) -> Vec<f64> {
        let mut present = vec![0.0; self.values.first().map_or(0, Vec::len)];
        for column in &self.values {
            present
                .iter_mut()
                .zip(column)
                .filter(|(_, value)| **value != 0.0)
                .for_each(|(one, _)| *one = 1.0);
        }
        present
    }

    /// Total of a column over all contexts.
    pub fn total(&self, column: usize) -> f64 {
        self.values[column].iter().sum()
    }

    /// Mean time between samples over all runs, seconds, but not below `asked`, the period that was asked for.
    ///
    /// A timer that rides on the kernel's tick gives fewer and heavier samples than asked for.
    pub fn period(&self, asked: f64) -> f64 {
        let sum = |pick: fn(&ScaleColumns) -> &Vec<usize>| -> f64 {
            self.scales.iter().flat_map(pick).map(|c| self.total(*c)).sum()
        };
        let (cost, samples) = (sum(|s| &s.cost), sum(|s| &s.samples));
        mean_period(cost, samples, asked)
    }
}

/// Mean time between samples, seconds, but not below `asked`.
pub(crate) fn mean_period(cost_seconds: f64, samples: f64, asked: f64) -> f64 {
    if samples > 0.0 { asked.max(cost_seconds / samples) } else { asked }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_scale_stay_together() {
        let mut columns = Columns::default();
        for (scale, cost) in [(1, 1.0), (1, 1.2), (2, 2.0)] {
            columns.push(scale, vec![0.0, cost], vec![0.0, 100.0], cost);
        }
        assert_eq!(columns.scales[0].cost, [0, 2]);
        assert_eq!(columns.scales[1].samples, [5]);
        assert_eq!(columns.total(2), 1.2);
        assert_eq!(columns.scale(4), None);
        assert!((columns.period(0.005) - 4.2 / 300.0).abs() < 1e-12);
    }
}
