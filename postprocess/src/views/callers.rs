//! The callers view: every function, and below it those who called it.

use rustc_hash::FxHashMap;

use super::RowKind;
use super::grouped::{Grouped, Placement};
use crate::cct::{Scope, Tree};

/// Callers shown above a function. What is above them is in their values but has no row, so that a recursion of
/// a hundred thousand frames costs no more than its size.
const LEVELS: usize = 64;

pub(super) fn lay_out(tree: &Tree, present: impl Fn(u32) -> bool) -> (Tree, Vec<Placement>) {
    let mut rows = Grouped::new(tree);
    let mut scopes = CallerScopes::default();
    for context in 1..tree.len() as u32 {
        if !tree.kind(context).is_frame() || !present(context) {
            continue;
        }
        let scope = scopes.id(&mut rows, tree, context, None);
        let mut row = rows.add(0, scope, context);
        let mut callee = context;
        for _ in 0..LEVELS {
            let Some(caller) = tree.caller(callee).filter(|c| *c != 0) else { break };
            let scope = scopes.id(&mut rows, tree, caller, tree.scope(callee).call_line);
            row = rows.add(row, scope, context);
            callee = caller;
        }
    }
    rows.finish()
}

/// Row scopes by (scope of the tree, line of the call).
#[derive(Default)]
struct CallerScopes(FxHashMap<(u32, Option<u32>), u32>);

impl CallerScopes {
    fn id(&mut self, rows: &mut Grouped, tree: &Tree, context: u32, call_line: Option<u32>) -> u32 {
        let key = (tree.contexts()[context as usize].scope, call_line);
        *self.0.entry(key).or_insert_with(|| rows.scope(&caller_scope(tree.scope(context), call_line)))
    }
}

/// A function is one row whether or not it was inlined.
fn caller_scope(scope: &Scope, call_line: Option<u32>) -> Scope {
    let kind = if scope.kind == RowKind::Inlined { RowKind::Function } else { scope.kind };
    Scope { kind, call_line, ..scope.clone() }
}
