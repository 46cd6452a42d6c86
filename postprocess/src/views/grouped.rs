//! A view whose rows each gather several contexts.

use super::view::{Costs, View, ViewKind};
use crate::cct::{Scope, Tree, TreeBuilder};

/// Rows under construction. Contexts must be added in pre-order.
pub(super) struct Grouped<'a> {
    tree: &'a Tree,
    costs: &'a Costs,
    rows: TreeBuilder,
    /// Values of row r in column k at `r * columns + k`.
    inclusive: Vec<f64>,
    exclusive: Vec<f64>,
    /// End of the subtree of the last context whose inclusive cost was counted in each row.
    covered: Vec<u32>,
}

impl<'a> Grouped<'a> {
    pub fn new(tree: &'a Tree, costs: &'a Costs) -> Grouped<'a> {
        let mut grouped = Grouped {
            tree,
            costs,
            rows: TreeBuilder::new(),
            inclusive: Vec::new(),
            exclusive: Vec::new(),
            covered: Vec::new(),
        };
        grouped.grow();
        for (k, (inclusive, exclusive)) in costs.inclusive.iter().zip(&costs.exclusive).enumerate() {
            grouped.inclusive[k] = inclusive[0];
            grouped.exclusive[k] = exclusive[0];
        }
        grouped
    }

    /// Id of a scope for [`Grouped::add`].
    pub fn scope(&mut self, scope: &Scope) -> u32 {
        self.rows.scope(scope)
    }

    /// Books a context in the row of `scope` below `parent` and gives that row.
    ///
    /// The exclusive cost always counts, the inclusive cost only if no context above was counted in this row.
    pub fn add(&mut self, parent: u32, scope: u32, context: u32) -> u32 {
        let row = self.rows.child_of_scope(parent, scope);
        self.grow();
        let (at, columns) = (context as usize, self.costs.inclusive.len());
        let first = row as usize * columns;
        for (k, column) in self.costs.exclusive.iter().enumerate() {
            self.exclusive[first + k] += column[at];
        }
        if context >= self.covered[row as usize] {
            self.covered[row as usize] = self.tree.end(context);
            for (k, column) in self.costs.inclusive.iter().enumerate() {
                self.inclusive[first + k] += column[at];
            }
        }
        row
    }

    pub fn finish(self, kind: ViewKind) -> View {
        let columns = self.costs.inclusive.len();
        let (tree, place) = self.rows.finish();
        let placed = |values: &[f64]| -> Vec<Vec<f64>> {
            (0..columns)
                .map(|k| {
                    let mut column = vec![0.0; place.len()];
                    for (row, at) in place.iter().enumerate() {
                        column[*at as usize] = values[row * columns + k];
                    }
                    column
                })
                .collect()
        };
        View::of_tree(kind, &tree, &placed(&self.inclusive), &placed(&self.exclusive))
    }

    fn grow(&mut self) {
        let rows = self.rows.len();
        let columns = self.costs.inclusive.len();
        self.inclusive.resize(rows * columns, 0.0);
        self.exclusive.resize(rows * columns, 0.0);
        self.covered.resize(rows, 0);
    }
}
