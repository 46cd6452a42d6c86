//! Loops as scopes: how much of the time each takes, against what the programs say of themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::support::sampling::Sampling;
use crate::support::{Folded, Workshop, bash, build_with, falloff, outcome, programs, tools};

/// Seconds that a program computes.
const SECONDS: &str = "4";
/// How far a share may be off.
const TOLERANCE: f64 = 0.05;

/// A profile of one of the programs in `tests/programs/loops`.
struct Kernels {
    shop: Workshop,
    source: &'static str,
    /// Seconds in each outermost loop, by its mark.
    seconds: BTreeMap<String, f64>,
}

impl Kernels {
    fn measure(compiler: &str, source: &'static str) -> Kernels {
        let shop = Workshop::alone();
        let program = build_with(&shop, compiler, &format!("loops/{source}"), "kernels");
        let mut command = falloff(["run".as_ref(), "-o".as_ref(), shop.path("run").as_os_str()]);
        command.args(["-e", "time@1000", "--"]).arg(program).arg(SECONDS).current_dir(shop.dir());
        let said = outcome(&mut command).expect_code(0).json();
        let seconds = serde_json::from_value(said).expect("the program prints seconds of loops");
        Kernels { shop, source, seconds }
    }

    fn view(&self, more: &[&str]) -> Value {
        let run = self.shop.path("run");
        let mut command = falloff(["view".as_ref(), run.as_os_str()]);
        outcome(command.args(["--metric", "cpu", "--format", "json"]).args(more)).expect_code(0).json()
    }

    /// The name of the loop at the line with this mark.
    fn name(&self, mark: &str) -> String {
        let text = fs::read_to_string(programs().join("loops").join(self.source)).expect("unreadable source");
        let line = text.lines().position(|line| line.trim_end().ends_with(&format!("@{mark}")));
        format!("loop at {}:{}", self.source, line.expect("no such mark") + 1)
    }

    /// CPU time in the loop at a mark.
    fn cost(&self, view: &Value, mark: &str) -> f64 {
        let name = self.name(mark);
        let rows = view["rows"].as_array().expect("rows is no list");
        let loops = rows.iter().filter(|row| row["kind"] == "loop" && row["name"] == *name);
        loops.map(|row| row["inclusive_ns"].as_f64().expect("a cost is a number")).sum()
    }

    /// Holds the loops' shares of the time in all of them against the program's own clocks; `parts` are loops within them,
    /// with their known shares of those.
    fn check(&self, parts: &[(&str, &str, f64)]) {
        let view = self.view(&[]);
        let measured: f64 = self.seconds.keys().map(|mark| self.cost(&view, mark)).sum();
        let known: f64 = self.seconds.values().sum();
        let wholes = self.seconds.iter().map(|(mark, seconds)| (mark.as_str(), *seconds));
        let parts = parts.iter().map(|(mark, whole, share)| (*mark, share * self.seconds[*whole]));
        let samples = view["health"]["samples"].as_u64().expect("samples is a number");
        for (mark, seconds) in wholes.chain(parts) {
            let (found, wanted) = (self.cost(&view, mark) / measured, seconds / known);
            assert!(
                (found - wanted).abs() <= TOLERANCE,
                "{}: {mark} has {found:.3} of the time, not {wanted:.3}",
                self.source
            );
            let sampling = Sampling { samples, stretches: u32::MAX };
            assert!(sampling.decides(wanted, TOLERANCE), "{samples} samples are too few to tell");
        }
    }
}

#[test]
fn loops_of_c_have_their_shares() {
    let kernels = Kernels::measure("gcc -O3 -g", "kernels.c");
    kernels.check(&[("long", "turns", 0.75), ("short", "turns", 0.25), ("dot", "rows", 1.0)]);
    let plain = kernels.view(&["--no-loops"]);
    let rows = plain["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["kind"] != "loop"));
    let path =
        |row: &Value| -> Vec<String> { serde_json::from_value(row["path"].clone()).unwrap_or_default() };
    assert!(rows.iter().any(|row| path(row).ends_with(&["main".into(), "split".into()])));
    // Call paths go through functions, whatever loops there are.
    let run = kernels.shop.path("run");
    let frames = |more: &[&str]| -> BTreeSet<Vec<String>> {
        Folded::export(&run, more, kernels.shop.dir()).samples.into_iter().map(|s| s.frames).collect()
    };
    assert_eq!(frames(&[]), frames(&["--no-loops"]));
}

#[test]
fn loops_of_cpp_have_their_shares() {
    Kernels::measure("g++ -O3 -g", "kernels.cpp").check(&[("each", "rounds", 1.0), ("inner", "row", 1.0)]);
}

#[test]
fn loops_of_fortran_have_their_shares() {
    if tools::have(&["gfortran"]) {
        Kernels::measure("gfortran -O3 -g", "kernels.f90").check(&[("l", "j", 1.0), ("find", "rounds", 1.0)]);
    }
}

#[test]
fn loops_of_a_sweep_go_under_their_functions() {
    let shop = Workshop::shared();
    build_with(&shop, "gcc -O3 -g", "loops/kernels.c", "kernels");
    let run =
        |text: &str| outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {text}"))).expect_code(0);
    run("sweep -n 1,2 --repeat 1 --launcher plain -e cpu -o sweep -- ./kernels 0.5");
    let extrap = |more: &str| run(&format!("export sweep --format extrap --metric cpu {more} -o -"));
    let (with, without) = (extrap(""), extrap("--no-loops"));
    assert!(with.stdout.contains("->loop at kernels.c:"), "{with}");
    assert!(!without.stdout.contains("loop at"), "{without}");
    // What is in loops is not lost: exclusive costs of all paths add up to the same.
    let total = |json: &Value| -> f64 {
        let paths = json["measurements"].as_object().expect("there are call paths");
        let points = paths.values().flat_map(|path| path["cpu"].as_array().expect("points is a list"));
        points
            .flat_map(|point| point["values"].as_array().expect("values is a list"))
            .filter_map(Value::as_f64)
            .sum()
    };
    let (with, without) = (total(&with.json()), total(&without.json()));
    assert!(with > 0.0 && (with - without).abs() < 1e-6 * with, "{with} and {without}");
    run("export sweep --format hpctoolkit -o with");
    run("export sweep --format hpctoolkit --no-loops -o without");
    let tree = |dir: &str| fs::metadata(shop.path(dir).join("meta.db")).expect("a tree is written").len();
    assert!(tree("without") < tree("with"));
}
