//! The flat view: module, file, function, loop, line.

use super::RowKind;
use super::grouped::{Grouped, Placement};
use crate::cct::{Scope, Tree};

/// Row of functions whose source file is not known.
const NO_FILE: &str = "<unknown file>";

pub(super) fn lay_out(tree: &Tree, present: impl Fn(u32) -> bool) -> (Tree, Vec<Placement>) {
    let mut rows = Grouped::new(tree);
    let ids: Vec<Vec<u32>> =
        tree.scopes().iter().map(|scope| chain(scope).iter().map(|s| rows.scope(s)).collect()).collect();
    // Row of each context, for the loops and statements below it.
    let mut row_of = vec![0; tree.len()];
    for context in 1..tree.len() as u32 {
        if !present(context) {
            continue;
        }
        let node = tree.contexts()[context as usize];
        let inside = matches!(tree.kind(context), RowKind::Loop | RowKind::Line);
        let top = if inside { row_of[node.parent as usize] } else { 0 };
        row_of[context as usize] =
            ids[node.scope as usize].iter().fold(top, |row, scope| rows.add(row, *scope, context));
    }
    rows.finish()
}

/// Rows that a scope goes into, outermost first; those of a loop or a statement are below its function's or loop's.
fn chain(scope: &Scope) -> Vec<Scope> {
    let structure = |kind, name: &str| Scope { module: scope.module.clone(), ..Scope::new(kind, name) };
    match (scope.kind, &scope.module) {
        (RowKind::Function | RowKind::Inlined, module) => {
            let file = scope.file.as_deref();
            vec![
                structure(RowKind::Module, module.as_deref().unwrap_or("<unknown module>")),
                Scope { file: scope.file.clone(), ..structure(RowKind::File, file.unwrap_or(NO_FILE)) },
                Scope { kind: RowKind::Function, call_line: None, ..scope.clone() },
            ]
        }
        _ => vec![Scope { call_line: None, ..scope.clone() }],
    }
}
