//! Call paths of different builds.

use super::super::{Locations, Operand, diff};
use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{
    Database, Level, Location, Metric, ModuleInfo, Parts, Provenance, SymbolSource, Unit, Value,
};
use crate::synthetic::{function, statement};

/// A database with one value for each path.
fn database(build: &str, paths: &[(&[Scope], i64)]) -> Database {
    let mut builder = TreeBuilder::new();
    let contexts: Vec<u32> =
        paths.iter().map(|(path, _)| path.iter().fold(0, |at, scope| builder.child(at, scope))).collect();
    let (tree, order) = builder.finish();
    let mut values: Vec<Value> = contexts
        .iter()
        .zip(paths)
        .map(|(c, (_, exclusive))| Value {
            context: order[*c as usize],
            location: 0,
            metric: 0,
            exclusive: *exclusive,
        })
        .collect();
    values.sort();
    let path = "/bin/app".into();
    let module = ModuleInfo { path, build_id: build.into(), source: SymbolSource::Debug, debug_file: None };
    Database::from_parts(Parts {
        tree,
        metrics: vec![Metric::new(Unit::Nanoseconds, "cpu")],
        locations: vec![Location { pid: 1, ..Location::default() }],
        values,
        modules: vec![module],
        warnings: Vec::new(),
        provenance: Provenance::default(),
    })
}

/// Changes by path, and the costs by level of the first database; what is not matched last.
fn compared(a: &Database, b: &Database) -> (Vec<(String, i64)>, [u64; 5]) {
    let (a, b) = (Operand { name: "a", database: a }, Operand { name: "b", database: b });
    let d = diff(a, b, Locations::Pair).unwrap();
    let path = |context| {
        d.tree()
            .path(context)
            .iter()
            .map(|c| d.tree().scope(*c).name.to_string())
            .collect::<Vec<_>>()
            .join(" > ")
    };
    let changes = d.values().iter().map(|v| (path(v.context), v.exclusive)).collect();
    let cost = &d.provenance().history[0].inputs[0].costs[0];
    let [x, y, z, u] = Level::ALL.map(|l| cost.matched.get(&l).copied().unwrap_or(0));
    (changes, [x, y, z, u, cost.unmatched])
}

fn named(name: &str, file: &str, call_line: u32) -> Scope {
    Scope { file: Some(file.into()), ..function(name, 1, Some(call_line)) }
}

#[test]
fn within_a_build_only_equals_are_the_same() {
    let main = function("main", 1, None);
    let a =
        database("x", &[(&[main.clone(), named("f", "/s/f.c", 10)], 100), (std::slice::from_ref(&main), 7)]);
    let b = database("x", &[(&[main.clone(), named("f", "/s/f.c", 11)], 60), (&[main], 5)]);
    let (changes, levels) = compared(&a, &b);
    assert_eq!(
        changes,
        [("main".into(), 2), ("main > f".into(), 100), ("main > f".into(), -60)],
        "two call sites of one build are two"
    );
    assert_eq!(levels, [7, 0, 0, 0, 100]);
}

#[test]
fn another_build_is_matched_level_by_level() {
    let main = function("main", 1, None);
    let path = |scope: Scope| [main.clone(), scope];
    let address = Scope { file: None, line: None, ..named("app+0x40", "", 9) };
    let a = database(
        "x",
        &[
            (&path(named("same", "/s/a.c", 5)), 1000),
            (&path(named("moved", "/s/a.c", 20)), 200),
            (&path(named("part.isra.0", "/s/a.c", 30)), 40),
            (&path(named("elsewhere", "/s/a.c", 40)), 8),
            (&path(address.clone()), 5),
            (&path(named("gone", "/s/a.c", 50)), 3),
        ],
    );
    let b = database(
        "y",
        &[
            (&path(named("same", "/s/a.c", 5)), 1),
            (&path(named("moved", "/s/a.c", 25)), 1),
            (&path(Scope { kind: ScopeKind::Inlined, ..named("part", "/s/a.c", 31) }), 1),
            (&path(named("elsewhere", "/new/b.c", 44)), 1),
            (&path(address), 1),
            (&path(named("new", "/s/a.c", 50)), 1),
        ],
    );
    let (changes, levels) = compared(&a, &b);
    let mut changes = changes;
    changes.sort();
    let expected = [
        ("main > app+0x40", 4),
        ("main > elsewhere", 7),
        ("main > gone", 3),
        ("main > moved", 199),
        ("main > new", -1),
        ("main > part.isra.0", 39),
        ("main > same", 999),
    ];
    assert_eq!(changes, expected.map(|(path, change)| (path.to_owned(), change)));
    // An address says nothing about another build, so it is no better than a name.
    assert_eq!(levels, [0, 1000, 240, 13, 3]);
}

#[test]
fn lines_count_from_the_function_that_they_are_in() {
    let at = |line| function("work", line, None);
    let a = database("x", &[(&[at(100), statement(101)], 10), (&[at(100), statement(105)], 20)]);
    // Forty lines were put in above the function, and one line in it.
    let b = database("y", &[(&[at(140), statement(141)], 1), (&[at(140), statement(146)], 2)]);
    let (changes, levels) = compared(&a, &b);
    assert_eq!(changes, [("work > solver.c:101".into(), 9), ("work > solver.c:105".into(), 18)]);
    assert_eq!(levels, [0, 0, 30, 0, 0]);
}

#[test]
fn nothing_is_matched_across_parents() {
    let path = |top: &str| [function(top, 1, None), named("leaf", "/s/a.c", 5)];
    let a = database("x", &[(&path("one"), 10)]);
    let b = database("y", &[(&path("two"), 10)]);
    let (changes, levels) = compared(&a, &b);
    assert_eq!(changes, [("one > leaf".into(), 10), ("two > leaf".into(), -10)]);
    assert_eq!(levels, [0, 0, 0, 0, 10]);
}

#[test]
fn a_path_agrees_as_well_as_its_worst_step() {
    let path = |line| [named("outer", "/s/a.c", line), named("inner", "/s/a.c", 5)];
    let (_, levels) = compared(&database("x", &[(&path(1), 10)]), &database("y", &[(&path(2), 10)]));
    assert_eq!(levels, [0, 0, 10, 0, 0]);
}

#[test]
fn deep_recursion_is_matched() {
    let path: Vec<Scope> = (0..20_000).map(|_| named("down", "/s/a.c", 5)).collect();
    let other: Vec<Scope> = (0..20_000).map(|_| named("down", "/s/a.c", 6)).collect();
    let (changes, _) = compared(&database("x", &[(&path, 10)]), &database("y", &[(&other, 4)]));
    assert_eq!(changes.iter().map(|(_, change)| *change).collect::<Vec<_>>(), [6]);
}
