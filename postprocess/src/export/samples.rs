//! Databases that are hard to write, for the tests of exporters.

use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{Database, Metric, ModuleInfo, Parts, SymbolSource, Unit, Value};
use crate::synthetic::{database, function, statement};

/// No location and no cost.
pub(super) fn empty() -> Database {
    let plain = database();
    Database::from_parts(Parts {
        tree: TreeBuilder::new().finish().0,
        metrics: plain.metrics().to_vec(),
        locations: Vec::new(),
        values: Vec::new(),
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}

/// Names that are data in one format and syntax in another.
pub(super) const NAMES: [&str; 8] = [
    "größe_β",
    "operator<=>(std::vector<int, std::allocator<int>> const&)",
    "operator->",
    "a=b,c\\d;\"e\" 'f' & g",
    "two\nlines\tand\u{1}\u{feff}\u{ffff}",
    "->",
    "(1) say; \"hi\"",
    "",
];

/// A function of each of [`NAMES`] and one of a name of 10,000 letters, loops within each other, an inlined function in
/// the inner one, and a recursion of depth 2000: one nanosecond of each context at one location.
pub(super) fn awkward() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 1, None));
    for (line, name) in (2..).zip(NAMES) {
        tree.child(main, &function(name, line, Some(line)));
    }
    tree.child(main, &function(&"x".repeat(10_000), 50, Some(50)));
    let in_loop = |line| Scope { kind: ScopeKind::Loop, ..function(&format!("solver.c:{line}"), line, None) };
    let outer = tree.child(main, &in_loop(60));
    tree.child(outer, &in_loop(61));
    let inner = tree.child(outer, &in_loop(62));
    let inlined = tree.child(inner, &Scope { kind: ScopeKind::Inlined, ..function("kernel", 80, Some(63)) });
    tree.child(inlined, &statement(81));
    let mut here = main;
    for _ in 0..2000 {
        here = tree.child(here, &function("walk", 70, Some(71)));
    }
    let (tree, _) = tree.finish();
    let values = (1..tree.len() as u32)
        .map(|context| Value { context, location: 0, metric: 0, exclusive: 1 })
        .collect();
    let plain = database();
    Database::from_parts(Parts {
        tree,
        metrics: vec![Metric::new(Unit::Nanoseconds, "cpu")],
        locations: plain.locations()[..1].to_vec(),
        values,
        modules: vec![ModuleInfo {
            path: "/bin/app".into(),
            build_id: "c0ffee".into(),
            source: SymbolSource::Debug,
            debug_file: None,
        }],
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}

/// As the plain database, with one value below 0, as differences have.
pub(super) fn difference() -> Database {
    changed(|value| value.exclusive = -value.exclusive)
}

/// As the plain database, with one value changed.
pub(super) fn changed(change: impl FnOnce(&mut Value)) -> Database {
    let plain = database();
    let mut values = plain.values().to_vec();
    change(&mut values[0]);
    Database::from_parts(Parts {
        tree: plain.tree().clone(),
        metrics: plain.metrics().to_vec(),
        locations: plain.locations().to_vec(),
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}
