//! Whole sweeps of programs whose losses, imbalance and waiting are known, through the command line.

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, programs, tools};

/// Percentage points by which a measured share of the run may differ.
const TOLERANCE: f64 = 3.0;

/// Part of the time, in percent, for which a program may have been kept from its processors.
const DISTURBED: f64 = 2.0;

/// A workshop with a case's program.
fn case(name: &str, build: &str) -> Workshop {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases").join(name));
    outcome(&mut bash(shop.dir(), build)).expect_code(0);
    shop
}

fn sweep(shop: &Workshop, options: &str) {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" sweep --strong -o sweep {options}")))
        .expect_code(0);
}

fn score(shop: &Workshop, options: &str) -> Value {
    let text = format!("exec \"$FALLOFF\" score sweep --format json {options}");
    outcome(&mut bash(shop.dir(), &text)).expect_code(0).json()
}

/// The first finding of a rule.
#[track_caller]
fn finding<'a>(score: &'a Value, rule: &str) -> &'a Value {
    let all = score["findings"].as_array().unwrap();
    all.iter().find(|f| f["rule"] == rule).unwrap_or_else(|| panic!("no {rule}: {all:#?}"))
}

fn row<'a>(score: &'a Value, name: &str) -> &'a Value {
    let rows = score["contexts"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name} in the score"))
}

/// Whether other programs had the processors at the compared count, so that what the program waits for is these.
fn disturbed(score: &Value) -> bool {
    let disturbed = score["preempted_percent"].as_f64().is_some_and(|percent| percent > DISTURBED);
    disturbed && !tools::skip("other programs had the processors")
}

#[track_caller]
fn near(what: &str, found: &Value, wanted: f64, tolerance: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found} is no number"));
    assert!((found - wanted).abs() <= tolerance, "{what}: {found:.2}, not {wanted:.2} ± {tolerance}");
}

#[test]
fn a_slow_rank_is_seen_though_nobody_waits_for_it() {
    let shop = case("81-rank0-slow", "gcc -O2 -g prog.c -o prog");
    sweep(&shop, "-n 1,2,4 --repeat 2 --launcher plain -- ./prog");
    let score = score(&shop, "--metric cpu");
    // 600, 200, 200 and 200 units, of which one process has 600.
    let first = &score["findings"][0];
    assert_eq!(
        (&first["rule"], &first["name"]),
        (&"replicated_work".into(), &"common_part".into()),
        "{first:#}"
    );
    near("common_part", &first["cost_percent"], 50.0, TOLERANCE);
    near("max/mean of main", &row(&score, "main")["imbalance_percent"], 100.0, 10.0);
    near("max/mean of rank0_part", &row(&score, "rank0_part")["imbalance_percent"], 300.0, 1.0);
    let serial = finding(&score, "serial_section");
    assert_eq!((&serial["name"], &serial["participants"]), (&"rank0_part".into(), &serde_json::json!([0])));
    near("cost", &serial["cost_percent"], 0.0, 0.0);
    near("unused", &serial["evidence"]["unused_percent"], 100.0, 2.0 * TOLERANCE);
}

#[test]
fn threads_wait_for_a_serial_part_and_for_an_uneven_loop() {
    let shop = Workshop::alone();
    if !tools::compiles(&shop, "gcc -fopenmp") {
        return;
    }
    drop(shop);
    let shop = case("84-openmp-idle", "gcc -O2 -g -fopenmp prog.c -o prog");
    sweep(&shop, "-n 1,2 --repeat 3 --launcher threads -- ./prog");
    let score = score(&shop, "--metric time");
    if disturbed(&score) {
        return;
    }
    // Of 800 units of work and 440 of waiting, 240 are waited for the larger half of a loop and 200 for the serial part.
    let (uneven, serial) = (finding(&score, "load_imbalance"), finding(&score, "serial_section"));
    assert_eq!((&uneven["name"], &serial["name"]), (&"kernel".into(), &"serial_part".into()));
    let of_run = |units: f64| 100.0 * units / 1240.0;
    near("uneven loop", &uneven["cost_percent"], of_run(240.0), TOLERANCE);
    near("serial part", &serial["cost_percent"], of_run(200.0), TOLERANCE);
    assert_eq!(serial["participants"], serde_json::json!([0]));
}

#[test]
fn a_rank_waits_in_a_barrier() {
    if !tools::have(&["mpicc.openmpi", "mpirun"]) {
        return;
    }
    let shop = case("85-mpi-imbalance", "mpicc.openmpi -O2 -g prog.c -o prog");
    sweep(&shop, "-n 1,2 --repeat 2 --launcher mpirun -- ./prog");
    let score = score(&shop, "--metric time");
    if disturbed(&score) {
        return;
    }
    let found = finding(&score, "load_imbalance");
    assert_eq!((&found["name"], &found["participants"]), (&"compute".into(), &serde_json::json!([1])));
    let waits = &score["contexts"][found["waits_in"].as_u64().unwrap() as usize]["name"];
    assert!(waits.as_str().unwrap().contains("MPI_Barrier"), "{waits}");
    assert_eq!(found["evidence"]["last_in_runs"], 2, "{found:#}");
    // Rank 0 has a third of the work of rank 1: of 1200 units 400 are waited.
    let seconds =
        |percent: &Value| percent.as_f64().unwrap() / 100.0 * score["work_at_seconds"].as_f64().unwrap();
    let compute = row(&score, "compute")["work_at_incl_seconds"].as_f64().unwrap();
    let wait = seconds(&found["cost_percent"]);
    near("waiting", &(100.0 * wait / (wait + compute)).into(), 100.0 / 3.0, TOLERANCE);
}

/// The table of a program at 1, 2, 4 and 8 processes: 17.5, 19.5, 25 and 42 units.
#[test]
fn a_table_comes_back() {
    let shop = Workshop::alone();
    build_with(&shop, "gcc -O2 -g", "planted/table.c", "prog");
    sweep(&shop, "-n 1,2,4,8 --repeat 2 -e cpu@1000 --launcher plain -- ./prog");
    for (at, whole, parts) in [
        (2, 19.5, [("init", 1.0), ("reduce", 0.5), ("solve", 0.0), ("parallel_io", 1.0)]),
        (4, 25.0, [("init", 3.0), ("reduce", 3.0), ("solve", 0.0), ("parallel_io", 2.0)]),
        (8, 42.0, [("init", 7.0), ("reduce", 14.0), ("solve", 0.0), ("parallel_io", 4.0)]),
    ] {
        let score = score(&shop, &format!("--at {at}"));
        near("the whole", &score["total_excess_percent"], 100.0 * (whole - 17.5) / whole, TOLERANCE);
        for (name, units) in parts {
            near(name, &row(&score, name)["excess_incl_percent"], 100.0 * units / whole, TOLERANCE);
        }
        near("serial_io", &row(&score, "serial_io")["excess_incl_percent"], -100.0 * 0.5 / whole, TOLERANCE);
    }
    let score = score(&shop, "--base 4 --at 8");
    near("8 against 4", &score["total_excess_percent"], 100.0 * 17.0 / 42.0, TOLERANCE);
}
