//! The call tree: what remains of a calling context tree for formats that know neither statements nor call lines.

use super::text::one_line;
use crate::cct::{Scope, ScopeKind, Tree, TreeBuilder};
use crate::database::Unit;

/// Calls, each under its caller: contexts that differ in nothing that the format knows are one.
pub(super) struct Calls {
    /// Root, functions, inlined functions, loops and pseudo frames.
    pub tree: Tree,
    /// For each context of the calling context tree, the call that has its cost.
    of_context: Vec<u32>,
}

/// The values of a metric at every call: seconds of a time, a count as it is.
pub(super) struct Costs {
    /// Of the call's own code.
    pub exclusive: Vec<f64>,
    /// With all that it calls.
    pub inclusive: Vec<f64>,
}

impl Calls {
    /// Calls are told apart by kind, name, load module and source file, loops by their lines too.
    pub fn by_source(tree: &Tree) -> Calls {
        Calls::new(tree, |scope| Scope { call_line: None, ..scope.clone() })
    }

    /// Calls are told apart by their names alone, as the format writes them.
    pub fn by_name(tree: &Tree, written: impl Fn(&str) -> String) -> Calls {
        Calls::new(tree, |scope| Scope::new(ScopeKind::Function, &written(&one_line(&scope.name))))
    }

    fn new(tree: &Tree, call: impl Fn(&Scope) -> Scope) -> Calls {
        let mut builder = TreeBuilder::new();
        let calls: Vec<Option<u32>> = tree
            .scopes()
            .iter()
            .map(|scope| (scope.kind != ScopeKind::Line).then(|| builder.scope(&call(scope))))
            .collect();
        let mut of_context = vec![0; tree.len()];
        for (index, context) in tree.contexts().iter().enumerate().skip(1) {
            let caller = of_context[context.parent as usize];
            of_context[index] = match calls[context.scope as usize] {
                Some(scope) => builder.child_of_scope(caller, scope),
                None => caller,
            };
        }
        let (tree, place) = builder.finish();
        of_context.iter_mut().for_each(|call| *call = place[*call as usize]);
        Calls { tree, of_context }
    }

    /// The call that has a context's cost.
    pub fn of(&self, context: u32) -> u32 {
        self.of_context[context as usize]
    }

    /// Sums the exclusive costs of contexts, which are in nanoseconds or counts.
    pub fn costs(&self, of_contexts: &[(u32, f64)], unit: Unit) -> Costs {
        let mut exclusive = vec![0.0; self.tree.len()];
        for (context, cost) in of_contexts {
            exclusive[self.of(*context) as usize] += cost;
        }
        // Nanoseconds are summed, which are whole numbers where they were measured: every order gives the same sum.
        let mut inclusive = self.tree.inclusive(&exclusive);
        exclusive.iter_mut().chain(&mut inclusive).for_each(|cost| *cost = written(*cost, unit));
        Costs { exclusive, inclusive }
    }
}

/// A value as it is written: seconds of a time in nanoseconds, a count as it is.
pub(super) fn written(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Nanoseconds => value / 1e9,
        Unit::Count => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{function, statement};

    #[test]
    fn statements_and_call_lines_are_gone_and_no_cost_is() {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &function("main", 1, None));
        let first = builder.child(main, &function("f", 9, Some(2)));
        let second = builder.child(main, &function("f", 9, Some(3)));
        let line = builder.child(second, &statement(10));
        let (tree, place) = builder.finish();
        let costs = [(first, -1e9), (second, 2e9), (line, 4e9)].map(|(c, v)| (place[c as usize], v));
        let calls = Calls::by_source(&tree);
        let names = |calls: &Calls| {
            (0..calls.tree.len() as u32).map(|c| calls.tree.scope(c).name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&calls), ["<program>", "main", "f"]);
        let found = calls.costs(&costs, Unit::Nanoseconds);
        assert_eq!((found.exclusive, found.inclusive), (vec![0.0, 0.0, 5.0], vec![5.0; 3]));
        assert_eq!(names(&Calls::by_name(&tree, str::to_uppercase)), ["<program>", "MAIN", "F"]);
    }

    #[test]
    fn functions_of_different_files_are_told_apart_by_their_source_only() {
        let mut builder = TreeBuilder::new();
        builder.child(0, &function("setup", 1, None));
        builder.child(0, &Scope { file: Some("/src/other.c".into()), ..function("setup", 1, None) });
        let (tree, _) = builder.finish();
        assert_eq!(Calls::by_source(&tree).tree.len(), 3);
        assert_eq!(Calls::by_name(&tree, str::to_owned).tree.len(), 2);
    }
}
