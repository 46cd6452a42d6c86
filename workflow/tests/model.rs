//! Outlooks of tables whose laws are known.

mod sweep_state;
#[allow(dead_code, reason = "it makes scores for other tests")]
mod table;

use falloff_workflow::outlook::{Outlook, Question};
use falloff_workflow::report::Paint;
use falloff_workflow::report::outlook::{OutlookOptions, json, laws, notes, paths, text};
use falloff_workflow::results::SweepState;
use falloff_workflow::scoring::Scaling;
use serde_json::Value;

use sweep_state::sweep_state;
use table::Table;

const COUNTS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A program whose shared work takes 96/p s a process, its tables 1 s, and its exchange 0.05·p s, with repetitions that differ by 1 %.
fn application(counts: &[u32], targets: &[u32]) -> (SweepState, Outlook) {
    let mut lines = Vec::new();
    for n in counts {
        for (repetition, noise) in [(1, 1.0), (2, 1.01), (3, 0.99)] {
            for rank in 0..*n {
                let p = f64::from(*n);
                lines.push((*n, repetition, rank, "main;solve", noise * 96.0 / p));
                lines.push((*n, repetition, rank, "main;setup;tables", noise));
                lines.push((*n, repetition, rank, "main;exchange;MPI_Alltoall;poll", noise * 0.05 * p));
                lines.push((*n, repetition, rank, "main;seldom", 0.0002));
            }
        }
    }
    let question = Question {
        dir: "sweep".into(),
        metric: "cpu".into(),
        scaling: Scaling::Strong,
        targets: targets.to_vec(),
        period: 0.005,
        runs: counts.iter().map(|n| (1..=3).map(|m| format!("n{n:04}-r{m}")).collect()).collect(),
    };
    (sweep_state(counts, 3), Table::new(&lines).outlook(&question).unwrap_or_else(|error| panic!("{error}")))
}

fn options() -> OutlookOptions {
    OutlookOptions { paint: Paint { colour: false }, width: 110, threshold: 0.005, limit: 12 }
}

#[test]
fn what_grows_is_predicted_to_come_first() {
    let (_, outlook) = application(&COUNTS, &[256, 64]);
    assert_eq!((outlook.targets.clone(), outlook.ranked_at), (vec![64, 256], Some(256)));
    let first = &outlook.parts[0];
    assert_eq!(
        (first.place.as_ref().unwrap().name(), first.rank, first.rank_then),
        ("MPI_Alltoall", 2, Some(1))
    );
    let seconds = first.forecast.predictions[1].seconds.as_ref().unwrap();
    assert!(seconds.holds(12.8), "{seconds:?}");
    assert!(outlook.parts.iter().map(|part| part.share).sum::<f64>() > 1.0 - 1e-9);
    // The whole run is fastest between 32 and 64: √(96/0.05) = 43.8.
    let turning = outlook.whole.turning.unwrap().p;
    assert!(turning.holds(43.8), "{turning:?}");
}

#[test]
fn the_report_reads_well() {
    let (state, outlook) = application(&COUNTS, &[]);
    insta::assert_snapshot!("report", text(&state, &outlook, &options()));
}

#[test]
fn two_counts_have_bounds_and_no_models() {
    let (state, outlook) = application(&[1, 4], &[]);
    insta::assert_snapshot!("report_of_two", text(&state, &outlook, &options()));
    assert!(outlook.parts.iter().all(|part| part.forecast.model.is_err() && part.rank_then.is_none()));
}

#[test]
fn a_target_out_of_reach_is_refused() {
    let (_, outlook) = application(&COUNTS, &[1024]);
    assert_eq!(outlook.ranked_at, None);
    let refused = outlook.whole.forecast.predictions[0].seconds.clone().unwrap_err();
    assert_eq!(refused, "32.000 times the largest count measured; models reach 8 times");
}

#[test]
fn json_and_csv_have_what_is_promised() {
    let (state, outlook) = application(&COUNTS, &[]);
    let document: Value = serde_json::from_str(&json(&state, &outlook, 0.0).unwrap()).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"falloff.model".into(), &1.into()));
    assert_eq!(document["targets"], serde_json::json!([64, 256]));
    let all = document["paths"].as_array().unwrap();
    let first = &all[0];
    assert_eq!(first["path"], serde_json::json!(["main", "exchange", "MPI_Alltoall"]));
    assert_eq!(first["predictions"][1]["refusal"], Value::Null);
    assert!(all.iter().any(|path| path["name"] == "<rare>" && path["context"].is_null()));
    let cut: Value = serde_json::from_str(&json(&state, &outlook, 0.1).unwrap()).unwrap();
    assert!(cut["paths"].as_array().unwrap().len() < all.len());
    let lines = |text: String| text.lines().count();
    assert_eq!(lines(paths(&outlook).unwrap()), 1 + 2 * all.len());
    assert_eq!(lines(laws(&outlook).unwrap()), 1 + document["laws"].as_array().unwrap().len());
    assert!(notes(&outlook).unwrap().is_empty() == outlook.notes.is_empty());
}
