//! `falloff view`: three views of one profile as text, JSON and CSV, parts of it, further columns, and source lines.

use serde_json::Value;

use crate::support::{Outcome, Workshop, bash, outcome, programs};

/// A workshop with the mutually recursive program of case 31 measured in `run`.
fn measured() -> Workshop {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases/31-mutual-recursion"));
    outcome(&mut bash(shop.dir(), "gcc -O2 -g prog.c -o prog && \"$FALLOFF\" run -o run -- ./prog"))
        .expect_code(0);
    shop
}

fn view(shop: &Workshop, args: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" view run --metric cpu {args}"))).expect_code(0)
}

#[test]
fn the_three_views_agree_and_count_recursion_once() {
    let shop = measured();
    for kind in ["context", "callers", "flat"] {
        let view = view(&shop, &format!("--view {kind} --format json")).json();
        assert_eq!(view["view"], kind);
        let rows = view["rows"].as_array().expect("rows is no list");
        let root = value(&rows[0], "inclusive");
        assert!(rows.iter().all(|row| value(row, "inclusive") <= root), "more than all in view {kind}");
        assert!(rows.iter().all(|row| value(row, "exclusive") <= value(row, "inclusive")), "view {kind}");
        let even = rows.iter().filter(|row| row["name"] == "even" && row["kind"] == "function");
        let most = even.map(|row| value(row, "inclusive") / root).fold(0.0, f64::max);
        assert!(most > 0.9, "even has {most:.3} of view {kind}");
    }
}

/// A column of a row, in nanoseconds.
fn value(row: &Value, column: &str) -> f64 {
    row[format!("{column}_ns")].as_f64().unwrap_or_else(|| panic!("no {column}_ns in {row}"))
}

#[test]
fn text_is_for_people() {
    let shop = measured();
    for kind in ["context", "callers", "flat"] {
        let view = view(&shop, &format!("--view {kind}"));
        assert!(view.stdout.contains("even") && view.stdout.contains('%'), "{view}");
        assert!(!view.stdout.contains("\u{1b}["), "no colours where nobody watches\n{view}");
    }
}

#[test]
fn a_second_view_uses_the_database_and_says_the_same() {
    let shop = measured();
    let first = view(&shop, "--format json");
    assert!(shop.path("run/database").is_dir(), "the database is kept beside the run");
    assert_eq!(view(&shop, "--format json").stdout, first.stdout);
    let text = "exec \"$FALLOFF\" view run/database --metric cpu --format json";
    let direct = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(direct.json()["rows"], first.json()["rows"]);
}

/// A workshop with two ranks of `uneven.c`, measured in `run` one after the other. Of 360 million steps `uneven` has 60
/// in rank 0 and 180 in rank 1, and the ranks have 120 and 240.
fn uneven() -> Workshop {
    let shop = Workshop::alone();
    for file in ["uneven.c", "burn.h"] {
        std::fs::copy(programs().join(file), shop.path(file)).expect("no program");
    }
    let text = "gcc -O2 -g uneven.c -o prog && export FALLOFF_RUN_ID=uneven PMI_SIZE=2\n\
                for r in 0 1; do PMI_RANK=$r \"$FALLOFF\" run -o run -- ./prog || exit; done";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    shop
}

fn row<'a>(view: &'a Value, name: &str) -> &'a Value {
    let rows = view["rows"].as_array().expect("rows is no list");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row {name} in {view}"))
}

#[track_caller]
fn assert_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() < 10.0, "{value} instead of {expected}");
}

#[test]
fn parts_of_a_run_leave_their_share() {
    let shop = uneven();
    let left = |args: &str| {
        view(&shop, &format!("--format json {args}")).json()["filters"][0]["left_percent"].clone()
    };
    assert_near(&left("--focus '^uneven$'"), 100.0 * 240.0 / 360.0);
    assert_near(&left("--ignore '^uneven$'"), 100.0 * 120.0 / 360.0);
    assert_near(&left("--module prog"), 100.0);
    assert_near(&left("--location rank=1"), 100.0 * 240.0 / 360.0);
    assert_near(&left("--location rank=0-1,5 --location 'host=*'"), 100.0);
    let zoomed = view(&shop, "--format json --root '^uneven$'").json();
    assert_eq!(
        (&zoomed["rows"][1]["name"], &zoomed["rows"][1]["call_line"]),
        (&"uneven".into(), &Value::Null)
    );
    assert_eq!(zoomed["rows"][1]["inclusive_percent"], 100.0);
    let text = view(&shop, "--location rank=1 --focus '^common$'").stdout;
    assert!(
        text.contains("\n--location rank=1 leaves ") && text.contains("\n--focus ^common$ leaves "),
        "{text}"
    );
    assert!(!text.contains(" uneven at"), "{text}");
    let nothing = view(&shop, "--focus nowhere").stdout;
    assert!(nothing.ends_with("\nnothing to show: `--focus nowhere` leaves no `cpu`\n"), "{nothing}");
    let text = "exec \"$FALLOFF\" view run --location rank=2";
    let refused = outcome(&mut bash(shop.dir(), text)).expect_code(2);
    assert!(refused.stderr.contains("no location there is what --location names"), "{refused}");
}

