//! `falloff view`: three views of one profile, as text and JSON.

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
