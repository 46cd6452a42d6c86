//! Call paths cut at frames.

use super::derived::Content;
use super::operand::Operand;
use crate::cct::{Scope, Tree, TreeBuilder};
use crate::database::{Database, Value};
use crate::error::Error;

/// How call paths are cut at the outermost frames that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The frames go with all below them; their cost stays, as that of what called them.
    Prune,
    /// The frames become the outermost ones, wherever they were called from; all else goes with its cost.
    Root,
}

/// A database with its call paths cut at frames; `pattern` is how the history tells which.
///
/// # Errors
/// [`Error::NothingLeft`] if no frame matches.
pub fn cut(
    operand: Operand,
    how: Cut,
    pattern: &str,
    matches: impl Fn(&Scope) -> bool,
) -> Result<Database, Error> {
    let database = operand.database;
    let (word, cut) = match how {
        Cut::Prune => ("prune", pruned(database.tree(), matches)),
        Cut::Root => ("root", rooted(database.tree(), matches)),
    };
    let asked = format!("{word} {pattern}");
    let Some((tree, places)) = cut else {
        return Err(Error::NothingLeft { name: operand.name.to_owned(), asked });
    };
    let mut content = Content { tree, ..Content::of(database) };
    content.values = content
        .values
        .into_iter()
        .filter_map(|v| Some(Value { context: places[v.context as usize]?, ..v }))
        .collect();
    Ok(content.database(operand, "cut", vec![asked]))
}

/// A tree and the places of another's contexts in it.
type Placed = Option<(Tree, Vec<Option<u32>>)>;

fn pruned(tree: &Tree, matches: impl Fn(&Scope) -> bool) -> Placed {
    let mut builder = TreeBuilder::new();
    let mut places = vec![0; tree.len()];
    // First context that is not below the last frame that was cut.
    let mut end = 0;
    for context in 1..tree.len() as u32 {
        let parent = places[tree.contexts()[context as usize].parent as usize];
        let scope = tree.scope(context);
        if context >= end && scope.kind.is_frame() && matches(scope) {
            end = tree.end(context);
        }
        places[context as usize] = if context < end { parent } else { builder.child(parent, scope) };
    }
    let (pruned, order) = builder.finish();
    (end > 0).then(|| (pruned, places.into_iter().map(|p| Some(order[p as usize])).collect()))
}

fn rooted(tree: &Tree, matches: impl Fn(&Scope) -> bool) -> Placed {
    let mut builder = TreeBuilder::new();
    let mut places: Vec<Option<u32>> = vec![None; tree.len()];
    for context in 1..tree.len() as u32 {
        let scope = tree.scope(context);
        let parent = places[tree.contexts()[context as usize].parent as usize];
        places[context as usize] = match parent {
            Some(parent) => Some(builder.child(parent, scope)),
            None if scope.kind.is_frame() && matches(scope) => {
                Some(builder.child(0, &Scope { call_line: None, ..scope.clone() }))
            }
            None => None,
        };
    }
    let any = !builder.is_empty();
    let (rooted, order) = builder.finish();
    any.then(|| (rooted, places.into_iter().map(|p| Some(order[p? as usize])).collect()))
}