#[test]
fn ranks_are_compared() {
    let shop = uneven();
    for kind in ["context", "callers", "flat"] {
        let statistics = view(&shop, &format!("--view {kind} --stats --format json")).json();
        assert_eq!(statistics["groups"], serde_json::json!(["rank 0", "rank 1"]));
        let uneven = row(&statistics, "uneven");
        assert_eq!(uneven["inclusive_max_at"], "rank 1");
        assert_near(&uneven["inclusive_imbalance_percent"], 50.0);
        let each = view(&shop, &format!("--view {kind} --by rank --format json")).json();
        let uneven = row(&each, "uneven");
        let ranks: Vec<f64> =
            uneven["inclusive_by_group_ns"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        assert_eq!(ranks.len(), 2);
        assert_eq!(ranks.iter().sum::<f64>(), value(uneven, "inclusive"));
    }
    let text = view(&shop, "--view flat --stats --sort imbalance --depth 3").stdout;
    assert!(text.contains("max at imbalance %") && text.contains("over 2 ranks"), "{text}");
    let csv = view(&shop, "--by process --format csv").stdout;
    let fields = csv.lines().next().unwrap_or_default();
    assert!(
        fields.starts_with("id,parent,depth,kind,name,") && fields.contains(",inclusive_ns prog:"),
        "{csv}"
    );
    let commas = |line: &str| line.matches(',').count();
    assert!(csv.lines().all(|line| commas(line) == commas(fields)), "{csv}");
}

#[test]
fn columns_are_metrics_and_formulas() {
    let shop = uneven();
    let options = "--metric time,cpu,blocked --derive 'wait%=100*blocked/time' --sort 'wait%'";
    let json = view_of(&shop, &format!("{options} --format json")).json();
    assert_near(&row(&json, "waits")["inclusive_wait_percent"], 100.0);
    assert_near(&row(&json, "uneven")["inclusive_wait_percent"], 0.0);
    let root = &json["rows"][0];
    let part = |name: &str| root[format!("inclusive_{name}ns")].as_f64().unwrap();
    assert!(part("") >= part("cpu_") + part("blocked_"), "{root}");
    let text = view_of(&shop, options).stdout;
    let at = |name: &str| {
        text.find(&format!(" {name} at uneven.c")).unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    assert!(at("waits") < at("uneven") && at("waits") < at("common"), "{text}");
    let hot = view(&shop, "--hot-path=60%").stdout;
    assert!(hot.contains(" uneven at uneven.c") && !hot.contains(" common at"), "{hot}");
}

fn view_of(shop: &Workshop, args: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" view run {args}"))).expect_code(0)
}

#[test]
fn source_lines_have_their_cost() {
    let shop = uneven();
    let source = view(&shop, "--source uneven.c --format json").json();
    assert_eq!((&source["schema"], &source["readable"]), (&"falloff.source".into(), &true.into()));
    let line = |text: &str| {
        let lines = source["lines"].as_array().unwrap();
        let found = lines.iter().find(|line| line["text"].as_str().is_some_and(|t| t.contains(text)));
        found.unwrap_or_else(|| panic!("no line `{text}` in {source}"))
    };
    assert_near(&line("BURN(60 + 120")["exclusive_percent"], 100.0 * 240.0 / 360.0);
    assert_near(&line("BURN(60);")["exclusive_percent"], 100.0 * 120.0 / 360.0);
    assert_near(&line("  uneven(rank);")["calls_percent"], 100.0 * 240.0 / 360.0);
    assert_eq!(line("  uneven(rank);")["exclusive_percent"].as_f64().map(f64::round), Some(0.0));
    let text = view(&shop, "--source ./uneven.c").stdout;
    assert!(text.contains("  BURN(60 + 120 * rank);") && !text.contains("warning"), "{text}");
    std::fs::rename(shop.path("uneven.c"), shop.path("moved.c")).unwrap();
    let text = view(&shop, "--source uneven.c").stdout;
    assert!(text.contains("warning: failed to read ") && text.contains("calls %"), "{text}");
    let mapped = format!("--map-path {0}/uneven.c={0}/moved.c --source moved.c", shop.dir().display());
    let text = view(&shop, &mapped).stdout;
    assert!(text.contains("moved.c, 100 % is") && text.contains("  BURN(60);"), "{text}");
    let refused =
        outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" view run --source nowhere.f90")).expect_code(2);
    assert!(refused.stderr.contains("no line of a source file `nowhere.f90`"), "{refused}");
    assert!(refused.stderr.contains("moved.c"), "{refused}");
}

#[test]
fn a_reader_that_goes_away_ends_a_view_quietly() {
    let shop = measured();
    for format in ["text", "json", "csv"] {
        let text = format!("set -o pipefail; \"$FALLOFF\" view run --threshold 0 --format {format} | true");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        assert_eq!(end.stderr, "", "{end}");
    }
}
