//! `falloff score` on a program whose scalability losses are known in closed form.

use serde_json::Value;

use crate::support::{Workshop, bash, falloff, outcome, programs};

/// Units of a million steps, summed over the ranks, at P = 1, 2, 4: the total and the excess over P = 1 of each
/// function, as the source of case 80 sets them.
const TOTALS: [(u32, f64); 3] = [(1, 570.0), (2, 740.0), (4, 1320.0)];
const EXCESS: [(&str, f64, f64); 4] = [
    ("grows", 80.0, 480.0),
    ("replicated", 60.0, 180.0),
    ("exchange", 30.0, 90.0),
    ("scales_well", 0.0, 0.0),
];

#[test]
fn planted_losses_are_found_at_their_size() {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases/80-strong-scaling"));
    outcome(&mut bash(shop.dir(), "gcc -O2 -g prog.c -o prog")).expect_code(0);
    let text = "exec \"$FALLOFF\" sweep -n 1,2,4 --strong --repeat 5 --launcher plain -o sweep -- ./prog";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);

    for (at, percent_at) in [(2, 2), (4, 3)] {
        let total = TOTALS[percent_at - 1].1;
        let score = score(&shop, at);
        let found = score["total_excess_percent"].as_f64().expect("total_excess_percent is no number");
        near("the total", found, (total - TOTALS[0].1) / total * 100.0, 3.0);
        for (function, at_two, at_four) in EXCESS {
            let excess = if at == 2 { at_two } else { at_four };
            // A processor that is slower for some runs than for others shifts work at the base by its share of the
            // whole, which is twice as large at 2 as at 4.
            let tolerance = if function == "grows" || at == 2 { 3.0 } else { 2.0 };
            near(function, inclusive(&score, function), excess / total * 100.0, tolerance);
        }
        // A function's own cost is shown once more by its loops and lines.
        let once =
            contexts(&score).iter().filter(|context| context["kind"] != "line" && context["kind"] != "loop");
        let parts: f64 = once.map(|context| context["excess_excl_percent"].as_f64().unwrap()).sum();
        assert!((parts - found).abs() < 0.01, "the parts sum to {parts}, the root has {found}");
    }
}

#[test]
fn a_score_names_its_ground() {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases/80-strong-scaling"));
    outcome(&mut bash(shop.dir(), "gcc -O2 -g prog.c -o prog")).expect_code(0);
    let text = "exec \"$FALLOFF\" sweep -n 1,2 --strong --repeat 1 --launcher plain -o sweep -- ./prog";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let score = score(&shop, 2);
    assert_eq!(score["schema"], "falloff.score");
    assert_eq!(score["version"], 1);
    assert_eq!(score["metric"], "cpu");
    assert_eq!((score["base"].as_u64(), score["at"].as_u64()), (Some(1), Some(2)), "{score}");
    let text = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --metric cpu")).expect_code(0);
    for function in ["grows", "replicated", "exchange"] {
        assert!(text.stdout.contains(function), "the report must name {function}\n{text}");
    }
    let missing = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --at 16")).expect_code(2);
    assert!(missing.stderr.contains("16"), "{missing}");
}

fn score(shop: &Workshop, at: u32) -> Value {
    let sweep = shop.path("sweep");
    let mut command = falloff(["score".as_ref(), sweep.as_os_str()]);
    command.args(["--metric", "cpu", "--base", "1", "--at", &at.to_string(), "--format", "json"]);
    outcome(&mut command).expect_code(0).json()
}

fn contexts(score: &Value) -> &[Value] {
    score["contexts"].as_array().expect("contexts is no list")
}

/// Inclusive excess of a function over all paths in which it is the outermost of its name.
fn inclusive(score: &Value, function: &str) -> f64 {
    let outermost = |context: &&Value| {
        let path: Vec<_> = context["path"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        context["name"] == function && path.iter().filter(|name| **name == function).count() == 1
    };
    let found: Vec<_> = contexts(score).iter().filter(outermost).collect();
    assert!(!found.is_empty(), "{function} is not in the report");
    found.iter().map(|context| context["excess_incl_percent"].as_f64().unwrap()).sum()
}

#[track_caller]
fn near(what: &str, found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{what}: {found:.2} %, not {wanted:.2} % ± {tolerance}");
}
