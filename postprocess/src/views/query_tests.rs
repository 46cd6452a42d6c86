//! What can be asked of a database, and how the answers read.

use super::source_text::SourceText;
use super::*;
use crate::Database;
use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{Parts, Value};
use crate::export::By;
use crate::synthetic::{database, database_with_helper, function, statement, time_database};

fn metrics(names: &[&str]) -> Query {
    Query { metrics: names.iter().map(|n| n.to_string()).collect(), ..Query::default() }
}

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap()
}

/// What is asked for beside the query.
struct Layout<'a> {
    kind: ViewKind,
    spread: Option<SpreadOptions>,
    sort: Option<&'a str>,
    hot_path: Option<f64>,
}

const CONTEXT: Layout = Layout { kind: ViewKind::Context, spread: None, sort: None, hot_path: None };
const FLAT: Layout = Layout { kind: ViewKind::Flat, ..CONTEXT };
const STATISTICS: Option<SpreadOptions> = Some(SpreadOptions { by: None, statistics: true });

fn laid_out<T>(
    database: &Database,
    query: &Query,
    layout: Layout,
    write: impl Fn(&Shown) -> T,
) -> Result<T, QueryError> {
    let excerpt = Excerpt::new(database, query)?;
    let sheet = Sheet::new(&excerpt, layout.kind, layout.spread)?;
    let sort = layout.sort.map_or(Ok(sheet.largest_first()), |key| sheet.sort(key))?;
    let options = RowOptions { sort, hot_path: layout.hot_path, ..RowOptions::default() };
    Ok(write(&Shown::new(&sheet, options)?))
}

fn text_of(database: &Database, query: &Query, layout: Layout) -> Result<String, QueryError> {
    laid_out(database, query, layout, text::table)?
}

fn json_of(database: &Database, query: &Query, layout: Layout) -> serde_json::Value {
    let write = |shown: &Shown| {
        let mut out = Vec::new();
        json::write(&mut out, shown).unwrap();
        serde_json::from_slice(&out).unwrap()
    };
    laid_out(database, query, layout, write).unwrap()
}

#[test]
fn metrics_stand_side_by_side_with_formulas() {
    let query = Query {
        derived: vec![
            Derived::parse("wait%=100*blocked/time").unwrap(),
            Derived::parse("ipc=instructions / max(cycles, 1G)").unwrap(),
        ],
        ..metrics(&["time", "cpu", "blocked", "cpu"])
    };
    let layout = Layout { sort: Some("wait%"), ..CONTEXT };
    insta::assert_snapshot!("side_by_side", text_of(&time_database(), &query, layout).unwrap());
}

#[test]
fn rows_are_sorted_by_any_column() {
    let (database, query) = (time_database(), metrics(&["time", "cpu"]));
    let order = |kind, key| {
        let layout = Layout { kind, sort: Some(key), ..CONTEXT };
        let text = text_of(&database, &query, layout).unwrap();
        let at = |name: &str| text.find(&format!(" {name} at")).unwrap();
        if at("compute") < at("wait") { "compute" } else { "wait" }
    };
    for kind in [ViewKind::Context, ViewKind::Flat, ViewKind::Callers] {
        for (key, first) in [
            ("inclusive", "wait"),
            ("exclusive", "wait"),
            ("name", "compute"),
            ("cpu", "compute"),
            ("exclusive_cpu_ns", "compute"),
            ("inclusive_percent", "wait"),
            ("ipc", "compute"),
        ] {
            assert_eq!(order(kind, key), first, "{kind:?} by {key}");
        }
    }
}

#[test]
fn cost_is_spread_over_ranks() {
    let database = database();
    let statistics = Layout { spread: STATISTICS, sort: Some("max"), ..FLAT };
    insta::assert_snapshot!("statistics", text_of(&database, &metrics(&["cpu"]), statistics).unwrap());
    let each = Some(SpreadOptions { by: Some(By::Rank), statistics: false });
    let each = Layout { spread: each, sort: Some("rank 1"), ..CONTEXT };
    insta::assert_snapshot!("ranks", text_of(&database, &metrics(&["cpu"]), each).unwrap());
}

