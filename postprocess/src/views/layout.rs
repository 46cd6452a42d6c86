//! The rows of a view without values, for columns that come one by one.

use super::grouped::Placement;
use super::view::{ViewKind, charged, hot_path};
use super::{callers, flat};
use crate::cct::Tree;

/// The rows of a view, and which contexts each of them gathers. It is made once for any number of columns, of which each needs
/// memory only while it is looked at.
///
/// ```
/// use falloff_postprocess::views::{Layout, ViewKind};
/// use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};
/// let mut builder = TreeBuilder::new();
/// let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
/// let work = builder.child(main, &Scope::new(ScopeKind::Function, "work"));
/// builder.child(work, &Scope::new(ScopeKind::Function, "work"));
/// let (tree, _) = builder.finish();
/// let layout = Layout::new(ViewKind::Callers, &tree, |_| true);
/// let (inclusive, exclusive) = layout.column(&tree, &[0.0, 1.0, 2.0, 4.0]);
/// let work = (0..layout.rows().len()).find(|row| &*layout.rows().scope(*row as u32).name == "work").unwrap();
/// assert_eq!((inclusive[work], exclusive[work]), (6.0, 6.0));
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    rows: Tree,
    /// In the context view every context is the row of its number.
    placements: Option<Vec<Placement>>,
}

impl Layout {
    /// Lays out a view of the contexts that are `present`: those with a value of their own or below them. The context view has
    /// all.
    pub fn new(kind: ViewKind, tree: &Tree, present: impl Fn(u32) -> bool) -> Layout {
        let of = |(rows, placements)| Layout { rows, placements: Some(placements) };
        match kind {
            ViewKind::Context => Layout { rows: tree.clone(), placements: None },
            ViewKind::Callers => of(callers::lay_out(tree, present)),
            ViewKind::Flat => of(flat::lay_out(tree, present)),
        }
    }

    /// The rows as a tree, whose contexts are the rows.
    pub fn rows(&self) -> &Tree {
        &self.rows
    }

    /// Inclusive and exclusive values of all rows of a column that gives each context its exclusive value, 0 beyond its end.
    pub fn column(&self, tree: &Tree, column: &[f64]) -> (Vec<f64>, Vec<f64>) {
        (self.inclusive(&tree.inclusive(column)), self.exclusive(&charged(tree, column)))
    }

    /// Inclusive values of the rows from those of the contexts, see [`Tree::inclusive`].
    pub fn inclusive(&self, of_contexts: &[f64]) -> Vec<f64> {
        self.gather(of_contexts, |placement| placement.outermost)
    }

    /// Exclusive values of the rows from those of the contexts, in which functions and loops have their statements'.
    pub(super) fn exclusive(&self, of_contexts: &[f64]) -> Vec<f64> {
        self.gather(of_contexts, |_| true)
    }

    /// The rows that one meets going down from the root, each time to the child with the largest of these values (one for each
    /// row), while that is at least `share` of the row above and more than nothing.
    pub fn hot_path(&self, values: &[f64], share: f64) -> Vec<u32> {
        hot_path(|row| self.rows.children(row), |row| values[row as usize], share)
    }

    fn gather(&self, of_contexts: &[f64], counts: impl Fn(&Placement) -> bool) -> Vec<f64> {
        let Some(placements) = &self.placements else { return of_contexts.to_vec() };
        let mut sums = vec![0.0; self.rows.len()];
        for placement in placements.iter().filter(|p| counts(p)) {
            sums[placement.row as usize] += of_contexts[placement.context as usize];
        }
        sums
    }
}
