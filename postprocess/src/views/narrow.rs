//! Keeping some of the call paths of a tree.

use std::fmt;

use super::pattern::Pattern;
use crate::cct::{ScopeKind, Tree, TreeBuilder, part};

/// Which call paths are looked at. Patterns are searched in the names of functions, inlined functions and pseudo frames.
#[derive(Clone, Debug)]
pub enum Narrow {
    /// The outermost frames that match become the outermost of all; what is above them, and paths without one, is left
    /// out. The same function called from several places becomes one.
    Root(Pattern),
    /// Paths that go through a frame that matches.
    Focus(Pattern),
    /// Paths that go through no frame that matches.
    Ignore(Pattern),
    /// Cost of the code of modules with one of these names; `libmpi.so` is `libmpi.so.40` too.
    Module(Vec<String>),
}

/// The contexts of a tree that are kept.
pub(super) struct Narrowed {
    pub tree: Tree,
    /// For each context of the whole tree where its cost goes; `None` if it is left out.
    pub places: Vec<Option<u32>>,
}

impl Narrow {
    /// The option of the command line, without its dashes.
    pub fn option(&self) -> &'static str {
        match self {
            Narrow::Root(_) => "root",
            Narrow::Focus(_) => "focus",
            Narrow::Ignore(_) => "ignore",
            Narrow::Module(_) => "module",
        }
    }

    pub(super) fn of(&self, tree: &Tree) -> Narrowed {
        match self {
            Narrow::Root(pattern) => below(tree, &through(tree, pattern)),
            Narrow::Focus(pattern) => kept(tree, &through(tree, pattern)),
            Narrow::Ignore(pattern) => {
                let without: Vec<bool> = through(tree, pattern).iter().map(|through| !through).collect();
                kept(tree, &without)
            }
            Narrow::Module(names) => kept(tree, &in_modules(tree, names)),
        }
    }
}

/// The value of the option.
impl fmt::Display for Narrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Narrow::Root(pattern) | Narrow::Focus(pattern) | Narrow::Ignore(pattern) => pattern.fmt(f),
            Narrow::Module(names) => f.write_str(&names.join(",")),
        }
    }
}

/// For each context whether a frame on its path, or itself, matches.
fn through(tree: &Tree, pattern: &Pattern) -> Vec<bool> {
    let scopes: Vec<bool> =
        tree.scopes().iter().map(|s| s.kind.is_frame() && pattern.is_in(&s.name)).collect();
    let mut through = vec![false; tree.len()];
    for (index, context) in tree.contexts().iter().enumerate() {
        through[index] = through[context.parent as usize] || scopes[context.scope as usize];
    }
    through
}

/// For each context whether its innermost frame is code of one of the modules.
fn in_modules(tree: &Tree, names: &[String]) -> Vec<bool> {
    let fits = |module: &str, name: &String| {
        module.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let scopes: Vec<bool> = tree
        .scopes()
        .iter()
        .map(|s| s.module.as_deref().is_some_and(|module| names.iter().any(|name| fits(module, name))))
        .collect();
    let mut within = vec![false; tree.len()];
    for (index, context) in tree.contexts().iter().enumerate() {
        let frame = tree.kind(index as u32).is_frame() || tree.kind(index as u32) == ScopeKind::Root;
        within[index] = if frame { scopes[context.scope as usize] } else { within[context.parent as usize] };
    }
    within
}

/// The contexts that are wanted with all above them, whose own cost is left out.
fn kept(tree: &Tree, wanted: &[bool]) -> Narrowed {
    let (part, places) = part(tree, |context| wanted[context as usize]);
    let places = places.into_iter().zip(wanted).map(|(place, wanted)| wanted.then_some(place)).collect();
    Narrowed { tree: part, places }
}

/// The contexts that are wanted below a new root. What is below a wanted context is wanted.
fn below(tree: &Tree, wanted: &[bool]) -> Narrowed {
    let mut builder = TreeBuilder::new();
    let mut ids: Vec<Option<u32>> = vec![None; tree.len()];
    for (index, context) in tree.contexts().iter().enumerate().filter(|(index, _)| wanted[*index]) {
        let scope = tree.scope(index as u32);
        ids[index] = Some(match ids[context.parent as usize] {
            Some(parent) => builder.child(parent, scope),
            // Who called it, and from where, is left out.
            None => builder.child(0, &crate::Scope { call_line: None, ..scope.clone() }),
        });
    }
    let (tree, place) = builder.finish();
    Narrowed { tree, places: ids.into_iter().map(|id| Some(place[id? as usize])).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::database;

    /// Paths that are left with their exclusive cost, and what of it is left.
    fn narrowed(narrow: Narrow) -> Vec<(String, f64)> {
        let database = database();
        let column = database.exclusive_totals("cpu").unwrap();
        let Narrowed { tree, places } = narrow.of(database.tree());
        let mut costs = vec![0.0; tree.len()];
        for (cost, place) in column.iter().zip(&places) {
            if let Some(place) = place {
                costs[*place as usize] += cost;
            }
        }
        let name = |context: &u32| tree.scope(*context).name.to_string();
        let path = |context: u32| tree.path(context).iter().map(name).collect::<Vec<_>>().join(";");
        (1..tree.len() as u32)
            .map(|context| (path(context), costs[context as usize]))
            .filter(|(_, cost)| *cost != 0.0)
            .collect()
    }

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn paths_through_a_frame_keep_what_is_above_and_below() {
        let shown = narrowed(Narrow::Focus(pattern("^walk$")));
        let walk = "main;walk;solver.c:55";
        assert_eq!(shown, [("main;walk;walk;solver.c:55".into(), 410e6), (walk.into(), 190e6)]);
        assert_eq!(narrowed(Narrow::Focus(pattern("solver"))), []);
    }

    #[test]
    fn ignored_frames_take_their_paths_with_them() {
        let shown = narrowed(Narrow::Ignore(pattern("main|worker")));
        let paths: Vec<&str> = shown.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["[partial];libmpi.so.40+0x1f00", "[unsampled]"]);
    }

    #[test]
    fn a_frame_becomes_the_root_once() {
        let shown = narrowed(Narrow::Root(pattern("^walk$")));
        assert_eq!(shown, [("walk;walk;solver.c:55".into(), 410e6), ("walk;solver.c:55".into(), 190e6)]);
        // From two places: below a library call and of a path that could not be followed.
        let shown = narrowed(Narrow::Root(pattern(r"\+0x1f00")));
        assert_eq!(shown, [("libmpi.so.40+0x1f00".into(), 1_210e6)]);
    }

    #[test]
    fn modules_are_those_of_the_code_itself() {
        for name in ["libmpi.so.40", "libmpi", "libmpi.so"] {
            let shown = narrowed(Narrow::Module(vec![name.into()]));
            assert_eq!(shown.iter().map(|(_, cost)| cost).sum::<f64>(), 1_210e6, "{name}");
        }
        assert_eq!(narrowed(Narrow::Module(vec!["libm".into()])), []);
        let total: f64 = narrowed(Narrow::Module(vec!["app".into()])).iter().map(|(_, cost)| cost).sum();
        assert_eq!(total, 5_910_000_800.0);
    }
}
