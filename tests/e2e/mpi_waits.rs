//! What ranks wait for: waits of planted length are found, at the call that waited, on its rank, and because of whom.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Programs, with the least ranks that they need: as few as there may be processors.
const PROGRAMS: [(&str, u32); 9] = [
    ("late_sender", 2),
    ("wrong_order", 3),
    ("late_receiver", 2),
    ("barrier", 2),
    ("n_to_n", 2),
    ("late_broadcast", 2),
    ("early_reduce", 2),
    ("early_scan", 3),
    ("fence", 2),
];
/// What a rank's waiting may be off: a part of it, or what waking up takes in all rounds together.
const PART: f64 = 0.05;
const MILLISECONDS: f64 = 30.0;

/// Runs a program and analyses its log: what it says of itself, and the analysis.
fn analysed(shop: &Workshop, mpi: &str, program: &str, ranks: u32) -> (String, Value) {
    let name = format!("{program}-{mpi}");
    build_with(shop, &format!("mpicc.{mpi} -O1 -g"), &format!("waits/{program}.c"), &name);
    let run = format!("waits-{name}");
    let text = format!("mpirun.{mpi} -n {ranks} \"$FALLOFF\" run --events mpi -o {run} -- ./{name}");
    let said = outcome(&mut bash(shop.dir(), &text)).expect_code(0).stdout;
    let text = format!("\"$FALLOFF\" waits {run} --format json");
    (said, outcome(&mut bash(shop.dir(), &text)).expect_code(0).json())
}

/// Milliseconds by rank, metric and innermost function of the call path.
fn found(analysis: &Value) -> BTreeMap<(u64, String, String), f64> {
    let list = |key: &str| analysis[key].as_array().unwrap().clone();
    let innermost =
        |names: &Value| names.as_array().unwrap().last().map(|name| name.as_str().unwrap().to_owned());
    let functions: BTreeMap<u64, String> = list("paths")
        .iter()
        .map(|path| (path["id"].as_u64().unwrap(), innermost(&path["names"]).unwrap_or_default()))
        .collect();
    let parents: BTreeMap<String, Option<String>> = list("metrics")
        .iter()
        .map(|metric| {
            (metric["name"].as_str().unwrap().to_owned(), metric["parent"].as_str().map(str::to_owned))
        })
        .collect();
    let mut sums = BTreeMap::new();
    for value in list("values") {
        let function = functions[&value["path"].as_u64().unwrap()].clone();
        let ms = value["value_ns"].as_f64().unwrap() / 1e6;
        // A metric has all that the metrics below it have.
        let mut metric = value["metric"].as_str().map(str::to_owned);
        while let Some(name) = metric {
            *sums.entry((value["rank"].as_u64().unwrap(), name.clone(), function.clone())).or_insert(0.0) +=
                ms;
            metric = parents[&name].clone();
        }
    }
    sums
}

#[track_caller]
fn planted_waits_are_found(mpi: &str) {
    if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let shop = Workshop::alone();
    for (program, ranks) in PROGRAMS {
        let (said, analysis) = analysed(&shop, mpi, program, ranks);
        assert_eq!(analysis["run"]["complete"], true, "{mpi} {program}");
        let found = found(&analysis);
        let mut told = 0;
        for line in said.lines() {
            let [rank, pattern, function, ms] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let truth: f64 = ms.parse().unwrap();
            let is =
                found.get(&(rank.parse().unwrap(), pattern.into(), function.into())).copied().unwrap_or(0.0);
            let off = (is - truth).abs();
            assert!(
                off <= MILLISECONDS.max(PART * truth),
                "{mpi} {program}: rank {rank} waited {is:.1} ms in {function} ({pattern}), planted are {truth} ms"
            );
            told += 1;
        }
        assert!(told > 0, "{program} says nothing of itself");
    }
}

#[test]
fn planted_waits_are_found_under_open_mpi() {
    planted_waits_are_found("openmpi");
}

#[test]
fn planted_waits_are_found_under_mpich() {
    planted_waits_are_found("mpich");
}

#[test]
fn who_is_late_to_send_has_the_delay_cost_and_views_show_the_waits() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::alone();
    let (_, analysis) = analysed(&shop, "mpich", "late_sender", 2);
    let found = found(&analysis);
    let cost = |rank: u64| {
        let of = found.iter().filter(|((on, metric, _), _)| *on == rank && metric == "short-term");
        of.map(|(_, ms)| ms).sum::<f64>()
    };
    // 40 + 30 + 50 ms in each of five rounds, at three places.
    assert!((cost(0) - 600.0).abs() < 3.0 * MILLISECONDS, "{}", cost(0));
    assert!(cost(1) < 3.0 * MILLISECONDS, "{}", cost(1));

    let text = "\"$FALLOFF\" view waits-late_sender-mpich --metric late-sender --format json";
    let view = outcome(&mut bash(shop.dir(), text)).expect_code(0).json();
    let rows = view["rows"].as_array().unwrap();
    let of = |name: &str| {
        rows.iter().find(|row| row["name"] == name).map(|row| row["exclusive_ns"].as_f64().unwrap())
    };
    let total = rows[0]["inclusive_ns"].as_f64().unwrap();
    let sum: f64 = ["MPI_Recv", "MPI_Wait", "MPI_Waitall"].iter().filter_map(|name| of(name)).sum();
    assert!(
        (sum - total).abs() <= 1e-9 * total && (total / 1e6 - 600.0).abs() < 3.0 * MILLISECONDS,
        "{sum} of {total}"
    );
}

#[test]
fn a_run_without_a_log_says_how_to_get_one() {
    let shop = Workshop::shared();
    outcome(&mut bash(shop.dir(), "\"$FALLOFF\" run -o no-log -- sleep 0.1")).expect_code(0);
    for verb in ["waits", "replay"] {
        let failed = outcome(&mut bash(shop.dir(), &format!("\"$FALLOFF\" {verb} no-log"))).expect_code(3);
        assert!(failed.stderr.contains("it holds no calls of MPI"), "{}", failed.stderr);
        assert!(failed.stderr.contains("falloff run --events mpi"), "{}", failed.stderr);
    }
}
