//! Rows that each gather several contexts.

use crate::cct::{Scope, Tree, TreeBuilder};

/// That a context's values are in a row's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub row: u32,
    pub context: u32,
    /// Whether no context above it is in the same row: only then its inclusive cost is not in the row yet.
    pub outermost: bool,
}

/// Rows under construction. Contexts must be added in pre-order.
pub(super) struct Grouped<'a> {
    tree: &'a Tree,
    rows: TreeBuilder,
    placements: Vec<Placement>,
    /// End of the subtree of the last outermost context of each row.
    covered: Vec<u32>,
}

impl<'a> Grouped<'a> {
    pub fn new(tree: &'a Tree) -> Grouped<'a> {
        let root = Placement { row: 0, context: 0, outermost: true };
        Grouped { tree, rows: TreeBuilder::new(), placements: vec![root], covered: Vec::new() }
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
        self.covered.resize(self.rows.len(), 0);
        let covered = &mut self.covered[row as usize];
        let outermost = context >= *covered;
        if outermost {
            *covered = self.tree.end(context);
        }
        self.placements.push(Placement { row, context, outermost });
        row
    }

    /// The rows in canonical order, and what is in them.
    pub fn finish(self) -> (Tree, Vec<Placement>) {
        let (rows, place) = self.rows.finish();
        let mut placements = self.placements;
        placements.iter_mut().for_each(|p| p.row = place[p.row as usize]);
        (rows, placements)
    }
}