#[test]
fn groups_add_up_to_the_whole_and_absent_ones_are_zero() {
    let (whole, query) = (database_with_helper(false), metrics(&["cpu"]));
    let shown = whole.clone().without_helpers();
    for (database, threads) in [(&whole, 3), (&shown, 2)] {
        let excerpt = Excerpt::new(database, &query).unwrap();
        for kind in [ViewKind::Context, ViewKind::Callers, ViewKind::Flat] {
            let plain = excerpt.view(kind).rows;
            let by = |statistics| Some(SpreadOptions { by: Some(By::Thread), statistics });
            let each = Sheet::new(&excerpt, kind, by(false)).unwrap();
            let statistics = Sheet::new(&excerpt, kind, by(true)).unwrap();
            assert_eq!(each.view().rows.len(), plain.len());
            for (row, plain) in each.view().rows.iter().zip(&plain) {
                let values = |sheet: &Sheet| -> Vec<f64> {
                    let columns = sheet.columns.iter().filter(|c| c.inclusive).skip(2);
                    let number = |column| match sheet.cell(row, column) {
                        sheet::Cell::Number(value) => Some(value),
                        _ => None,
                    };
                    columns.filter_map(number).collect()
                };
                let groups = values(&each);
                assert_eq!(groups.len(), threads);
                assert_eq!(groups.iter().sum::<f64>(), plain.inclusive[0], "{}", row.name);
                let expected: Balance = groups.into_iter().collect();
                assert_eq!(values(&statistics)[..3], [expected.min, expected.mean(), expected.max]);
            }
        }
    }
}

#[test]
fn json_and_csv_have_the_same_columns() {
    let (database, query) = (database(), metrics(&["cpu", "samples"]));
    let document = json_of(&database, &query, Layout { spread: STATISTICS, ..CONTEXT });
    assert_eq!(document["groups"], serde_json::json!(["rank 0", "rank 1"]));
    assert_eq!(document["metrics"][1]["total_count"], 1424);
    let rows = document["rows"].as_array().unwrap();
    let hot = rows.iter().find(|row| row["id"] == document["hot_path"][2]).unwrap();
    insta::assert_snapshot!("json_all_fields", serde_json::to_string_pretty(hot).unwrap());
    let csv = |spread| {
        let write = |shown: &Shown| {
            let mut out = Vec::new();
            csv::write(&mut out, shown).unwrap();
            String::from_utf8(out).unwrap()
        };
        laid_out(&database, &query, Layout { spread, sort: Some("name"), ..FLAT }, write).unwrap()
    };
    insta::assert_snapshot!("csv", csv(STATISTICS));
    let each = csv(Some(SpreadOptions { by: Some(By::Process), statistics: false }));
    assert!(
        each.lines().next().unwrap().contains("inclusive_ns app:100,inclusive_ns app:101,exclusive_ns"),
        "{each}"
    );
}

#[test]
fn what_is_left_out_is_said() {
    let database = database();
    let query = Query {
        locations: vec!["rank=0".parse().unwrap()],
        narrow: vec![
            Narrow::Root(pattern("^main$")),
            Narrow::Focus(pattern("solve")),
            Narrow::Ignore(pattern("MPI")),
            Narrow::Module(vec!["app".into()]),
        ],
        ..metrics(&["cpu"])
    };
    let excerpt = Excerpt::new(&database, &query).unwrap();
    let table = text_of(&database, &query, CONTEXT).unwrap();
    insta::assert_snapshot!("narrowed", format!("{}\n{table}", text::header(&excerpt)));
    let filters = &json_of(&database, &query, CONTEXT)["filters"];
    assert_eq!(filters[2]["option"], "focus");
    assert_eq!(filters[2]["value"], "solve");
    assert!(
        (filters[2]["left_percent"].as_f64().unwrap() - 100.0 * 2.8 / 7.1230011).abs() < 1e-6,
        "{filters}"
    );
    let nothing = Query { narrow: vec![Narrow::Focus(pattern("^solver$"))], ..metrics(&["cpu"]) };
    assert_eq!(
        text_of(&database, &nothing, CONTEXT).unwrap(),
        "nothing to show: `--focus ^solver$` leaves no `cpu`\n"
    );
}

#[test]
fn the_hot_path_stands_alone() {
    let hot = Layout { hot_path: Some(0.5), ..CONTEXT };
    insta::assert_snapshot!("hot_path", text_of(&database(), &metrics(&["cpu"]), hot).unwrap());
}

#[test]
fn what_cannot_be_shown_is_refused_with_a_hint() {
    let (times, ranks) = (time_database(), database());
    let derived = |text| Query { derived: vec![Derived::parse(text).unwrap()], ..metrics(&["time", "cpu"]) };
    let elsewhere = Query { locations: vec!["host=elsewhere".parse().unwrap()], ..Query::default() };
    let source = |name: &str| {
        let query = metrics(&["cpu"]);
        Source::new(&Excerpt::new(&ranks, &query)?, name).map(|source| source.file().to_owned())
    };
    let answers = [
        text_of(&times, &metrics(&["tim"]), CONTEXT),
        text_of(&times, &derived("a=cpu/cycle"), CONTEXT),
        text_of(&times, &derived("a=cpu-blocked"), CONTEXT),
        text_of(&times, &derived("cpu ns=cpu"), CONTEXT),
        text_of(&times, &derived("percent=1"), CONTEXT),
        text_of(&times, &metrics(&["time"]), Layout { sort: Some("cpu"), ..CONTEXT }),
        text_of(&ranks, &metrics(&["cpu"]), Layout { sort: Some("size"), spread: STATISTICS, ..CONTEXT }),
        text_of(&times, &metrics(&["time"]), Layout { hot_path: Some(0.5), ..FLAT }),
        text_of(&times, &elsewhere, CONTEXT),
        source("solver.f90"),
    ];
    let lines = answers.map(|answer| answer.unwrap_err()).map(|e| format!("{e}\n  hint: {}", e.hint()));
    insta::assert_snapshot!("refusals", lines.join("\n"));
}

