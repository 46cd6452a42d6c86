//! Operations on databases: what one run costs more than another, and databases made of databases.

use serde_json::Value;

use crate::support::{Outcome, Workshop, bash, build_with, outcome};

/// A workshop with two builds of one program measured in `before` and `after`, each by one process.
fn measured(shop: Workshop) -> Workshop {
    build_with(&shop, "gcc -O2 -g", "versions.c", "old");
    build_with(&shop, "gcc -O2 -g -DAFTER", "versions.c", "new");
    for (program, dir) in [("old", "before"), ("new", "after")] {
        falloff(&shop, &format!("run -e cpu@1000 -o {dir} -- ./{program}"), 0);
    }
    shop
}

#[track_caller]
fn falloff(shop: &Workshop, args: &str, code: i32) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {args}"))).expect_code(code)
}

fn function<'a>(diff: &'a Value, name: &str) -> &'a Value {
    let functions = diff["functions"].as_array().expect("functions is no list");
    functions.iter().find(|f| f["name"] == name).unwrap_or_else(|| panic!("no {name} in {diff}"))
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap_or_else(|| panic!("no {field} in {value}"))
}

/// Inclusive value of a view's root, in nanoseconds.
fn total(shop: &Workshop, dir: &str) -> f64 {
    let view = falloff(shop, &format!("view {dir} --metric cpu --helpers --format json"), 0).json();
    number(&view["rows"][0], "inclusive_ns")
}

#[test]
fn a_new_build_is_compared_with_the_old() {
    let shop = measured(Workshop::alone());
    let diff = falloff(&shop, "diff after before --metric cpu --format json -o change", 0).json();
    assert_eq!((&diff["schema"], &diff["version"]), (&"falloff.diff".into(), &1.into()));
    assert_eq!(diff["newer"], "a", "{diff}");
    let kernel = function(&diff, "kernel");
    let ratio = number(kernel, "a_ns") / number(kernel, "b_ns");
    assert!((1.7..2.3).contains(&ratio), "the kernel takes {ratio:.2} times as long");
    assert_eq!((&kernel["present"], kernel["file"].is_string()), (&"both".into(), true));
    assert_eq!(function(&diff, "fresh")["present"], "a");
    assert_eq!(function(&diff, "gone")["present"], "b");
    // 100 of 900 and of 600 million steps are in functions that the other has not.
    for (side, share) in [("a", 100.0 / 9.0), ("b", 100.0 / 6.0)] {
        let unmatched = number(&diff[side], "unmatched_percent");
        assert!(
            (unmatched - share).abs() < 4.0,
            "{unmatched:.1} % of {side} are unmatched, not {share:.1} %"
        );
    }
    let changes: f64 = diff["functions"].as_array().unwrap().iter().map(|f| number(f, "change_ns")).sum();
    assert!((changes - number(&diff, "change_ns")).abs() < 1.0, "{changes} in all, {diff}");
    assert!((total(&shop, "change") - changes).abs() < 1.0);
    let text = falloff(&shop, "diff after before --metric cpu", 0);
    assert!(text.stdout.starts_with("MATCHED, share of cpu"), "{text}");
    for wanted in
        ["unmatched", "A after, the newer run", "MORE IN A", "fresh", "(only in A)", "LESS IN A", "gone"]
    {
        assert!(text.stdout.contains(wanted), "the text must name {wanted}\n{text}");
    }
    // What was written is a database like any other.
    for kind in ["context", "callers", "flat"] {
        let view = falloff(&shop, &format!("view change --metric cpu --view {kind}"), 0);
        assert!(view.stdout.contains("diff of after and before (locations paired)"), "{view}");
        assert!(view.stdout.contains("of before, the difference is +"), "{view}");
        let gone = view.stdout.lines().find(|l| l.contains("gone at")).unwrap_or_else(|| panic!("{view}"));
        assert!(gone.contains(" -"), "what became less has a sign: {gone}");
    }
}

