//! Outlooks over problem sizes of a table whose laws are known.

mod sweep_state;

use std::collections::BTreeMap;
use std::sync::Arc;

use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};
use falloff_workflow::outlook::sizes::{Joined, SizeQuestion};
use falloff_workflow::outlook::{AskedTerms, Given, SizeOutlook, Term};
use falloff_workflow::report::Paint;
use falloff_workflow::report::outlook::{OutlookOptions, sizes};
use falloff_workflow::results::SweepState;
use falloff_workflow::scoring::{Columns, RunHealth};
use serde_json::Value;

use sweep_state::sweep_state;

const SIZES: [f64; 4] = [100.0, 200.0, 300.0, 400.0];
const COUNTS: [u32; 4] = [1, 2, 4, 8];

/// Seconds of each process: work that is shared out, tables that are not, messages that nobody can foresee, and something small.
fn costs(n: f64, p: f64) -> [(&'static str, f64); 4] {
    let erratic = 1.0 + 0.9 * (7.0 * p + n).sin();
    [
        ("main;solve", 1e-6 * n.powi(3) / p),
        ("main;setup;tables", 1e-5 * n.powi(2)),
        ("main;exchange;MPI_Bcast;poll", 0.05 * erratic * p.log2()),
        ("main;seldom", 0.0002 / p),
    ]
}

/// The outlook of sweeps over N and p, repetitions differing by 1 %.
fn outlook(sizes: &[f64], targets: &[&str]) -> SizeOutlook {
    let mut builder = TreeBuilder::new();
    let mut nodes = BTreeMap::new();
    for (path, _) in costs(1.0, 1.0) {
        let names = path.split(';').map(|name| Scope::new(ScopeKind::Function, name));
        nodes.insert(path, names.fold(0, |above, scope| builder.child(above, &scope)));
    }
    let (tree, place) = builder.finish();
    let mut columns = Columns::default();
    let mut of_scales = Vec::new();
    for (n, p) in sizes.iter().flat_map(|n| COUNTS.map(|p| (*n, p))) {
        for noise in [1.0, 1.01, 0.99] {
            let mut column = vec![0.0; tree.len()];
            for (path, seconds) in costs(n, f64::from(p)) {
                column[place[nodes[path] as usize] as usize] += f64::from(p) * seconds * noise;
            }
            let samples = column.iter().map(|cost| (cost / 0.005).round()).collect();
            columns.push(p, column, samples, 1.0);
        }
        of_scales.push(n);
    }
    let question = SizeQuestion {
        metric: "cpu".into(),
        targets: targets.iter().map(|text| text.parse().unwrap()).collect(),
        period: 0.005,
    };
    let joined = Joined { tree, columns, sizes: of_scales };
    SizeOutlook::of_columns(&joined, &question, vec![RunHealth::default(); sizes.len()]).unwrap()
}

fn with_terms(terms: &[&str], given: &[&str], mut outlook: SizeOutlook) -> SizeOutlook {
    let asked = AskedTerms {
        terms: terms.iter().map(|text| Term::parse(text).unwrap()).collect(),
        given: given.iter().map(|text| Given::parse(text).unwrap()).collect(),
    };
    outlook.form = asked.fit(&outlook.whole.times, &[], &outlook.targets).unwrap().map(Arc::new);
    outlook
}

fn report(sizes: &[f64], outlook: &SizeOutlook) -> String {
    let states: Vec<SweepState> = sizes.iter().map(|_| sweep_state(&COUNTS, 3)).collect();
    let sweeps: Vec<(f64, &SweepState)> = sizes.iter().copied().zip(&states).collect();
    let options = OutlookOptions { paint: Paint { colour: false }, width: 110, threshold: 0.005, limit: 12 };
    sizes::text(&sweeps, outlook, &options)
}

const TERMS: [&str; 3] = ["work=N^3/p", "tables=N^2", "messages=log2(p)"];

#[test]
fn laws_of_size_and_count_are_found_and_ranked() {
    let outlook = outlook(&SIZES, &["p=16,N=800", "64", "p=100,N=800"]);
    assert_eq!(
        outlook.targets.iter().map(|at| (at.n, at.p)).collect::<Vec<_>>(),
        [(400.0, 64.0), (800.0, 16.0), (800.0, 100.0)]
    );
    assert_eq!(outlook.ranked, Some(1));
    let part = |name: &str| {
        outlook
            .parts
            .iter()
            .find(|part| part.standing.place.as_ref().is_some_and(|at| at.name() == name))
            .unwrap()
    };
    let (solve, tables) = (part("solve"), part("tables"));
    assert!((solve.surface.at(1).unwrap() / 32.0 - 1.0).abs() < 0.02, "{:?}", solve.surface.predictions);
    assert!((tables.surface.at(1).unwrap() / 6.4 - 1.0).abs() < 0.02, "{:?}", tables.surface.predictions);
    assert_eq!((solve.standing.rank_then, tables.standing.rank_then), (Some(1), Some(2)));
    // What follows no law is refused, and so is what is too far; both are counted.
    assert!(part("MPI_Bcast").surface.predictions.iter().all(Result::is_err));
    let (refused, share) = outlook.refused(1);
    assert!(refused >= 1 && share > 0.0, "{refused} {share}");
    assert_eq!(outlook.refused(2).0, outlook.parts.iter().map(|part| part.standing.count).sum::<usize>());
    let shares: f64 = outlook.parts.iter().map(|part| part.standing.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn two_sizes_have_no_law_and_terms_all_the_same() {
    let outlook = with_terms(&TERMS, &[], outlook(&SIZES[..2], &["N=400"]));
    let reason = outlook.whole.model.clone().unwrap_err();
    assert_eq!(reason, "3 sizes and 3 counts are needed, of one of them there are 2");
    assert_eq!((outlook.ranked, outlook.refused(0).0 > 0), (Some(0), true));
    let (seconds, _) = outlook.form.as_ref().unwrap().predictions[0].clone().unwrap();
    assert!(seconds.holds(costs(400.0, 8.0).iter().map(|(_, seconds)| seconds).sum()), "{seconds:?}");
}

#[test]
fn the_report_reads_well() {
    let outlook = with_terms(&TERMS, &["tables=1e-5"], outlook(&SIZES, &[]));
    insta::assert_snapshot!("report", report(&SIZES, &outlook));
}

#[test]
fn json_and_csv_have_what_is_promised() {
    let outlook = with_terms(&TERMS, &[], outlook(&SIZES, &["N=800"]));
    let state = sweep_state(&COUNTS, 3);
    let sweeps = SIZES.map(|size| (size, &state));
    let document: Value = serde_json::from_str(&sizes::json(&sweeps, &outlook, 0.0).unwrap()).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"falloff.model_sizes".into(), &1.into()));
    assert_eq!(document["targets"], serde_json::json!([{"size": 800.0, "processors": 8.0}]));
    assert_eq!(document["sweeps"][3]["size"], 400.0);
    let paths = document["paths"].as_array().unwrap();
    let solve = paths.iter().find(|path| path["name"] == "solve").unwrap();
    assert!((solve["predictions"][0]["seconds"].as_f64().unwrap() / 64.0 - 1.0).abs() < 0.02, "{solve}");
    assert_eq!(solve["measured"].as_array().unwrap().len(), 16);
    let terms = &document["terms"];
    let work = &terms["terms"][0];
    assert!((work["cost_seconds"].as_f64().unwrap() / 1e-6 - 1.0).abs() < 0.05, "{terms}");
    let parts = terms["predictions"][0]["parts"].as_array().unwrap();
    let shares: f64 = parts.iter().map(|part| part["elasticity"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{terms}");
    assert_eq!(parts[2]["sensitivity"], 3.0);
    assert_eq!(sizes::paths(&outlook).unwrap().lines().count(), 1 + paths.len());
}
