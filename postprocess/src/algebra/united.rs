//! One tree for databases of different builds.

use rustc_hash::FxHashMap;

use super::builds::Builds;
use super::siblings::{Sibling, paired};
use crate::cct::{Scope, ScopeKind, Tree, TreeBuilder};
use crate::database::{Database, Level};

/// The union of trees by matched contexts.
pub(super) struct United {
    pub tree: Tree,
    /// For each database, its contexts' places in the tree. No two contexts of one database have the same.
    pub places: Vec<Vec<u32>>,
    /// For each database, how well its contexts agree with those of another; `None` if they are in no other.
    pub levels: Vec<Vec<Option<Level>>>,
}

/// Unites the trees of databases, each with all before it. Nothing is matched across different parents.
///
/// A context of several databases is called as in the first that has it. With the same builds throughout this is
/// [`crate::union`], whatever the order.
pub(super) fn united(databases: &[&Database]) -> United {
    let mut growing = Growing { databases, nodes: vec![Node::ROOT], children: vec![Vec::new()] };
    let mut builds = Builds::default();
    let mut places = Vec::with_capacity(databases.len());
    for (at, database) in databases.iter().enumerate() {
        builds.next(database.modules());
        places.push(growing.add(at, &builds));
    }
    growing.finish(places)
}

/// A context of the union under construction.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// The database that had it first, and its context there.
    origin: usize,
    context: u32,
    /// How well it is matched by a later database.
    level: Option<Level>,
}

impl Node {
    const ROOT: Node = Node { parent: 0, origin: 0, context: 0, level: None };
}

struct Growing<'a> {
    databases: &'a [&'a Database],
    nodes: Vec<Node>,
    children: Vec<Vec<u32>>,
}

impl<'a> Growing<'a> {
    /// Adds the tree of a database and gives its contexts' nodes.
    fn add(&mut self, origin: usize, builds: &Builds) -> Vec<u32> {
        let tree = self.databases[origin].tree();
        let mut nodes = vec![0; tree.len()];
        let mut stack = vec![(0, 0, Level::SameBuild)];
        while let Some((node, context, above)) = stack.pop() {
            nodes[context as usize] = node;
            if origin > 0 {
                let level = &mut self.nodes[node as usize].level;
                *level = Some(level.map_or(above, |known| known.min(above)));
            }
            let function = |of: &'a Tree, context| enclosing_function(of, context);
            let mut left: Vec<Sibling> =
                self.children[node as usize].iter().map(|c| self.sibling(*c)).collect();
            left.sort_unstable_by_key(|s| s.scope);
            let here = function(tree, context);
            let right: Vec<Sibling> = tree
                .children(context)
                .map(|c| Sibling { context: c, scope: tree.scope(c), function: here })
                .collect();
            let pairs = paired(&left, &right, builds);
            let mut matched = vec![false; right.len()];
            for pair in pairs {
                if let Ok(at) = right.binary_search_by_key(&pair.right, |s| s.context) {
                    matched[at] = true;
                }
                stack.push((pair.left, pair.right, above.max(pair.level)));
            }
            for (sibling, _) in right.iter().zip(matched).filter(|(_, matched)| !matched) {
                self.add_subtree(origin, sibling.context, node, &mut nodes);
            }
        }
        nodes
    }

    fn sibling(&self, node: u32) -> Sibling<'a> {
        let Node { origin, context, parent, .. } = self.nodes[node as usize];
        let Node { origin: above, context: parent, .. } = self.nodes[parent as usize];
        Sibling {
            context: node,
            scope: self.databases[origin].tree().scope(context),
            function: enclosing_function(self.databases[above].tree(), parent),
        }
    }

    /// Adds a context with all below it, which are in no database before.
    fn add_subtree(&mut self, origin: usize, top: u32, parent: u32, nodes: &mut [u32]) {
        let tree = self.databases[origin].tree();
        for context in top..tree.end(top) {
            let above = if context == top {
                parent
            } else {
                nodes[tree.contexts()[context as usize].parent as usize]
            };
            let node = self.nodes.len() as u32;
            self.nodes.push(Node { parent: above, origin, context, level: None });
            self.children.push(Vec::new());
            self.children[above as usize].push(node);
            nodes[context as usize] = node;
        }
    }

    /// Everything in canonical order.
    fn finish(self, mut places: Vec<Vec<u32>>) -> United {
        let levels = places
            .iter()
            .map(|nodes| nodes.iter().map(|n| self.nodes[*n as usize].level).collect())
            .collect();
        let mut builder = TreeBuilder::new();
        let mut lines: FxHashMap<&Scope, Option<u32>> = FxHashMap::default();
        let mut built = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            if at == 0 {
                built.push(0);
                continue;
            }
            let scope = self.databases[node.origin].tree().scope(node.context);
            // A tree has one line of definition for equal scopes: that of the first database, by which its lines count.
            let line = *lines.entry(scope).or_insert(scope.line);
            built.push(builder.child(built[node.parent as usize], &Scope { line, ..scope.clone() }));
        }
        let (tree, order) = builder.finish();
        for node in places.iter_mut().flatten() {
            *node = order[built[*node as usize] as usize];
        }
        United { tree, places, levels }
    }
}

/// The innermost function at or above a context.
fn enclosing_function(tree: &Tree, context: u32) -> Option<&Scope> {
    let up = std::iter::successors(Some(context), |c| tree.parent(*c));
    up.map(|c| tree.scope(c)).find(|s| matches!(s.kind, ScopeKind::Function | ScopeKind::Inlined))
}
