//! The runs of sweeps at several problem sizes side by side.

use falloff_models::Observation;
use falloff_postprocess::{Tree, union};

use crate::bounds::observations;
use crate::results::Results;
use crate::scoring::{Aligned, Columns, ScaleColumns};

/// A sweep of one problem.
pub struct SizedSweep {
    /// Size of the problem, in whatever unit the user counts it.
    pub size: f64,
    /// What was measured.
    pub results: Results,
}

/// Columns of exclusive cost of all sweeps over one tree of their call paths.
pub struct Joined {
    /// The call paths of all sweeps.
    pub tree: Tree,
    /// The scales of the smallest size, smallest first, then those of the next.
    pub columns: Columns,
    /// The problem size of each of these scales.
    pub sizes: Vec<f64>,
}

impl Joined {
    /// Puts sweeps side by side, smallest size first, for a metric in nanoseconds. `None` if a run lacks the metric.
    pub(super) fn new(sweeps: &[SizedSweep], metric: &str) -> Option<Joined> {
        let aligned = sweeps
            .iter()
            .map(|sweep| Aligned::new(&sweep.results.runs, metric))
            .collect::<Option<Vec<Aligned>>>()?;
        let (tree, maps) = union(&aligned.iter().map(|one| &one.tree).collect::<Vec<_>>());
        let mut joined = Joined { tree, columns: Columns::default(), sizes: Vec::new() };
        for ((sweep, one), map) in sweeps.iter().zip(&aligned).zip(&maps) {
            joined.add(sweep.size, &one.columns, map);
        }
        Some(joined)
    }

    /// Adds the columns of one size, whose contexts have these places in the tree.
    fn add(&mut self, size: f64, columns: &Columns, map: &[u32]) {
        let (length, first) = (self.tree.len(), self.columns.values.len());
        let spread = |values: &Vec<f64>| {
            let mut column = vec![0.0; length];
            values.iter().zip(map).for_each(|(value, context)| column[*context as usize] += value);
            column
        };
        self.columns.values.extend(columns.values.iter().map(spread));
        let moved = |columns: &Vec<usize>| columns.iter().map(|column| first + column).collect();
        self.columns.scales.extend(columns.scales.iter().map(|scale| ScaleColumns {
            cost: moved(&scale.cost),
            samples: moved(&scale.samples),
            ..scale.clone()
        }));
        self.columns.helper_seconds += columns.helper_seconds;
        self.sizes.extend(columns.scales.iter().map(|_| size));
    }

    /// Seconds a processor in each repetition of every scale, from the work in each column of cost, sampled once in `period` seconds
    /// of whole runs that take `wholes`.
    pub(super) fn observations(&self, period: f64, wholes: &[f64], work: &[f64]) -> Vec<Observation> {
        let mut found = observations(&self.columns, period, wholes, work);
        for (observation, size) in found.iter_mut().zip(&self.sizes) {
            observation.scale.n = *size;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    use super::*;

    #[test]
    fn each_size_has_its_own_scales() {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
        builder.child(main, &Scope::new(ScopeKind::Function, "solve"));
        let (tree, _) = builder.finish();
        let mut joined = Joined { tree, columns: Columns::default(), sizes: Vec::new() };
        for (size, seconds) in [(100.0, 1.0), (200.0, 8.0)] {
            let mut columns = Columns::default();
            columns.push(4, vec![0.0, seconds], vec![0.0, 100.0 * seconds], 1.0);
            // The contexts of the second size are others than those of the tree.
            joined.add(size, &columns, if size > 100.0 { &[0, 2] } else { &[0, 1] });
        }
        assert_eq!((joined.columns.scales.len(), &joined.sizes), (2, &vec![100.0, 200.0]));
        assert_eq!(joined.columns.values[joined.columns.scales[1].cost[0]], [0.0, 0.0, 8.0]);
        let times = joined.observations(0.0, &[1.0, 8.0], &[1.0, 8.0]);
        assert_eq!((times[1].scale.n, times[1].scale.p, times[1].values[0]), (200.0, 4.0, 2.0));
    }
}
