//! The three views over one tree: values that are known, and laws that hold for any tree.

use proptest::prelude::*;

use super::text::{header, table};
use super::{
    Excerpt, Narrow, Pattern, Query, RowKind, RowOptions, Sheet, Shown, View, ViewKind, build, json,
};
use crate::cct::{Scope, ScopeKind, Tree, TreeBuilder};
use crate::database::{Database, Parts, Value};
use crate::synthetic::{
    database, database_with_helper, database_with_loops, function, loop_at, statement, time_database,
};

const KINDS: [ViewKind; 3] = [ViewKind::Context, ViewKind::Callers, ViewKind::Flat];

/// Rows that carry exclusive cost of their own: no cost is in two of them, and all together they have all of it.
fn carries_cost(view: &View, row: u32) -> bool {
    let row = &view.rows[row as usize];
    match view.kind {
        ViewKind::Context | ViewKind::Flat => row.kind.is_frame(),
        ViewKind::Callers => row.depth == 1,
    }
}

/// Values in column 0 by path: (inclusive, exclusive).
fn value(view: &View, path: &[&str]) -> (f64, f64) {
    let row = view.rows.iter().find(|r| view.path(r.id) == path).unwrap_or_else(|| panic!("no row {path:?}"));
    (row.inclusive[0], row.exclusive[0])
}

fn query(metric: &str) -> Query {
    Query { metrics: vec![metric.into()], ..Query::default() }
}

/// What `falloff view` prints.
fn report(database: &Database, kind: ViewKind, metric: &str) -> String {
    text_of(database, kind, &query(metric), RowOptions { threshold_percent: 0.5, ..RowOptions::default() })
}

fn text_of(database: &Database, kind: ViewKind, query: &Query, options: RowOptions) -> String {
    let excerpt = Excerpt::new(database, query).unwrap();
    let sheet = Sheet::new(&excerpt, kind, None).unwrap();
    let shown = Shown::new(&sheet, RowOptions { sort: sheet.largest_first(), ..options }).unwrap();
    format!("{}\n{}", header(&excerpt), table(&shown).unwrap())
}

