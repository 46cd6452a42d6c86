//! `falloff check` on sweeps of a real program: every exit code, every format.

use std::fs;

use serde_json::Value;

use crate::support::{Outcome, Workshop, bash, outcome, programs};

/// A program of four phases, and a sweep of it as it is and with 80 % of the run more in one of them at 2.
fn sweeps() -> Workshop {
    let shop = Workshop::shared();
    let source = programs().join("../bench/phases.c");
    let text = format!("gcc -O2 -g -fno-inline '{}' -o phases", source.display());
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    for (name, planted) in [("base", ""), ("new", " 80")] {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n 1,2 --launcher plain -e cpu --repeat 3 -o {name} -- ./phases 0.3{planted}"
        );
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    }
    shop
}

#[track_caller]
fn check(shop: &Workshop, args: &str, code: i32) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" check {args}"))).expect_code(code)
}

#[test]
fn every_exit_code_has_its_reason() {
    let shop = sweeps();
    let found = check(&shop, "base new", 1);
    assert!(found.stdout.starts_with("REGRESSION: "), "{found}");
    let worst = found.stdout.lines().find(|line| line.contains("> assemble"));
    assert!(worst.is_some_and(|line| line.contains("REGRESSION")), "{found}");
    // The other way round it became faster, and whatever the noise nothing doubled.
    let same = check(&shop, "new base --threshold 100", 0);
    assert!(same.stdout.starts_with("OK: "), "{same}");
    // No runs are enough to exclude next to nothing.
    let unsure = check(&shop, "base base --threshold 0.0001", 5);
    assert!(unsure.stdout.starts_with("INCONCLUSIVE: ") && unsure.stdout.contains("repetitions"), "{unsure}");
    fs::write(shop.path("limits.toml"), "run = 100\n[functions]\nassemble = 20\n").unwrap();
    let found = check(&shop, "base new --limits limits.toml", 1);
    assert!(found.stdout.starts_with("REGRESSION: 1 of"), "{found}");
    fs::write(shop.path("limits.toml"), "speed = 1\n").unwrap();
    let refused = check(&shop, "base new --limits limits.toml", 2);
    assert!(refused.stderr.contains("limits.toml") && refused.stderr.contains("hint: "), "{refused}");
    let journal = fs::read_to_string(shop.path("new/journal.jsonl")).unwrap();
    let (last, _) = journal.trim_end().rsplit_once('\n').unwrap();
    fs::write(shop.path("new/journal.jsonl"), format!("{last}\n")).unwrap();
    let incomplete = check(&shop, "base new", 3);
    assert!(
        incomplete.stdout.is_empty() && incomplete.stderr.contains("1 runs of `new` were not made"),
        "{incomplete}"
    );
}

#[test]
fn every_format_says_the_same() {
    let shop = sweeps();
    let json: Value = check(&shop, "base new --format json", 1).json();
    assert_eq!(
        (&json["schema"], &json["version"], &json["decision"]),
        (&"falloff.check".into(), &1.into(), &"regression".into())
    );
    let tests = json["tests"].as_array().unwrap();
    let count = |key: &str| tests.iter().filter(|test| test[key] == true).count();
    let planted = tests
        .iter()
        .find(|test| test["path"].as_array().is_some_and(|path| path.last() == Some(&"assemble".into())));
    let change = planted.unwrap()["change_percent"].as_f64().unwrap();
    assert!((50.0..120.0).contains(&change), "80 % were planted and {change} % found");
    let junit = check(&shop, "base new --format junit", 1).stdout;
    let counted = format!(
        "tests=\"{}\" failures=\"{}\" skipped=\"{}\"",
        tests.len(),
        count("regression"),
        count("open")
    );
    assert!(junit.contains(&counted), "{junit}");
    fs::write(shop.path("check.xml"), &junit).unwrap();
    let well_formed =
        "import xml.dom.minidom as x; print(len(x.parse('check.xml').getElementsByTagName('testcase')))";
    let cases = outcome(&mut bash(shop.dir(), &format!("python3 -c \"{well_formed}\""))).expect_code(0);
    assert_eq!(cases.stdout.trim(), tests.len().to_string());
    let markdown = check(&shop, "base new --format markdown", 1).stdout;
    assert!(markdown.starts_with("**REGRESSION: ") && markdown.contains("| REGRESSION |"), "{markdown}");
}
