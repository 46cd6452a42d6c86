//! One tree for several.

use super::build::TreeBuilder;
use super::tree::Tree;

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
    let mut maps: Vec<Vec<u32>> = trees
        .iter()
        .map(|tree| {
            let scopes: Vec<u32> = tree.scopes().iter().map(|s| builder.scope(s)).collect();
            let mut map = Vec::with_capacity(tree.len());
            for (index, context) in tree.contexts().iter().enumerate() {
                map.push(match index {
                    0 => 0,
                    _ => builder.child_of_scope(map[context.parent as usize], scopes[context.scope as usize]),
                });
            }
            map
        })
        .collect();
    let (tree, place) = builder.finish();
    for map in &mut maps {
        map.iter_mut().for_each(|c| *c = place[*c as usize]);
    }
    (tree, maps)
}
