//! What ranks wait for: waits of planted length are found, at the call path that waited, on its rank, and because of whom.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::ranks::said_by_ranks;
use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Programs, with the least ranks that they need: as few as there may be processors.
const PROGRAMS: [(&str, u32); 12] = [
    ("late_sender", 2),
    ("late_computing", 2),
    ("wrong_order", 3),
    ("late_receiver", 2),
    ("barrier", 2),
    ("n_to_n", 2),
    ("nonblocking", 2),
    ("late_broadcast", 2),
    ("early_reduce", 2),
    ("early_scan", 3),
    ("fence", 2),
    ("balanced", 2),
];

/// What may be off from what the program measured: a part of it, or so many milliseconds in each of five rounds.
const PART: f64 = 0.05;
const MILLISECONDS: f64 = 5.0 * 2.0;

/// A wait that a program tells of, or the cost of a delay.
struct Truth {
    rank: u64,
    pattern: String,
    /// A function on the call path.
    function: String,
    call: String,
    ms: f64,
    /// Rank and function that were late on purpose.
    late: Option<(u64, String)>,
}

impl Truth {
    /// From a line as `tests/programs/waits/plant.h` prints it.
    #[track_caller]
    fn new(line: &str) -> Truth {
        let [rank, pattern, function, call, ms, late_rank, late] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        Truth {
            rank: rank.parse().unwrap(),
            pattern: pattern.into(),
            function: function.into(),
            call: call.into(),
            ms: ms.parse().unwrap(),
            late: late_rank.parse().ok().map(|rank| (rank, late.into())),
        }
    }

    fn is_of(&self, found: &Found) -> bool {
        self.rank == found.rank
            && found.metrics.contains(&self.pattern)
            && found.is_on(&self.function)
            && found.path.last() == Some(&self.call)
    }
}

/// A value of an analysis.
struct Found {
    rank: u64,
    /// Its metric, and all that this is a part of.
    metrics: Vec<String>,
    is_wait: bool,
    path: Vec<String>,
    ms: f64,
}

impl Found {
    fn is_on(&self, function: &str) -> bool {
        self.path.iter().any(|name| name == function)
    }
}

/// Runs a program and analyses its log: what it says of itself, and the analysis.
fn analysed(shop: &Workshop, mpi: &str, program: &str, ranks: u32) -> (Vec<Truth>, Value) {
    let name = format!("{program}-{mpi}");
    build_with(shop, &format!("mpicc.{mpi} -O1 -g"), &format!("waits/{program}.c"), &name);
    let run = format!("waits-{name}");
    let measured = format!("\"$FALLOFF\" run --events mpi -o {run} -- ./{name}");
    let said = said_by_ranks(shop, mpi, ranks, &measured);
    let text = format!("\"$FALLOFF\" waits {run} --format json");
    let analysis = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
    (said.lines().map(Truth::new).collect(), analysis)
}

/// All values.
fn found(analysis: &Value) -> Vec<Found> {
    let list = |key: &str| analysis[key].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names = |path: &Value| path["names"].as_array().unwrap().iter().map(text).collect();
    let paths: BTreeMap<u64, Vec<String>> =
        list("paths").map(|path| (path["id"].as_u64().unwrap(), names(path))).collect();
    let metrics: BTreeMap<String, &Value> = list("metrics").map(|of| (text(&of["name"]), of)).collect();
    list("values")
        .map(|value| {
            let metric = text(&value["metric"]);
            let parent = |name: &String| metrics[name]["parent"].as_str().map(str::to_owned);
            Found {
                rank: value["rank"].as_u64().unwrap(),
                is_wait: metrics[&metric]["is_wait"] == true,
                metrics: std::iter::successors(Some(metric), parent).collect(),
                path: paths[&value["path"].as_u64().unwrap()].clone(),
                ms: value["value_ns"].as_f64().unwrap() / 1e6,
            }
        })
        .collect()
}

fn sum<'a>(found: impl Iterator<Item = &'a Found>) -> f64 {
    found.map(|found| found.ms).sum()
}