fn document(database: &Database, kind: ViewKind, query: &Query) -> serde_json::Value {
    let excerpt = Excerpt::new(database, query).unwrap();
    let sheet = Sheet::new(&excerpt, kind, None).unwrap();
    let mut out = Vec::new();
    json::write(&mut out, &Shown::new(&sheet, RowOptions::default()).unwrap()).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Mutual recursion: main calls even, even calls odd, odd calls even; each has exclusive cost.
fn recursion() -> (Tree, Vec<f64>) {
    let mut builder = TreeBuilder::new();
    let mut above = builder.child(0, &function("main", 1, None));
    let mut costs = vec![(above, 1.0)];
    for (name, cost) in [("even", 10.0), ("odd", 20.0), ("even", 30.0), ("odd", 40.0)] {
        above = builder.child(above, &function(name, 2, Some(5)));
        costs.push((builder.child(above, &statement(7)), cost));
    }
    let (tree, place) = builder.finish();
    let mut column = vec![0.0; tree.len()];
    costs.into_iter().for_each(|(context, cost)| column[place[context as usize] as usize] = cost);
    (tree, column)
}

#[test]
fn recursion_counts_once_in_inclusive_values() {
    let (tree, column) = recursion();
    let callers = build(ViewKind::Callers, &tree, std::slice::from_ref(&column));
    assert_eq!(value(&callers, &["even"]), (100.0, 40.0));
    assert_eq!(value(&callers, &["odd"]), (90.0, 60.0));
    assert_eq!(value(&callers, &["main"]), (101.0, 1.0));
    assert_eq!(value(&callers, &["even", "main"]), (100.0, 10.0));
    assert_eq!(value(&callers, &["even", "odd"]), (70.0, 30.0));
    assert_eq!(value(&callers, &["odd", "even"]), (90.0, 60.0));
    assert_eq!(value(&callers, &["odd", "even", "odd"]), (40.0, 40.0));
    let flat = build(ViewKind::Flat, &tree, &[column]);
    assert_eq!(value(&flat, &["app"]), (101.0, 101.0));
    assert_eq!(value(&flat, &["app", "/src/solver.c", "even"]), (100.0, 40.0));
    assert_eq!(value(&flat, &["app", "/src/solver.c", "odd"]), (90.0, 60.0));
    assert_eq!(value(&flat, &["app", "/src/solver.c", "odd", "solver.c:7"]), (60.0, 60.0));
}

#[test]
fn a_function_has_the_cost_of_its_statements() {
    let database = database();
    let column = database.exclusive_totals("cpu").unwrap();
    let view = build(ViewKind::Context, database.tree(), &[column]);
    assert_eq!(value(&view, &["main", "solve"]).1, 610_000_400.0);
    assert_eq!(value(&view, &["main", "solve", "kernel"]), (3_900_000_400.0, 3_900_000_400.0));
    assert_eq!(value(&view, &["main", "solve", "kernel", "solver.c:22"]), (3_900_000_400.0, 3_900_000_400.0));
    let hot: Vec<&str> = view.hot_path(0, 0.5).iter().map(|r| view.rows[*r as usize].name.as_str()).collect();
    assert_eq!(hot, ["main", "solve", "kernel", "solver.c:22"]);
}

#[test]
fn a_function_has_the_cost_of_its_loops() {
    let database = database_with_loops();
    let column = database.exclusive_totals("cpu").unwrap();
    let view = |kind| build(kind, database.tree(), std::slice::from_ref(&column));
    let context = view(ViewKind::Context);
    let (outer, inner, own) = ("loop at solver.c:31", "loop at solver.c:33", "loop at solver.c:21");
    assert_eq!(value(&context, &["main", "solve"]), (1e9, 360e6));
    assert_eq!(value(&context, &["main", "solve", outer]), (950e6, 100e6));
    assert_eq!(value(&context, &["main", "solve", outer, inner]), (700e6, 210e6));
    assert_eq!(value(&context, &["main", "solve", outer, inner, "kernel"]), (490e6, 490e6));
    assert_eq!(value(&context, &["main", "solve", outer, inner, "kernel", own]), (400e6, 400e6));
    assert_eq!(value(&context, &["main", "solve", outer, "kernel"]), (150e6, 150e6));
    let callers = view(ViewKind::Callers);
    assert_eq!(value(&callers, &["kernel"]), (640e6, 640e6));
    assert_eq!(value(&callers, &["kernel", "solve", "main"]), (490e6, 490e6));
    assert!(callers.rows.iter().all(|r| r.kind != RowKind::Loop));
    let flat = view(ViewKind::Flat);
    let kernel = ["app", "/src/solver.c", "kernel"];
    assert_eq!(value(&flat, &kernel), (640e6, 640e6));
    assert_eq!(value(&flat, &[kernel.as_slice(), &[own]].concat()), (550e6, 550e6));
    assert_eq!(value(&flat, &[kernel.as_slice(), &[own, "solver.c:22"]].concat()), (550e6, 550e6));
    assert_eq!(value(&flat, &["app", "/src/solver.c", "solve", outer, inner]), (700e6, 210e6));
    for kind in KINDS {
        let text = report(&database, kind, "cpu");
        let (_, table) = text.split_once("\n\n").unwrap();
        insta::assert_snapshot!(format!("text_loops_{}", kind.word()), table);
    }
}

#[test]
fn text_views_read_well() {
    let database = database();
    for kind in KINDS {
        let text = report(&database, kind, "cpu");
        insta::assert_snapshot!(format!("text_{}", kind.word()), text);
    }
    let options = RowOptions { depth: Some(2), threshold_percent: 10.0, ..RowOptions::default() };
    let shallow = text_of(&database, ViewKind::Context, &query("samples"), options);
    insta::assert_snapshot!("text_shallow", shallow);
}

#[test]
fn time_is_shown_with_ratios_of_what_was_counted() {
    let database = time_database();
    let metric = database.default_metric().unwrap();
    assert_eq!(metric.name, "time");
    let text = report(&database, ViewKind::Context, &metric.name);
    insta::assert_snapshot!("text_time", text);
    let document = document(&database, ViewKind::Context, &query("cpu"));
    insta::assert_snapshot!("json_health", serde_json::to_string_pretty(&document["health"]).unwrap());
    let row = |name: &str| document["rows"].as_array().unwrap().iter().find(|r| r["name"] == name).unwrap();
    assert_eq!(row("compute")["exclusive_ipc"], 2.5);
    assert_eq!(row("main")["inclusive_ipc"], 2.4);
    assert_eq!(row("compute")["inclusive_branch_miss_rate_percent"], 2.0);
    for absent in ["exclusive_branch_miss_rate_percent", "inclusive_cache_miss_rate_percent"] {
        assert!(row("wait").get(absent).is_none(), "{absent}");
    }
    assert!(Excerpt::new(&database, &query("cache-misses")).is_err());
}

#[test]
fn helpers_that_are_left_out_are_in_no_view_but_in_the_header() {
    let whole = database_with_helper(false);
    let shown = whole.clone().without_helpers();
    let plain = database();
    let cpu = query("cpu");
    for kind in KINDS {
        let rows = |d: &Database| Excerpt::new(d, &cpu).unwrap().view(kind).rows;
        assert_eq!(rows(&shown), rows(&plain), "{kind:?}");
        assert!(rows(&whole).len() > rows(&plain).len(), "{kind:?}");
        let parts = |d: &Database, metric: &str| {
            let text = report(d, kind, metric);
            text.split_once("\n\n").map(|(header, table)| (header.to_owned(), table.to_owned())).unwrap()
        };
        for (metric, amount) in [("cpu", "2.600 s"), ("samples", "520 samples")] {
            let line = format!("{amount} of threads that the program did not start are left out");
            let (header, rows) = parts(&shown, metric);
            assert_eq!(header.lines().filter(|l| *l == line).count(), 1, "{header}");
            assert_eq!(rows, parts(&plain, metric).1);
            assert!(!parts(&whole, metric).0.contains(&line));
        }
    }
    for (of, left_out) in [(&shown, 2_600_000_000u64), (&whole, 0)] {
        assert_eq!(document(of, ViewKind::Flat, &cpu)["left_out_ns"], left_out);
    }
    let other_rank = Query { locations: vec!["rank=0".parse().unwrap()], ..cpu };
    assert_eq!(document(&shown, ViewKind::Flat, &other_rank)["left_out_ns"], 0);
}

/// A run of one thread that is charged this much under a pseudo frame.
fn nowhere(name: &str, exclusive: i64) -> Database {
    let plain = database();
    let mut builder = TreeBuilder::new();
    let context = builder.child(0, &Scope::pseudo(name));
    let value = Value { context, location: 0, metric: 0, exclusive };
    Database::from_parts(Parts {
        tree: builder.finish().0,
        metrics: plain.metrics().to_vec(),
        locations: plain.locations().to_vec(),
        values: if exclusive > 0 { vec![value] } else { Vec::new() },
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}

#[test]
fn a_run_without_cost_says_so() {
    let text = report(&nowhere("[partial]", 0), ViewKind::Context, "cpu");
    assert!(text.ends_with("\n\nno samples: nothing was charged to `cpu`\n"), "{text}");
}

#[test]
fn a_run_with_nothing_but_unsampled_time_says_so() {
    let text = report(&nowhere("[unsampled]", 3_000_000), ViewKind::Context, "cpu");
    let line = "no samples: all 3.000 ms of `cpu` were used between samples, so no call path is known\n";
    assert!(text.ends_with(line), "{text}");
}

#[test]
fn json_has_every_row_with_units_in_its_names() {
    let database = database();
    let document = document(&database, ViewKind::Flat, &query("cpu"));
    assert_eq!(document["schema"], "falloff.view");
    assert_eq!(document["version"], 1);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), Excerpt::new(&database, &query("cpu")).unwrap().view(ViewKind::Flat).rows.len());
    let kernel = rows.iter().find(|r| r["name"] == "kernel").unwrap();
    assert_eq!(kernel["path"], serde_json::json!(["app", "/src/solver.c", "kernel"]));
    assert_eq!(kernel["inclusive_ns"], 3_900_000_400u64);
    assert!((kernel["exclusive_percent"].as_f64().unwrap() - 54.75).abs() < 0.01, "{kernel}");
    insta::assert_snapshot!("json_row", serde_json::to_string_pretty(kernel).unwrap());
}

/// A tree of functions, loops and statements, and two columns of values.
fn arbitrary_tree() -> impl Strategy<Value = (Tree, Vec<Vec<f64>>)> {
    let node = (any::<prop::sample::Index>(), 0u8..5, 0u32..4, 0u32..1000, 0u32..1000);
    prop::collection::vec(node, 0..60).prop_map(|nodes| {
        let mut builder = TreeBuilder::new();
        let mut frames = vec![0];
        let mut costs = Vec::new();
        for (parent, name, kind, a, b) in nodes {
            let parent = frames[parent.index(frames.len())];
            let scope = match kind {
                0 if parent != 0 => statement(u32::from(name) + 1),
                1 => Scope {
                    kind: ScopeKind::Inlined,
                    ..function(&format!("f{name}"), 1, Some(u32::from(name)))
                },
                2 if parent != 0 => loop_at(u32::from(name) + 1),
                _ if name == 4 => Scope::pseudo("[anon]"),
                _ => function(&format!("f{name}"), 1, Some(kind)),
            };
            let context = builder.child(parent, &scope);
            if scope.kind != ScopeKind::Line && !frames.contains(&context) {
                frames.push(context);
            }
            costs.push((context, a, b));
        }
        let (tree, place) = builder.finish();
        let mut columns = vec![vec![0.0; tree.len()]; 2];
        for (context, a, b) in costs {
            columns[0][place[context as usize] as usize] += f64::from(a);
            columns[1][place[context as usize] as usize] += f64::from(b);
        }
        (tree, columns)
    })
}

/// A question to a path: names of its frames, each with the line of its call.
type Holds<'a> = &'a dyn Fn(&[(&str, Option<u32>)]) -> bool;

proptest! {
    #[test]
    fn every_view_conserves_the_total((tree, columns) in arbitrary_tree()) {
        for kind in KINDS {
            let view = build(kind, &tree, &columns);
            for (k, column) in columns.iter().enumerate() {
                let total: f64 = column.iter().sum();
                prop_assert_eq!(view.rows[0].inclusive[k], total);
                let own = (0..view.rows.len() as u32).filter(|r| carries_cost(&view, *r));
                prop_assert_eq!(own.map(|r| view.rows[r as usize].exclusive[k]).sum::<f64>(), total);
            }
        }
    }

    #[test]
    fn inclusive_is_exclusive_and_what_is_below((tree, columns) in arbitrary_tree()) {
        let view = build(ViewKind::Context, &tree, &columns);
        // A function has the cost of its statements, a loop of those that are in no loop within it.
        for row in &view.rows {
            let counts = |c: &u32| match (row.kind, view.rows[*c as usize].kind) {
                (_, RowKind::Line) => false,
                (RowKind::Loop, _) => tree.parent(*c) == Some(row.id),
                (_, RowKind::Loop) => false,
                _ => tree.caller(*c) == Some(row.id),
            };
            let below = (row.id + 1..view.end(row.id)).filter(counts);
            let below: f64 = below.map(|c| view.rows[c as usize].inclusive[0]).sum();
            prop_assert_eq!(row.inclusive[0], row.exclusive[0] + below);
        }
    }

    /// Inlined functions are functions here.
    #[test]
    fn inclusive_is_the_cost_of_the_paths_that_contain_it((tree, columns) in arbitrary_tree()) {
        // Names of the frames of a path, each with the line of its call.
        let frames = |context: u32| -> Vec<(&str, Option<u32>)> {
            let scopes = tree.path(context).into_iter().map(|c| tree.scope(c)).filter(|s| s.kind.is_frame());
            scopes.map(|s| (&*s.name, s.call_line)).collect()
        };
        let paths: Vec<_> = (0..tree.len() as u32).map(|c| (frames(c), columns[0][c as usize])).collect();
        let cost = |holds: Holds| -> f64 {
            paths.iter().filter(|(path, _)| holds(path)).map(|(_, cost)| cost).sum()
        };
        let flat = build(ViewKind::Flat, &tree, &columns);
        for row in flat.rows.iter().filter(|row| row.kind.is_frame()) {
            let expected = cost(&|path| path.iter().any(|(name, _)| *name == row.name));
            prop_assert_eq!(row.inclusive[0], expected, "{}", row.name);
        }
        let callers = build(ViewKind::Callers, &tree, &columns);
        for row in callers.rows.iter().filter(|row| row.depth == 1 || row.depth == 2) {
            let above = row.parent.map_or("", |parent| callers.rows[parent as usize].name.as_str());
            let expected = if row.depth == 1 {
                cost(&|path| path.iter().any(|(name, _)| *name == row.name))
            } else {
                let call = |step: &[(&str, Option<u32>)]| step[0].0 == row.name && step[1] == (above, row.call_line);
                cost(&|path| path.windows(2).any(call))
            };
            prop_assert_eq!(row.inclusive[0], expected, "{} {}", above, row.name);
        }
    }

    #[test]
    fn paths_are_either_through_a_frame_or_not((tree, columns) in arbitrary_tree(), name in 0u8..5) {
        let pattern: Pattern = format!("^f{name}$").parse().unwrap();
        let total = |narrow: Narrow| -> f64 {
            let places = narrow.of(&tree).places;
            places.iter().zip(&columns[0]).filter(|(place, _)| place.is_some()).map(|(_, cost)| cost).sum()
        };
        let through = total(Narrow::Focus(pattern.clone()));
        prop_assert_eq!(through + total(Narrow::Ignore(pattern.clone())), columns[0].iter().sum::<f64>());
        prop_assert_eq!(total(Narrow::Root(pattern)), through);
        let row = |view: &View| {
            let found = view.rows.iter().find(|r| r.kind.is_frame() && r.name == format!("f{name}"));
            found.map_or(0.0, |r| r.inclusive[0])
        };
        prop_assert_eq!(row(&build(ViewKind::Flat, &tree, &columns)), through);
    }

    #[test]
    fn views_are_linear((tree, columns) in arbitrary_tree()) {
        let combined: Vec<f64> = columns[0].iter().zip(&columns[1]).map(|(a, b)| 3.0 * a - 2.0 * b).collect();
        for kind in KINDS {
            let both = build(kind, &tree, &[columns[0].clone(), columns[1].clone(), combined.clone()]);
            for row in &both.rows {
                prop_assert_eq!(row.inclusive[2], 3.0 * row.inclusive[0] - 2.0 * row.inclusive[1]);
                prop_assert_eq!(row.exclusive[2], 3.0 * row.exclusive[0] - 2.0 * row.exclusive[1]);
            }
        }
    }

    #[test]
    fn rows_are_in_pre_order((tree, columns) in arbitrary_tree()) {
        for kind in KINDS {
            let view = build(kind, &tree, &columns);
            for (index, row) in view.rows.iter().enumerate() {
                prop_assert_eq!(row.id as usize, index);
                prop_assert!(row.parent.is_none_or(|p| p < row.id));
                prop_assert_eq!(view.path(row.id).len(), row.depth as usize);
                prop_assert!(view.children(row.id).all(|c| view.rows[c as usize].parent == Some(row.id)));
                // No row has less than it has of its own, none more than the whole.
                prop_assert!(row.inclusive[0] <= view.rows[0].inclusive[0]);
            }
        }
    }

    #[test]
    fn union_keeps_every_context((a, _) in arbitrary_tree(), (b, _) in arbitrary_tree()) {
        let (both, maps) = crate::union(&[&a, &b]);
        let (other, _) = crate::union(&[&b, &a]);
        prop_assert_eq!(&both, &other);
        prop_assert_eq!(&crate::union(&[&both, &a]).0, &both);
        for (tree, map) in [&a, &b].into_iter().zip(&maps) {
            for context in 1..tree.len() as u32 {
                let there = map[context as usize];
                prop_assert_eq!(tree.scope(context), both.scope(there));
                prop_assert_eq!(both.parent(there), tree.parent(context).map(|p| map[p as usize]));
            }
        }
    }
}
