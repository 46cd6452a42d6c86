//! The tree in canonical order.

use super::scope::{Scope, ScopeKind};

/// Index of the root context.
pub(crate) const ROOT: u32 = 0;

/// A calling context tree.
///
/// Contexts are in pre-order with siblings sorted by [`Scope`], so trees of the same contexts are equal whatever
/// the order in which they were built. Context 0 is the root and a parent's index is below its children's.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Sorted, each once.
    pub(super) scopes: Vec<Scope>,
    pub(super) contexts: Vec<Context>,
}

/// A node of the tree, by index into the tree's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Index of the caller's context; the root's is its own.
    pub parent: u32,
    /// Index of what it stands for, see [`Tree::scopes`].
    pub scope: u32,
    /// First context that is not below this one.
    pub end: u32,
}

impl Tree {
    /// Number of contexts, the root among them.
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.contexts.len() <= 1
    }

    /// All contexts, in canonical pre-order.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// All distinct scopes, sorted.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// What a context stands for.
    pub fn scope(&self, context: u32) -> &Scope {
        &self.scopes[self.contexts[context as usize].scope as usize]
    }

    /// Kind of a context.
    pub fn kind(&self, context: u32) -> ScopeKind {
        self.scope(context).kind
    }

    /// The caller's context; `None` for the root.
    pub fn parent(&self, context: u32) -> Option<u32> {
        (context != ROOT).then(|| self.contexts[context as usize].parent)
    }

    /// The nearest context above that is no loop; `None` for the root.
    pub fn caller(&self, context: u32) -> Option<u32> {
        std::iter::successors(self.parent(context), |above| self.parent(*above))
            .find(|above| self.kind(*above) != ScopeKind::Loop)
    }

    /// First context that is not below this one: `context..end` is its subtree.
    pub fn end(&self, context: u32) -> u32 {
        self.contexts[context as usize].end
    }

    /// Contexts directly below, in order.
    pub fn children(&self, context: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(context);
        let first = Some(context + 1).filter(|c| *c < end);
        std::iter::successors(first, move |c| Some(self.end(*c)).filter(|c| *c < end))
    }

    /// Contexts from just below the root down to this one.
    pub fn path(&self, context: u32) -> Vec<u32> {
        let mut path: Vec<u32> =
            std::iter::successors(Some(context), |c| self.parent(*c)).filter(|c| *c != ROOT).collect();
        path.reverse();
        path
    }

    /// Sum over the subtree of every context.
    ///
    /// ```
    /// use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};
    /// let mut builder = TreeBuilder::new();
    /// let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
    /// let work = builder.child(main, &Scope::new(ScopeKind::Function, "work"));
    /// let (tree, _) = builder.finish();
    /// assert_eq!(tree.inclusive(&[0.0, 1.0, 2.0]), [3.0, 3.0, 2.0]);
    /// # let _ = work;
    /// ```
    pub fn inclusive(&self, exclusive: &[f64]) -> Vec<f64> {
        let mut sums = exclusive.to_vec();
        sums.resize(self.len(), 0.0);
        for context in (1..self.len()).rev() {
            sums[self.contexts[context].parent as usize] += sums[context];
        }
        sums
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        self.contexts == other.contexts && self.scopes == other.scopes
    }
}
