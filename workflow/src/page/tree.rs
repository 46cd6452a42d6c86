//! The tree of calling contexts as blocks.

use falloff_postprocess::{ScopeKind, Tree};
use rustc_hash::FxHashMap;

use super::block::Blocks;

/// Adds the tree. Contexts are in pre-order, so their depth is all that is needed of their place: `depth` has how many levels less
/// deep than just below the one before each context is, from the second on.
pub(super) fn add(blocks: &mut Blocks, tree: &Tree) {
    let mut names = Names::default();
    let scopes = tree.scopes();
    let kinds = scopes.iter().map(|s| ScopeKind::ALL.iter().position(|k| *k == s.kind).unwrap_or(0) as u64);
    blocks.natural("scope.kind", kinds);
    blocks.natural("scope.name", scopes.iter().map(|s| names.of(Some(&s.name))).collect::<Vec<_>>());
    blocks.natural("scope.module", scopes.iter().map(|s| names.of(s.module.as_deref())).collect::<Vec<_>>());
    blocks.natural("scope.file", scopes.iter().map(|s| names.of(s.file.as_deref())).collect::<Vec<_>>());
    blocks.natural("scope.line", scopes.iter().map(|s| number(s.line)));
    blocks.natural("scope.call_line", scopes.iter().map(|s| number(s.call_line)));
    blocks.texts("names", names.texts.iter().copied());
    blocks.natural("depth", steps_up(tree));
    blocks.natural("scope", tree.contexts().iter().map(|c| u64::from(c.scope)));
}

/// Lines are written plus one, 0 where they are not known.
fn number(line: Option<u32>) -> u64 {
    line.map_or(0, |line| u64::from(line) + 1)
}

fn steps_up(tree: &Tree) -> Vec<u64> {
    let mut depths = vec![0u64; tree.len()];
    let mut steps = Vec::with_capacity(tree.len());
    for context in 1..tree.len() {
        depths[context] = depths[tree.contexts()[context].parent as usize] + 1;
        steps.push(depths[context - 1] + 1 - depths[context]);
    }
    steps
}

/// Texts, each once.
#[derive(Default)]
struct Names<'a> {
    known: FxHashMap<&'a str, u64>,
    texts: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// Number of a text, from 1; 0 is none.
    fn of(&mut self, text: Option<&'a str>) -> u64 {
        let Some(text) = text else { return 0 };
        *self.known.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, TreeBuilder};

    use super::*;

    #[test]
    fn depths_are_steps_up() {
        let mut builder = TreeBuilder::new();
        let function = |name: &str| Scope::new(ScopeKind::Function, name);
        let main = builder.child(0, &function("main"));
        let solve = builder.child(main, &function("a"));
        builder.child(solve, &function("b"));
        builder.child(main, &function("c"));
        builder.child(0, &function("z"));
        let (tree, _) = builder.finish();
        assert_eq!(steps_up(&tree), [0, 0, 0, 2, 2]);
    }
}
