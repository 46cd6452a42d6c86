//! The same call path in two trees.

use falloff_postprocess::{ScopeKind, Tree};

/// The context of `there` whose path is that of a context of another tree, or of the innermost part of it that is there. A tree may do
/// without loops.
pub(super) fn same_path(here: &Tree, context: u32, there: &Tree) -> u32 {
    let mut place = 0;
    for step in here.path(context) {
        let scope = here.scope(step);
        match there.children(place).find(|child| there.scope(*child) == scope) {
            Some(child) => place = child,
            None if scope.kind == ScopeKind::Loop => {}
            None => break,
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, TreeBuilder};

    use super::*;

    /// A tree of one path, and its innermost context.
    fn path(scopes: &[(ScopeKind, &str)]) -> (Tree, u32) {
        let mut builder = TreeBuilder::new();
        let mut context = 0;
        for (kind, name) in scopes {
            context = builder.child(context, &Scope::new(*kind, name));
        }
        let (tree, places) = builder.finish();
        let innermost = places[context as usize];
        (tree, innermost)
    }

    #[test]
    fn loops_may_be_missing_and_what_is_not_there_ends_the_path() {
        use ScopeKind::{Function, Loop};
        let (here, send) =
            path(&[(Function, "main"), (Loop, "loop"), (Function, "solve"), (Function, "MPI_Send")]);
        let (plain, there) = path(&[(Function, "main"), (Function, "solve"), (Function, "MPI_Send")]);
        assert_eq!(same_path(&here, send, &here), send);
        assert_eq!(same_path(&here, send, &plain), there);
        let (short, solve) = path(&[(Function, "main"), (Function, "solve")]);
        assert_eq!(same_path(&here, send, &short), solve);
        assert_eq!(same_path(&here, send, &path(&[(Function, "other")]).0), 0);
    }
}
