//! `falloff model` over problem sizes on Gaussian elimination: small runs predict larger ones, which are made as well.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Sizes and counts from which the models are made.
const SIZES: [u32; 4] = [150, 200, 260, 340];
const COUNTS: &str = "1,2,3";
/// What is held back: larger sizes, more processors, and both.
const HELD_BACK: [(u32, u32); 6] = [(340, 4), (400, 1), (400, 2), (400, 4), (460, 2), (460, 4)];

/// Columns of the table in docs/model.md: the elimination by the laws of its call paths, whole processes by terms.
const TITLES: &str = "| N | p | elimination: measured s | predicted s | error % | process: measured s | predicted s | error % |\n|---|---|---|---|---|---|---|---|\n";

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

/// Sweeps at small sizes and counts; what is held back is run between them, so that a slow hour falls on both alike. Eliminations are
/// judged: beyond two ranks on two cores, the CPU time of whole processes has the polling of those that wait, which nobody can foresee.
#[test]
#[expect(clippy::print_stdout, reason = "the figures are what is wanted, with --nocapture")]
fn small_runs_predict_larger_ones() {
    let shop = Workshop::alone();
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    build_with(&shop, "mpicc.openmpi -O2 -g", "gauss.c", "gauss");
    let mut truth = Truth(BTreeMap::new());
    for (round, n) in SIZES.iter().enumerate() {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n {COUNTS} --repeat 3 --launcher 'mpirun.openmpi -n {{n}}' -e cpu@1000 -o {n} -- ./gauss {n}"
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

    let (mut table, mut errors) = (TITLES.to_owned(), Vec::new());
    for (n, p) in HELD_BACK {
        let (own, whole) =
            (truth.mean((n, p), |told| told.eliminating), truth.mean((n, p), |told| told.process));
        let by_law = elimination(&document, n, p);
        let by_terms = at(document["terms"]["predictions"].as_array().unwrap(), n, p);
        let error = |said: f64, is: f64| 100.0 * (said / is - 1.0);
        errors.extend(by_law.map(|law| error(law, own)));
        let told = |said: Option<f64>, is: f64| match said {
            Some(said) => format!("{said:.3} | {:.1}", error(said, is)),
            None => "refused | ".to_owned(),
        };
        let (law, terms) = (told(by_law, own), told(by_terms["seconds"].as_f64(), whole));
        table += &format!("| {n} | {p} | {own:.3} | {law} | {whole:.3} | {terms} |\n");
    }
    println!("{table}\n{}", model("text"));
    let close = errors.iter().filter(|error| error.abs() <= 20.0).count();
    assert!(close * 10 >= errors.len() * 8, "{close} of {} within 20 %\n{table}", errors.len());
    assert!(errors.len() * 2 >= HELD_BACK.len(), "few eliminations are predicted\n{table}");
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
