//! `falloff model` over problem sizes on Gaussian elimination: small runs predict larger ones, which are made as well.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Sizes and counts from which the models are made.
const SIZES: [u32; 4] = [150, 180, 210, 240];
const COUNTS: &str = "1,2,3";
/// What is held back: larger sizes, more processors, and both.
const HELD_BACK: [(u32, u32); 8] =
    [(240, 4), (320, 1), (320, 2), (320, 4), (400, 1), (400, 2), (400, 3), (400, 4)];

/// Processors of the smallest machine that is tested on: waiting ranks beyond them are the scheduler's, in whole processes.
const PROCESSORS: u32 = 2;

/// What rank 0 prints of itself: seconds of a processor in its own code, and in the whole process.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    eliminating: f64,
    process: f64,
}

/// Means of what runs without falloff say of themselves.
struct Truth(BTreeMap<(u32, u32), Vec<Told>>);

impl Truth {
    /// Makes each of the runs that are held back once.
    fn add(&mut self, shop: &Workshop) {
        for (n, p) in HELD_BACK {
            let text = format!("mpirun.openmpi -n {p} ./gauss {n}");
            let said = outcome(&mut bash(shop.dir(), &text)).expect_code(0).stdout;
            let words: Vec<&str> = said.split_whitespace().collect();
            let number = |name: &str| {
                let at = words.iter().position(|word| *word == name).expect("the program tells its times");
                words[at + 1].parse::<f64>().expect("a number")
            };
            let told = Told { eliminating: number("eliminating"), process: number("process") };
            self.0.entry((n, p)).or_default().push(told);
        }
    }

    fn mean(&self, (n, p): (u32, u32), of: fn(&Told) -> f64) -> f64 {
        let runs = &self.0[&(n, p)];
        runs.iter().map(of).sum::<f64>() / runs.len() as f64
    }
}

/// Sweeps at small sizes and counts; what is held back is run between them, so that a slow hour falls on both alike.
#[test]
fn small_runs_predict_larger_ones() {
    let shop = Workshop::alone();
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    build_with(&shop, "mpicc.openmpi -O2 -g", "gauss.c", "gauss");
    let mut truth = Truth(BTreeMap::new());
    for (round, n) in SIZES.iter().enumerate() {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n {COUNTS} --repeat 2 --launcher 'mpirun.openmpi -n {{n}}' -e cpu@1000 -o {n} -- ./gauss {n}"
        );
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        if round % 2 == 1 {
            truth.add(&shop);
        }
    }
    let sweeps = SIZES.map(|n| format!("{n}={n}")).join(" ");
    let targets = HELD_BACK.map(|(n, p)| format!("--target p={p},N={n}")).join(" ");
    let terms = "--terms 'start=1' --terms 'operations=N^3/(3*p)' --terms 'messages=N*log2(p)'";
    let model = |format: &str| {
        let text = format!("exec \"$FALLOFF\" model {sweeps} {targets} {terms} --format {format}");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0)
    };
    let document = model("json").json();
    assert_eq!((&document["schema"], &document["metric"]), (&"falloff.model_sizes".into(), &"cpu".into()));

    let mut table = vec![
        "N p | elimination: measured predicted error | process: measured predicted (band) error".to_owned(),
    ];
    let (mut close, mut cases) = (0, 0);
    for (n, p) in HELD_BACK {
        let is = truth.mean((n, p), |told| told.eliminating);
        let said = elimination(&document, n, p);
        let whole = truth.mean((n, p), |told| told.process);
        let by_terms = at(document["terms"]["predictions"].as_array().unwrap(), n, p);
        let miss = |said: Option<f64>, is: f64| said.map_or(f64::INFINITY, |said| said / is - 1.0);
        let (own, all) = (miss(said, is), miss(by_terms["seconds"].as_f64(), whole));
        let judged = if p <= PROCESSORS { vec![own, all] } else { vec![own] };
        cases += judged.len();
        close += judged.into_iter().filter(|error| error.abs() <= 0.2).count();
        table.push(format!(
            "{n} {p} | {is:.4} {said:.4?} {:.1} % | {whole:.4} {} ({} to {}) {:.1} %",
            100.0 * own,
            by_terms["seconds"],
            by_terms["low_seconds"],
            by_terms["high_seconds"],
            100.0 * all
        ));
    }
    let table = table.join("\n");
    println!("{table}\n{}", model("text"));
    assert!(close * 10 >= cases * 8, "{close} of {cases} within 20 %\n{table}");
    let operation = &document["terms"]["terms"][1];
    assert_eq!((&operation["name"], &operation["source"]), (&"operations".into(), &"fitted".into()));
}

/// Predicted seconds a processor of the code below `eliminate`, which is several call paths, as the operations in quadruple precision are
/// calls; `None` if more than a tenth of it is refused.
fn elimination(document: &Value, n: u32, p: u32) -> Option<f64> {
    let paths = document["paths"].as_array().expect("paths");
    let within = |path: &&Value| {
        path["path"].as_array().is_some_and(|names| names.iter().any(|name| name == "eliminate"))
    };
    let parts: Vec<&Value> = paths.iter().filter(within).collect();
    assert!(!parts.is_empty(), "no path below eliminate in {document}");
    let share = |parts: &[&Value]| -> f64 { parts.iter().filter_map(|p| p["share_percent"].as_f64()).sum() };
    let said = |part: &&Value| at(part["predictions"].as_array().unwrap(), n, p)["seconds"].as_f64();
    let predicted: Vec<&Value> = parts.iter().copied().filter(|part| said(part).is_some()).collect();
    (share(&predicted) >= 0.9 * share(&parts)).then(|| predicted.iter().filter_map(said).sum())
}

/// The prediction at a scale.
fn at(predictions: &[Value], n: u32, p: u32) -> &Value {
    let of_scale = |said: &&Value| said["size"] == f64::from(n) && said["processors"] == f64::from(p);
    predictions.iter().find(of_scale).expect("a prediction for every target")
}
