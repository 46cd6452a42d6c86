//! Building a tree context by context, in any order.

use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::scope::Scope;
use super::tree::{Context, ROOT, Tree};

/// Grows a tree; [`TreeBuilder::finish`] brings it into canonical order.
#[derive(Debug)]
pub struct TreeBuilder {
    scopes: Vec<Scope>,
    /// Places in `scopes`, by what is there.
    scope_ids: HashTable<u32>,
    /// (parent, scope) of every context.
    nodes: Vec<(u32, u32)>,
    children: FxHashMap<(u32, u32), u32>,
}

impl Default for TreeBuilder {
    fn default() -> Self {
        TreeBuilder::new()
    }
}

impl TreeBuilder {
    /// A tree with only its root, context 0.
    pub fn new() -> TreeBuilder {
        let mut builder = TreeBuilder {
            scopes: Vec::new(),
            scope_ids: HashTable::new(),
            nodes: Vec::new(),
            children: FxHashMap::default(),
        };
        let root = builder.scope(&Scope::root());
        builder.nodes.push((ROOT, root));
        builder
    }

    /// Id of a scope for [`TreeBuilder::child_of_scope`]. Of equal scopes the first line of definition is kept.
    pub fn scope(&mut self, scope: &Scope) -> u32 {
        let hash = FxBuildHasher.hash_one(scope);
        if let Some(id) = self.scope_ids.find(hash, |id| self.scopes[*id as usize] == *scope) {
            let known = &mut self.scopes[*id as usize];
            known.line = match (known.line, scope.line) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            return *id;
        }
        let id = self.scopes.len() as u32;
        self.scopes.push(scope.clone());
        self.scope_ids.insert_unique(hash, id, |id| FxBuildHasher.hash_one(&self.scopes[*id as usize]));
        id
    }

    /// The child of `parent` that stands for `scope`, made if it is not there.
    pub fn child(&mut self, parent: u32, scope: &Scope) -> u32 {
        let scope = self.scope(scope);
        self.child_of_scope(parent, scope)
    }

    /// As [`TreeBuilder::child`], by the scope's id.
    pub fn child_of_scope(&mut self, parent: u32, scope: u32) -> u32 {
        match self.children.entry((parent, scope)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let id = self.nodes.len() as u32;
                self.nodes.push((parent, scope));
                *free.insert(id)
            }
        }
    }

    /// Number of contexts so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// The caller of each context so far; callers have smaller numbers.
    pub fn parents(&self) -> Vec<u32> {
        self.nodes.iter().map(|(parent, _)| *parent).collect()
    }

    /// The tree in canonical order and, for every context given out, its index there.
    pub fn finish(self) -> (Tree, Vec<u32>) {
        let (scopes, rank) = used_and_sorted(self.scopes, &self.nodes);
        let mut order: Vec<u32> = (1..self.nodes.len() as u32).collect();
        // Last child first, so that a stack gives the first child first.
        order.sort_unstable_by_key(|n| {
            let (parent, scope) = self.nodes[*n as usize];
            (parent, std::cmp::Reverse(rank[scope as usize]))
        });
        let starts = child_starts(&order, &self.nodes);
        let mut contexts: Vec<Context> = Vec::with_capacity(self.nodes.len());
        let mut place = vec![ROOT; self.nodes.len()];
        let mut stack = vec![ROOT];
        while let Some(node) = stack.pop() {
            let (parent, scope) = self.nodes[node as usize];
            let here = contexts.len() as u32;
            place[node as usize] = here;
            contexts.push(Context {
                parent: place[parent as usize],
                scope: rank[scope as usize],
                end: here + 1,
            });
            stack.extend(&order[starts[node as usize]..starts[node as usize + 1]]);
        }
        for i in (1..contexts.len()).rev() {
            let Context { parent, end, .. } = contexts[i];
            let parent = &mut contexts[parent as usize];
            parent.end = parent.end.max(end);
        }
        (Tree { scopes, contexts }, place)
    }
}

/// The scopes that occur in the tree, in order, and the place of each.
fn used_and_sorted(scopes: Vec<Scope>, nodes: &[(u32, u32)]) -> (Vec<Scope>, Vec<u32>) {
    let mut used = vec![false; scopes.len()];
    for (_, scope) in nodes {
        used[*scope as usize] = true;
    }
    let mut order: Vec<usize> = (0..scopes.len()).filter(|i| used[*i]).collect();
    order.sort_unstable_by(|a, b| scopes[*a].cmp(&scopes[*b]));
    let mut rank = vec![0; scopes.len()];
    for (place, scope) in order.iter().enumerate() {
        rank[*scope] = place as u32;
    }
    (order.into_iter().map(|i| scopes[i].clone()).collect(), rank)
}

/// Where the children of each node begin in `order`, with one end more.
fn child_starts(order: &[u32], nodes: &[(u32, u32)]) -> Vec<usize> {
    let mut starts = vec![0; nodes.len() + 1];
    for node in order {
        starts[nodes[*node as usize].0 as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    starts
}