#[test]
fn results_are_databases_that_the_laws_hold_for() {
    let shop = measured(Workshop::shared());
    falloff(&shop, "diff after before -o change", 0);
    falloff(&shop, "sum change before -o whole", 0);
    let rest = falloff(&shop, "diff whole after --metric cpu --format json", 0).json();
    assert_eq!(rest["functions"], Value::Array(Vec::new()), "after = (after - before) + before");
    falloff(&shop, "mean before before before -o mean", 0);
    assert_eq!(total(&shop, "mean"), total(&shop, "before"));
    falloff(&shop, "scale before 1/3 -o third", 0);
    falloff(&shop, "scale third 3 -o again", 0);
    assert_eq!(total(&shop, "again"), total(&shop, "before"));
    let difference = falloff(&shop, "diff again before --metric cpu", 0);
    assert!(difference.stdout.contains("no function's own cost differs"), "{difference}");
    falloff(&shop, "min before after -o least", 0);
    falloff(&shop, "max before after -o most", 0);
    let sum = total(&shop, "least") + total(&shop, "most");
    assert_eq!(sum, total(&shop, "before") + total(&shop, "after"));
    falloff(&shop, "cut before --prune '^kernel$' -o pruned", 0);
    assert_eq!(total(&shop, "pruned"), total(&shop, "before"));
    falloff(&shop, "cut before --root '^(kernel|moved)$' -o rooted", 0);
    let rooted = total(&shop, "rooted");
    assert!(rooted > 0.0 && rooted < total(&shop, "before"));
    falloff(&shop, "filter before --metric cpu --location host='*' -o filtered", 0);
    assert_eq!(total(&shop, "filtered"), total(&shop, "before"));
    falloff(&shop, "collapse before -o collapsed", 0);
    assert_eq!(total(&shop, "collapsed"), total(&shop, "before"));
    falloff(&shop, "filter before --metric samples -o samples", 0);
    falloff(&shop, "merge filtered samples --metrics -o merged", 0);
    let merged = falloff(&shop, "diff merged before --metric samples", 0);
    assert!(merged.stdout.contains("no function's own cost differs"), "{merged}");
    let overlap = falloff(&shop, "merge before after --metrics -o overlap", 2);
    assert!(overlap.stderr.contains("metric `cpu` was measured in before and in after"), "{overlap}");
    falloff(&shop, "export mean --format folded -o mean.folded", 0);
    let manifest = std::fs::read_to_string(shop.path("whole/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let history = manifest["provenance"]["history"].as_array().unwrap();
    let operators: Vec<_> = history.iter().map(|o| o["operator"].as_str().unwrap()).collect();
    assert_eq!(operators, ["diff", "sum"]);
    assert_eq!(history[0]["inputs"][1]["name"], "before");
}

#[test]
fn unlike_runs_are_told_or_refused() {
    let shop = measured(Workshop::shared());
    let ranks = "for r in 0 1; do PMI_RANK=$r PMI_SIZE=2 FALLOFF_RUN_ID=two \"$FALLOFF\" run -e cpu -o two -- ./old & \
                 done; wait";
    outcome(&mut bash(shop.dir(), ranks)).expect_code(0);
    let diff = falloff(&shop, "diff two before --metric cpu", 0);
    assert!(diff.stdout.contains("locations collapsed, since their ranks or threads differ"), "{diff}");
    let refused = falloff(&shop, "diff two before --locations pair", 3);
    assert!(refused.stderr.contains("--locations collapse"), "{refused}");
    falloff(&shop, "collapse two --to ranks -o by-rank", 0);
    falloff(&shop, "diff two by-rank --metric cpu --format json", 0);
    let taken = falloff(&shop, "mean before after -o two", 2);
    assert!(taken.stderr.contains("it is there already"), "{taken}");
    let metric = falloff(&shop, "filter before --metric cups -o x", 2);
    assert!(metric.stderr.contains("use one of: cpu"), "{metric}");
    let frame = falloff(&shop, "cut before --root nowhere -o x", 2);
    assert!(frame.stderr.contains("root nowhere"), "{frame}");
    falloff(&shop, "cut before -o x", 2);
    falloff(&shop, "scale before 1/0 -o x", 2);
    assert!(!shop.path("x").exists(), "what is refused leaves nothing");
}