/// Waits are as long as the program says, where it says, and nobody waits elsewhere.
#[track_caller]
fn waits_are_as_told(name: &str, told: &[Truth], found: &[Found]) {
    for truth in told {
        let is = sum(found.iter().filter(|found| truth.is_of(found)));
        assert!(
            (is - truth.ms).abs() <= MILLISECONDS.max(PART * truth.ms),
            "{name}: rank {} waited {is:.3} ms in {} of {} ({}), and told of {:.3} ms",
            truth.rank,
            truth.call,
            truth.function,
            truth.pattern,
            truth.ms
        );
    }
    // Whoever begins or ends MPI, or makes a window, waits for what nobody has planted.
    let is_judged = |found: &&Found| found.is_wait && found.metrics[0] != "wait in management";
    let is_told = |found: &Found| told.iter().any(|truth| truth.is_of(found));
    let elsewhere = sum(found.iter().filter(is_judged).filter(|found| !is_told(found)));
    assert!(
        elsewhere <= MILLISECONDS,
        "{name}: {elsewhere:.3} ms of waiting that the program does not tell of"
    );
}

/// The cost of each delay lies with the function that was late on purpose, on its rank, and nowhere else.
#[track_caller]
fn costs_are_as_told(name: &str, told: &[Truth], found: &[Found]) {
    let mut planted: BTreeMap<(u64, &str), f64> = BTreeMap::new();
    for truth in told {
        if let Some((rank, function)) = &truth.late {
            *planted.entry((*rank, function)).or_default() += truth.ms;
        }
    }
    // What others brought about, by the program's own clocks, may be in any place.
    let noise: f64 = told.iter().filter(|truth| truth.late.is_none()).map(|truth| truth.ms).sum();
    let costs = || found.iter().filter(|found| found.metrics.iter().any(|metric| metric == "short-term"));
    let is_late = |found: &Found, rank: u64, function: &str| found.rank == rank && found.is_on(function);
    for ((rank, function), truth) in &planted {
        let cost = sum(costs().filter(|found| is_late(found, *rank, function)));
        assert!(
            (cost - truth).abs() <= MILLISECONDS.max(PART * truth) + noise,
            "{name}: rank {rank} was late in {function} by {truth:.3} ms and has a delay cost of {cost:.3} ms"
        );
    }
    let is_planted = |found: &Found| planted.keys().any(|(rank, function)| is_late(found, *rank, function));
    let elsewhere = sum(costs().filter(|found| !is_planted(found)));
    assert!(
        elsewhere <= MILLISECONDS + noise,
        "{name}: {elsewhere:.3} ms of delay costs that nobody planted; the program tells of {noise:.3}"
    );
}

#[track_caller]
fn planted_waits_are_found(mpi: &str) {
    if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let shop = Workshop::alone();
    for (program, ranks) in PROGRAMS {
        let (told, analysis) = analysed(&shop, mpi, program, ranks);
        let name = format!("{mpi} {program}");
        assert_eq!(analysis["run"]["complete"], true, "{name}");
        assert_eq!(told.iter().any(|truth| truth.late.is_some()), program != "balanced", "{name}");
        let found = found(&analysis);
        waits_are_as_told(&name, &told, &found);
        costs_are_as_told(&name, &told, &found);
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
fn views_show_the_waits() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::alone();
    let (told, _) = analysed(&shop, "mpich", "late_sender", 2);
    let truth: f64 = told.iter().filter(|t| t.pattern == "late sender").map(|t| t.ms).sum();
    let text = "\"$FALLOFF\" view waits-late_sender-mpich --metric late-sender --format json";
    let view = outcome(&mut bash(shop.dir(), text)).expect_code(0).json();
    let rows = view["rows"].as_array().unwrap();
    let of = |name: &str| {
        rows.iter()
            .filter(|row| row["name"] == name)
            .map(|row| row["exclusive_ns"].as_f64().unwrap())
            .sum::<f64>()
    };
    let total = rows[0]["inclusive_ns"].as_f64().unwrap();
    let sum: f64 = ["MPI_Recv", "MPI_Wait", "MPI_Waitall"].iter().map(|name| of(name)).sum();
    assert!((sum - total).abs() <= 1e-9 * total, "{sum} of {total}");
    assert!((total / 1e6 - truth).abs() <= MILLISECONDS.max(PART * truth), "{total} ns, told are {truth} ms");
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
