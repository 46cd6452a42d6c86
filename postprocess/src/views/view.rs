//! What all three views are: rows in pre-order with inclusive and exclusive values.

use serde::{Deserialize, Serialize};

use super::RowKind;
use super::layout::Layout;
use crate::cct::Tree;

/// Which way the call paths are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ViewKind {
    /// From the outermost frame down.
    Context,
    /// Every function with those who called it, from the innermost frame up.
    Callers,
    /// Modules, files, functions and lines, whatever the caller.
    Flat,
}

impl ViewKind {
    /// The word that the command line and reports use.
    pub fn word(self) -> &'static str {
        match self {
            ViewKind::Context => "context",
            ViewKind::Callers => "callers",
            ViewKind::Flat => "flat",
        }
    }
}

/// A view of one or more columns of values.
#[derive(Clone, Debug)]
pub struct View {
    /// Which view it is.
    pub kind: ViewKind,
    /// Rows in pre-order; row 0 is the root, and a parent's index is below its children's.
    pub rows: Vec<Row>,
    /// First row that is not below each row.
    ends: Vec<u32>,
}

/// One row of a view. Values have one entry for each column, in the column's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its index. In the context view it is the context's index in the tree too.
    pub id: u32,
    /// Row above.
    pub parent: Option<u32>,
    /// Steps from the root.
    pub depth: u32,
    /// What it stands for.
    pub kind: RowKind,
    /// Demangled name, `file:line` of a statement.
    pub name: String,
    /// Load module, without directory.
    pub module: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line of a statement, or where the function is defined.
    pub line: Option<u32>,
    /// Line of the call: of this function in its caller (context view), or in this caller of the function above
    /// it (callers view).
    pub call_line: Option<u32>,
    /// Cost of the row with all that lies below it in the call paths, recursion counted once.
    pub inclusive: Vec<f64>,
    /// Cost of the row's own code: a function has that of all its statements, a loop that of those which are in no loop
    /// within it.
    pub exclusive: Vec<f64>,
}

/// Builds a view; `columns[k][context]` is the exclusive value of a context in column `k`, 0 beyond its end.
///
/// ```
/// use falloff_postprocess::views::{ViewKind, build};
/// use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};
/// let mut builder = TreeBuilder::new();
/// let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
/// builder.child(main, &Scope::new(ScopeKind::Function, "work"));
/// let (tree, _) = builder.finish();
/// let view = build(ViewKind::Context, &tree, &[vec![0.0, 1.0, 3.0]]);
/// assert_eq!(view.path(2), ["main", "work"]);
/// assert_eq!(view.hot_path(0, 0.5), [1, 2]);
/// assert_eq!((view.rows[1].inclusive[0], view.rows[1].exclusive[0]), (4.0, 1.0));
/// ```
pub fn build(kind: ViewKind, tree: &Tree, columns: &[Vec<f64>]) -> View {
    let costs = Costs::new(tree, columns);
    let layout = Layout::new(kind, tree, |context| costs.any(context));
    let inclusive: Vec<Vec<f64>> = costs.inclusive.iter().map(|c| layout.inclusive(c)).collect();
    let exclusive: Vec<Vec<f64>> = costs.exclusive.iter().map(|c| layout.exclusive(c)).collect();
    View::of_tree(kind, layout.rows(), &inclusive, &exclusive)
}

/// Inclusive and exclusive values of the contexts, `[column][context]`.
pub(crate) struct Costs {
    pub inclusive: Vec<Vec<f64>>,
    /// A function has all its statements' here, those in its loops among them; a loop has those that are in no loop within it.
    pub exclusive: Vec<Vec<f64>>,
}

impl Costs {
    pub fn new(tree: &Tree, columns: &[Vec<f64>]) -> Costs {
        Costs {
            inclusive: columns.iter().map(|c| tree.inclusive(c)).collect(),
            exclusive: columns.iter().map(|c| charged(tree, c)).collect(),
        }
    }

