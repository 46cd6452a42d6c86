//! What must hold of every sweep, whatever launched it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use super::{Outcome, outcome};

/// The lines of a sweep's journal.
#[track_caller]
pub fn journal(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("journal.jsonl")).expect("no journal");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the journal is no JSON")).collect()
}

/// How often each run was completed, by the name of its directory.
#[track_caller]
pub fn completed(dir: &Path) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for entry in journal(dir).iter().filter(|entry| entry["state"] == "completed") {
        let (scale, repetition) = (entry["run"]["scale"].as_u64(), entry["run"]["repetition"].as_u64());
        let name = format!("n{:04}-r{}", scale.expect("a scale"), repetition.expect("a repetition"));
        *runs.entry(name).or_default() += 1;
    }
    runs
}

/// Waits until the sweep in `dir` has completed this many runs; gives how many it has.
pub fn wait_for_half(dir: &Path, runs: usize) -> usize {
    let start = Instant::now();
    let done = || if dir.join("journal.jsonl").exists() { completed(dir).len() } else { 0 };
    while done() < runs {
        assert!(start.elapsed() < Duration::from_secs(120), "{} of {runs} runs after two minutes", done());
        thread::sleep(Duration::from_millis(20));
    }
    done()
}

/// Insists that the sweep in `dir` measured every rank at every count, and on a good score, in which no thread of the run-time
/// library is.
#[track_caller]
pub fn is_whole(dir: &Path, counts: &[u64], function: &str, bash: impl Fn(&str) -> Command) {
    for entry in journal(dir) {
        assert_eq!(entry["state"], "completed", "{entry}");
        assert_eq!(entry["ranks"], entry["run"]["scale"], "{entry}");
    }
    assert_eq!(completed(dir).len(), counts.len(), "{:?}", completed(dir));
    let score = score(dir, counts, function, bash);
    let helper =
        score["contexts"].as_array().expect("rows").iter().find(|row| row["path"][0] == "<thread root>");
    assert!(helper.is_none(), "a thread of the run-time library has a row: {helper:?}");
}

/// Insists that the score of a sweep opens and holds `function`, and that counts beyond the machine's processors are
/// said; gives it.
#[track_caller]
pub fn score(dir: &Path, counts: &[u64], function: &str, bash: impl Fn(&str) -> Command) -> Value {
    let run = |options: &str| -> Outcome {
        let text = format!("exec \"$FALLOFF\" score {dir:?} --metric cpu {options}");
        outcome(&mut bash(&text)).expect_code(0)
    };
    let score = run("--format json").json();
    let rows = score["contexts"].as_array().expect("rows");
    let named = rows.iter().any(|row| row["name"].as_str().is_some_and(|name| name.contains(function)));
    assert!(named, "no {function} in the score: {score}");
    let here = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let shared: Vec<u64> = counts.iter().copied().filter(|n| *n > here).collect();
    assert_eq!(score["oversubscribed_scales"], serde_json::json!(shared), "{score}");
    let report = run("");
    let said = report.stdout.contains("processes shared processors");
    assert_eq!(said, !shared.is_empty(), "{report}");
    score
}