/// `main` calls `solve` twice from one line, inlined and not, and `solve` calls itself; files of one name in two directories.
fn sources() -> Database {
    let plain = database();
    let at = |file: &str, scope: Scope| Scope { file: Some(file.into()), ..scope };
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &at("/src/main.c", function("main", 1, None)));
    let mut costs = vec![(tree.child(main, &at("/src/main.c", statement(2))), 1)];
    let solve = tree.child(main, &at("/src/a/solve.c", function("solve", 1, Some(4))));
    costs.push((tree.child(solve, &at("/src/a/solve.c", statement(3))), 2));
    let again = tree.child(solve, &at("/src/a/solve.c", function("solve", 1, Some(3))));
    costs.push((tree.child(again, &at("/src/a/solve.c", statement(3))), 4));
    let inlined = Scope { kind: ScopeKind::Inlined, ..at("/src/b/solve.c", function("other", 1, Some(4))) };
    let inlined = tree.child(main, &inlined);
    costs.push((tree.child(inlined, &at("/src/b/solve.c", statement(9))), 8));
    let (tree, place) = tree.finish();
    let value = |(context, seconds): (u32, i64)| Value {
        context: place[context as usize],
        location: 0,
        metric: 0,
        exclusive: seconds * 1_000_000_000,
    };
    let mut values: Vec<Value> = costs.into_iter().map(value).collect();
    values.sort();
    Database::from_parts(Parts {
        tree,
        metrics: plain.metrics().to_vec(),
        locations: plain.locations().to_vec(),
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}

#[test]
fn lines_have_their_own_cost_and_that_of_their_calls() {
    let (database, query) = (sources(), metrics(&["cpu"]));
    let excerpt = Excerpt::new(&database, &query).unwrap();
    let main = Source::new(&excerpt, "main.c").unwrap();
    assert_eq!(main.file(), "/src/main.c");
    let cost =
        |line: &LineCost| (line.line, line.exclusive[0] / 1e9, line.calls[0] / 1e9, line.inclusive[0] / 1e9);
    assert_eq!(main.lines().iter().map(cost).collect::<Vec<_>>(), [(2, 1.0, 0.0, 1.0), (4, 0.0, 14.0, 14.0)]);
    let many = Source::new(&excerpt, "solve.c").unwrap_err();
    insta::assert_snapshot!("many_sources", format!("{many}\n  hint: {}", many.hint()));
    let solve = Source::new(&excerpt, "./a/solve.c").unwrap();
    // Line 3 calls itself: what is below counts once.
    assert_eq!(solve.lines().iter().map(cost).collect::<Vec<_>>(), [(3, 6.0, 4.0, 6.0)]);
}

#[test]
fn source_lines_read_well() {
    let (database, query) = (sources(), metrics(&["cpu", "samples"]));
    let excerpt = Excerpt::new(&database, &query).unwrap();
    let source = Source::new(&excerpt, "main.c").unwrap();
    let lines = |texts: &[&str]| Some(texts.iter().map(|t| t.to_string()).collect());
    let main = ["int main() {", "\tstart();", "", "  solve(); other();", "}", "", "", "", "// end"];
    let read = SourceText { lines: lines(&main), notes: vec!["read from main.c".into()] };
    let missing = SourceText { lines: None, notes: vec!["warning: failed to read it".into()] };
    let texts = [(&read, 10.0), (&read, 0.0), (&missing, 10.0)]
        .map(|(text, threshold)| source_text::table(&source, text, threshold));
    insta::assert_snapshot!("source_lines", texts.join("\n"));
    let mut out = Vec::new();
    source_data::json(&mut out, &source, &read).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"falloff.source".into(), &1.into()));
    insta::assert_snapshot!("source_json", serde_json::to_string_pretty(&document["lines"]).unwrap());
    let mut out = Vec::new();
    source_data::csv(&mut out, &source, &missing).unwrap();
    insta::assert_snapshot!("source_csv", String::from_utf8(out).unwrap());
}