    /// Whether any column has a cost at or below the context.
    pub fn any(&self, context: u32) -> bool {
        let at = context as usize;
        self.inclusive.iter().chain(&self.exclusive).any(|column| column[at] != 0.0)
    }
}

/// A column of exclusive values with those of statements charged to their functions and loops too.
pub(super) fn charged(tree: &Tree, column: &[f64]) -> Vec<f64> {
    let mut own = column.to_vec();
    own.resize(tree.len(), 0.0);
    for (index, cost) in column.iter().enumerate().take(tree.len()).filter(|(_, cost)| **cost != 0.0) {
        let context = index as u32;
        let kind = tree.kind(context);
        let parent = tree.contexts()[index].parent;
        if kind == RowKind::Line {
            own[parent as usize] += cost;
        }
        let in_loop = kind == RowKind::Line && tree.kind(parent) == RowKind::Loop;
        if let Some(function) = tree.caller(context).filter(|_| in_loop || kind == RowKind::Loop) {
            own[function as usize] += cost;
        }
    }
    own
}

/// The way down from row 0, each time to the first of the children with the largest value, while that is at least `share` of
/// the row above and more than nothing. Values count by their size.
pub(super) fn hot_path<I: Iterator<Item = u32>>(
    children: impl Fn(u32) -> I,
    value: impl Fn(u32) -> f64,
    share: f64,
) -> Vec<u32> {
    let size = |row: u32| value(row).abs();
    let largest =
        |row: u32| children(row).reduce(|best, next| if size(next) > size(best) { next } else { best });
    let mut path = Vec::new();
    let mut here = 0;
    while let Some(next) = largest(here)
        && size(next) > 0.0
        && size(next) >= share * size(here)
    {
        path.push(next);
        here = next;
    }
    path
}

impl View {
    /// Rows of a tree with their values, `[column][row]`.
    pub(super) fn of_tree(
        kind: ViewKind,
        tree: &Tree,
        inclusive: &[Vec<f64>],
        exclusive: &[Vec<f64>],
    ) -> View {
        let mut rows: Vec<Row> = Vec::with_capacity(tree.len());
        for id in 0..tree.len() as u32 {
            let scope = tree.scope(id);
            let parent = tree.parent(id);
            let at = id as usize;
            rows.push(Row {
                id,
                parent,
                depth: parent.map_or(0, |p| rows[p as usize].depth + 1),
                kind: scope.kind,
                name: scope.name.to_string(),
                module: scope.module.as_deref().map(str::to_owned),
                file: scope.file.as_deref().map(str::to_owned),
                line: scope.line,
                call_line: scope.call_line,
                inclusive: inclusive.iter().map(|c| c[at]).collect(),
                exclusive: exclusive.iter().map(|c| c[at]).collect(),
            });
        }
        let ends = tree.contexts().iter().map(|c| c.end).collect();
        View { kind, rows, ends }
    }

    /// Names from just below the root to the row.
    pub fn path(&self, row: u32) -> Vec<&str> {
        let mut names: Vec<&str> =
            std::iter::successors(self.rows.get(row as usize), |r| r.parent.map(|p| &self.rows[p as usize]))
                .filter(|r| r.parent.is_some())
                .map(|r| r.name.as_str())
                .collect();
        names.reverse();
        names
    }

    /// Rows directly below, in order.
    pub fn children(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(row);
        let first = Some(row.saturating_add(1)).filter(|r| *r < end);
        std::iter::successors(first, move |r| Some(self.end(*r)).filter(|r| *r < end))
    }

    /// First row that is not below this one: `row..end` is its subtree. 0 for a row that is not there.
    pub fn end(&self, row: u32) -> u32 {
        self.ends.get(row as usize).copied().unwrap_or(0)
    }

    /// The rows that one meets going down from the root, each time to the child with the largest inclusive value
    /// of the column, while that is at least `share` of the row above and more than nothing.
    pub fn hot_path(&self, column: usize, share: f64) -> Vec<u32> {
        let value = |row: u32| self.rows[row as usize].inclusive.get(column).copied().unwrap_or(0.0);
        hot_path(|row| self.children(row), value, share)
    }
}
