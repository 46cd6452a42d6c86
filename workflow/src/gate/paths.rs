//! The runs of two sweeps over one tree of call paths. Paths are the names of their functions alone, since lines and files
//! move from build to build.

use std::collections::BTreeSet;

use falloff_postprocess::{Scope, ScopeKind, Tree, TreeBuilder};

use crate::scoring::{Run, SECONDS_PER_NS, mean_period};

/// One of the two sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// What is compared with.
    Base,
    /// What is judged.
    New,
}

/// Inclusive costs of all runs of both sweeps.
#[derive(Clone, Debug)]
pub struct PathColumns {
    /// Call paths by name.
    pub tree: Tree,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    side: Side,
    scale: u32,
    /// Inclusive seconds by context.
    inclusive: Vec<f64>,
    samples: f64,
}

impl PathColumns {
    /// Puts the runs of both sweeps side by side. `None` if a run lacks the metric.
    pub fn new(base: &[Run], new: &[Run], metric: &str) -> Option<PathColumns> {
        let mut builder = TreeBuilder::new();
        let sides = [(Side::Base, base), (Side::New, new)];
        let runs = sides.into_iter().flat_map(|(side, runs)| runs.iter().map(move |run| (side, run)));
        let mut built: Vec<(Side, &Run, Vec<u32>)> = Vec::new();
        for (side, run) in runs {
            built.push((side, run, add(&mut builder, run.database.tree())));
        }
        let (tree, place) = builder.finish();
        let column = |(side, run, nodes): (Side, &Run, Vec<u32>)| {
            let mut exclusive = vec![0.0; tree.len()];
            for (node, cost) in nodes.iter().zip(run.database.exclusive_totals(metric)?) {
                exclusive[place[*node as usize] as usize] += cost * SECONDS_PER_NS;
            }
            let samples = run.database.exclusive_totals("samples")?.into_iter().sum();
            Some(Column { side, scale: run.scale, inclusive: tree.inclusive(&exclusive), samples })
        };
        let columns = built.into_iter().map(column).collect::<Option<_>>()?;
        Some(PathColumns { tree, columns })
    }

    #[cfg(test)]
    pub(super) fn of_parts(tree: Tree, columns: Vec<(Side, u32, Vec<f64>, f64)>) -> PathColumns {
        let column = |(side, scale, inclusive, samples)| Column { side, scale, inclusive, samples };
        PathColumns { tree, columns: columns.into_iter().map(column).collect() }
    }

    /// Processor counts that both sweeps have, smallest first.
    pub fn scales(&self) -> Vec<u32> {
        let of = |side| -> BTreeSet<u32> {
            self.columns.iter().filter(|c| c.side == side).map(|c| c.scale).collect()
        };
        of(Side::Base).intersection(&of(Side::New)).copied().collect()
    }

    /// Inclusive seconds of a context in each repetition.
    pub fn repetitions(&self, side: Side, scale: u32, context: u32) -> Vec<f64> {
        self.of(side, scale).map(|c| c.inclusive[context as usize]).collect()
    }

    /// Their mean.
    pub fn mean(&self, side: Side, scale: u32, context: u32) -> f64 {
        let (sum, count) = self
            .of(side, scale)
            .fold((0.0, 0usize), |(sum, count), c| (sum + c.inclusive[context as usize], count + 1));
        sum / count.max(1) as f64
    }

    /// Mean time between samples, seconds, but not below `asked`.
    pub fn period(&self, asked: f64) -> f64 {
        let (cost, samples) = self
            .columns
            .iter()
            .fold((0.0, 0.0), |(cost, samples), c| (cost + c.inclusive[0], samples + c.samples));
        mean_period(cost, samples, asked)
    }

    fn of(&self, side: Side, scale: u32) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |c| c.side == side && c.scale == scale)
    }

    /// Names of a context's functions, outermost first.
    pub fn names(&self, context: u32) -> Vec<String> {
        self.tree.path(context).into_iter().map(|c| self.tree.scope(c).name.to_string()).collect()
    }
}

/// Adds the frames of a tree; yields the node that each of its contexts belongs to.
fn add(builder: &mut TreeBuilder, tree: &Tree) -> Vec<u32> {
    let mut nodes = vec![0; tree.len()];
    for context in 1..tree.len() as u32 {
        let scope = tree.scope(context);
        let above = nodes[tree.contexts()[context as usize].parent as usize];
        nodes[context as usize] = match scope.kind.is_frame() {
            // Whether it was inlined may change as well.
            true => builder.child(above, &Scope::new(ScopeKind::Function, &scope.name)),
            false => above,
        };
    }
    nodes
}
