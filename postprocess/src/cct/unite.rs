//! One tree for several, and a part of one.

use super::build::TreeBuilder;
use super::tree::{ROOT, Tree};

/// Union of trees and, for each of them, the map from its contexts to those of the union.
///
/// Contexts are the same if their paths are: module, function, file and call line of each step, with inlined
/// functions as steps of their own. Nothing is joined across different parents.
///
/// ```
/// use falloff_postprocess::{Scope, ScopeKind, TreeBuilder, union};
/// let tree = |name: &str| {
///     let mut builder = TreeBuilder::new();
///     builder.child(0, &Scope::new(ScopeKind::Function, name));
///     builder.finish().0
/// };
/// let (both, maps) = union(&[&tree("b"), &tree("a"), &tree("b")]);
/// assert_eq!(both.len(), 3);
/// assert_eq!(maps, [[0, 2], [0, 1], [0, 2]]);
/// ```
pub fn union(trees: &[&Tree]) -> (Tree, Vec<Vec<u32>>) {
    let mut builder = TreeBuilder::new();
    let mut maps: Vec<Vec<u32>> = trees.iter().map(|tree| add(&mut builder, tree, |_| true)).collect();
    let (tree, place) = builder.finish();
    for map in &mut maps {
        map.iter_mut().for_each(|c| *c = place[*c as usize]);
    }
    (tree, maps)
}

/// The contexts that are wanted with all above them, and for each context of the tree its place there; those that are
/// not there have that of the nearest above them that is.
pub(crate) fn part(tree: &Tree, wanted: impl Fn(u32) -> bool) -> (Tree, Vec<u32>) {
    let mut kept: Vec<bool> = (0..tree.len() as u32).map(wanted).collect();
    for (index, context) in tree.contexts().iter().enumerate().rev() {
        kept[context.parent as usize] |= kept[index];
    }
    let mut builder = TreeBuilder::new();
    let mut map = add(&mut builder, tree, |context| kept[context]);
    let (part, place) = builder.finish();
    map.iter_mut().for_each(|c| *c = place[*c as usize]);
    (part, map)
}

/// The tree without some of its contexts: what is below them comes together with what is below the nearest context above
/// that is kept. For each context its place there, or that nearest one's.
pub(crate) fn without(tree: &Tree, dropped: impl Fn(u32) -> bool) -> (Tree, Vec<u32>) {
    let mut builder = TreeBuilder::new();
    let mut map = add(&mut builder, tree, |context| !dropped(context as u32));
    let (rest, place) = builder.finish();
    map.iter_mut().for_each(|c| *c = place[*c as usize]);
    (rest, map)
}

/// Adds the contexts that are kept and gives the builder's ids of all, for the others that of the nearest one above.
fn add(builder: &mut TreeBuilder, tree: &Tree, kept: impl Fn(usize) -> bool) -> Vec<u32> {
    let scopes: Vec<u32> = tree.scopes().iter().map(|s| builder.scope(s)).collect();
    let mut ids = vec![ROOT; tree.len()];
    for (index, context) in tree.contexts().iter().enumerate().skip(1) {
        let (parent, scope) = (ids[context.parent as usize], scopes[context.scope as usize]);
        ids[index] = if kept(index) { builder.child_of_scope(parent, scope) } else { parent };
    }
    ids
}
