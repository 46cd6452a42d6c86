//! Programs that lose scalability for one reason each, by a known amount: the reason must come first, at its size.

use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::support::clocks::Clocks;
use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Percentage points by which a measured loss may differ.
const TOLERANCE: f64 = 3.0;
/// Part of its CPU time, as a fraction, for which a program may have been kept from its processors if its reason to wait is
/// to be its own, and if what it waits is to follow from its work alone.
const UNDISTURBED: f64 = 0.05;
const QUIET: f64 = 0.01;
/// Sweeps that are made at most until one is undisturbed.
const TRIES: u32 = 3;

/// What a rank or a thread says of one run.
#[derive(Deserialize)]
struct Said {
    combined: u64,
    working: Clocks,
    inside: Clocks,
}

/// A sweep of one cause.
struct Planted {
    shop: Workshop,
    metric: &'static str,
    /// Functions that work, and causes that the loss belongs to.
    work: &'static [&'static str],
    causes: &'static [&'static str],
}

impl Planted {
    /// Sweeps an MPI program; `None` if it cannot be built here.
    fn ranks(
        cause: &str,
        metric: &'static str,
        work: &'static [&'static str],
        causes: &'static [&'static str],
    ) -> Option<Planted> {
        if !tools::have(&["mpicc.openmpi", "mpirun"]) {
            return None;
        }
        let planted = Planted { shop: Workshop::alone(), metric, work, causes };
        build_with(&planted.shop, "mpicc.openmpi -O2 -g", "planted/ranks.c", "prog");
        planted.sweep(
            "",
            &format!("-n 1,2,4 --launcher mpirun -o sweep -- ./prog {cause}"),
            processors().min(2),
        );
        Some(planted)
    }

    /// Sweeps a program without MPI.
    fn alone(
        prefix: &str,
        options: &str,
        work: &'static [&'static str],
        causes: &'static [&'static str],
    ) -> Planted {
        let planted = Planted { shop: Workshop::alone(), metric: "time", work, causes };
        build_with(&planted.shop, "gcc -O2 -g -pthread", "planted/alone.c", "prog");
        planted.sweep(prefix, options, if prefix.is_empty() { processors().min(2) } else { 1 });
        planted
    }

    /// Sweeps until no other program had the processors at counts up to `most`.
    fn sweep(&self, prefix: &str, options: &str, most: u32) {
        let text = format!(
            "rm -rf sweep; exec {prefix} \"$FALLOFF\" sweep --strong --repeat 2 -e time@1000 {options}"
        );
        for _ in 0..TRIES {
            outcome(&mut bash(self.shop.dir(), &text)).expect_code(0);
            if (1..=most).all(|n| self.delay(n) <= UNDISTURBED) {
                break;
            }
        }
    }

    /// How long the program was kept from its processors, for its CPU time.
    fn delay(&self, n: u32) -> f64 {
        let sum = |of: fn(&Clocks) -> u64| self.seconds(n, |said| of(&said.working) + of(&said.inside));
        sum(|clocks| clocks.delay_ns) / sum(|clocks| clocks.cpu_ns)
    }

    fn score(&self, at: u32, options: &str) -> Value {
        self.score_of(self.metric, at, options)
    }

    fn score_of(&self, metric: &str, at: u32, options: &str) -> Value {
        let text = format!(
            "exec \"$FALLOFF\" score sweep --metric {metric} --base 1 --at {at} --format json {options}"
        );
        outcome(&mut bash(self.shop.dir(), &text)).expect_code(0).json()
    }

    /// The finding that costs most, which must follow this rule, at this function. None where other programs had the
    /// processors: then these are what the program waits for.
    #[track_caller]
    fn first(&self, at: u32, rule: &str, name: &str) -> Option<Value> {
        if self.metric != "cpu" && rule != "preemption" && self.delay(at) > UNDISTURBED {
            tools::skip(&format!("order of findings at {at}: other programs had the processors"));
            return None;
        }
        let score = self.score(at, "");
        // In runs this short, the start of MPI and what other programs take can cost more than what is planted.
        let is_own = |finding: &&Value| {
            let found = finding["rule"].as_str();
            found == Some(rule) || !matches!(found, Some("runtime" | "preemption"))
        };
        let first = score["findings"].as_array().unwrap().iter().find(is_own).unwrap_or(&Value::Null);
        let found = (first["rule"].as_str(), first["name"].as_str());
        assert!(
            found.0 == Some(rule) && found.1.is_some_and(|found| found.contains(name)),
            "at {at}: {:#} {:#}",
            score["findings"],
            score["causes"]
        );
        let text = format!("exec \"$FALLOFF\" score sweep --metric {} --at {at}", self.metric);
        let report = outcome(&mut bash(self.shop.dir(), &text)).expect_code(0);
        let title = first["title"].as_str().unwrap();
        assert!(report.stdout.contains(&format!("{title} (")), "no `{title}` in the report\n{report}");
        Some(first.clone())
    }

    /// What all ranks said, in each repetition.
    fn said(&self, n: u32) -> Vec<Vec<Said>> {
        let of_run = |repetition: u32| {
            let log =
                fs::read_to_string(self.shop.path(&format!("sweep/runs/n{n:04}-r{repetition}/output.log")));
            let log = log.unwrap();
            let lines = log.lines().filter(|line| line.starts_with('{'));
            let said: Vec<Said> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(said.len(), n as usize, "{log}");
            said
        };
        vec![of_run(1), of_run(2)]
    }

    /// A sum over what all said at a count, seconds in the mean run.
    fn seconds(&self, n: u32, of: impl Fn(&Said) -> u64) -> f64 {
        let runs = self.said(n);
        runs.iter().flatten().map(|said| of(said) as f64).sum::<f64>() / runs.len() as f64 * 1e-9
    }

    /// The loss at a count in percent of the work and the loss together, as measured.
    fn measured(&self, at: u32) -> f64 {
        let score = self.score(at, "");
        let causes = |side: &str| -> f64 {
            let all = score["causes"].as_array().unwrap().iter();
            let ours = all.filter(|cause| self.causes.contains(&cause["cause"].as_str().unwrap()));
            ours.map(|cause| cause[side].as_f64().unwrap()).sum()
        };
        // Time without a processor is no part of the work.
        let cpu = self.score_of("cpu", at, "");
        let work: f64 = self.work.iter().map(|name| work_at(&cpu, name)).sum();
        let lost = causes("work_at_seconds");
        100.0 * (lost - causes("work_base_seconds")) / (lost + work)
    }

    /// The same as the program's own clocks have it.
    fn told(&self, at: u32) -> f64 {
        let inside = |n| self.seconds(n, |said| said.inside.wall_ns.saturating_sub(said.inside.delay_ns));
        let lost = inside(at);
        100.0 * (lost - inside(1)) / (lost + self.seconds(at, |said| said.working.cpu_ns))
    }

    /// The measured loss must be that which the program's clocks tell, and that in closed form where no more processes than
    /// processors ran and no other program had these.
    #[track_caller]
    fn has_size(&self, at: u32, closed: f64) {
        let found = self.measured(at);
        near("its clocks", found, self.told(at));
        if at <= processors() && self.delay(at) < QUIET {
            near("closed form", found, closed);
        }
    }
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// Work of a function with all it calls at the compared count, seconds, over all paths in which it is the outermost.
fn work_at(score: &Value, function: &str) -> f64 {
    let contexts = score["contexts"].as_array().unwrap().iter();
    let outermost = |context: &&Value| {
        let path = context["path"].as_array().unwrap();
        context["name"] == function && path.iter().filter(|name| **name == function).count() == 1
    };
    contexts.filter(outermost).map(|context| context["work_at_incl_seconds"].as_f64().unwrap()).sum()
}

#[track_caller]
fn near(what: &str, found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= TOLERANCE, "{found:.2} %, by {what} {wanted:.2} % ± {TOLERANCE}");
}

/// What all ranks wait for the one with most work, in percent of work and waiting together.
fn waiting(work: &[f64]) -> f64 {
    let most = work.iter().copied().fold(0.0, f64::max);
    let all = most * work.len() as f64;
    100.0 * (all - work.iter().sum::<f64>()) / all
}

const COLLECTIVES: &[&str] = &["collective_waiting", "collective_rest"];

#[test]
fn replicated_work() {
    let Some(planted) = Planted::ranks("replicated", "cpu", &["shared"], &["replicated_work"]) else {
        return;
    };
    for n in [2, 4] {
        planted.first(n, "replicated_work", "again");
        let p = f64::from(n);
        let closed = 100.0 * 200.0 * (p - 1.0) / (300.0 + 200.0 * p);
        near("closed form", planted.measured(n), closed);
    }
}

#[test]
fn a_serial_section() {
    let Some(planted) = Planted::ranks("serial", "time", &["shared", "serial"], COLLECTIVES) else { return };
    for n in [2, 4] {
        let shared = 1800.0 / f64::from(n);
        let work: Vec<f64> = (0..n).map(|rank| shared + if rank == 0 { 600.0 } else { 0.0 }).collect();
        planted.has_size(n, waiting(&work));
    }
    let Some(first) = planted.first(2, "serial_section", "serial") else { return };
    assert_eq!(first["participants"], serde_json::json!([0]), "{first:#}");
    // Charged to what causes it, the waiting is at the serial section.
    let (score, charged) = (planted.score(2, ""), planted.score(2, "--charge cause"));
    let causes = charged["causes"].as_array().unwrap();
    let waits = causes.iter().find(|cause| cause["cause"] == "collective_waiting").unwrap();
    let place = waits["places"][0]["id"].as_u64().unwrap();
    assert_eq!(charged["contexts"][place as usize]["name"], "serial", "{waits:#}");
    let more = work_at(&charged, "serial") - work_at(&score, "serial");
    let waited = waits["work_at_seconds"].as_f64().unwrap();
    assert!(more > 0.8 * waited, "serial has {more} s more, {waited} s are waited");
    let total = |score: &Value| score["total_excess_percent"].as_f64().unwrap();
    assert!((total(&charged) - total(&score)).abs() < 1e-9);
}

#[test]
fn imbalance_on_one_rank() {
    let Some(planted) = Planted::ranks("imbalance", "time", &["uneven"], COLLECTIVES) else { return };
    for n in [2, 4] {
        let work: Vec<f64> = (0..n).map(|rank| if rank == n - 1 { 2.0 } else { 1.0 }).collect();
        planted.has_size(n, waiting(&work));
    }
    let Some(first) = planted.first(2, "load_imbalance", "uneven") else { return };
    assert_eq!(first["participants"], serde_json::json!([1]), "{first:#}");
}

#[test]
fn random_imbalance() {
    let Some(planted) = Planted::ranks("random", "time", &["late_by_turns"], COLLECTIVES) else { return };
    // As ranks.c shares the steps out: 2541 units of work and waiting for 1800 of work at 2 ranks.
    planted.has_size(2, 100.0 * 741.0 / 2541.0);
    planted.has_size(4, 100.0 * 1179.0 / 2979.0);
    planted.first(2, "random_imbalance", "MPI_Barrier");
}

#[test]
fn a_collective_that_grows() {
    let Some(planted) = Planted::ranks("collective", "cpu", &["shared"], &[]) else { return };
    for n in [2u32, 4] {
        planted.first(n, "collective_cost", "MPI_Allreduce");
        let combined: u64 = planted.said(n)[0].iter().map(|said| said.combined).sum();
        assert_eq!(combined, u64::from(20 * n * n.ilog2()), "another algorithm");
        let (score, combining) = (planted.score(n, ""), 5.0 * combined as f64);
        let (combine, shared) = (work_at(&score, "combine"), work_at(&score, "shared"));
        near("closed form", 100.0 * combine / (combine + shared), 100.0 * combining / (combining + 300.0));
    }
}

#[test]
fn many_small_reductions() {
    let Some(planted) = Planted::ranks("reductions", "cpu", &["shared"], COLLECTIVES) else { return };
    for n in [2, 4] {
        let inside = |n| planted.seconds(n, |said| said.inside.cpu_ns);
        let told = (inside(n) - inside(1)) / (inside(n) + planted.seconds(n, |said| said.working.cpu_ns));
        near("its clocks", planted.measured(n), 100.0 * told);
    }
    // Of two ranks one spins while the other has no processor, which makes their times uneven.
    if planted.delay(2) <= UNDISTURBED
        && let Some(first) = planted.first(2, "many_small_collectives", "MPI_Allreduce")
    {
        assert_eq!(first["evidence"]["call_sites"], 3, "{first:#}");
    }
}

#[test]
fn input() {
    let Some(planted) = Planted::ranks("input", "time", &["shared"], &["io"]) else { return };
    for n in [2, 4] {
        // Twenty blocks of 20 ms on every rank.
        let p = f64::from(n);
        let closed = 0.4 * (p - 1.0) / (0.4 * p + planted.seconds(n, |said| said.working.cpu_ns));
        planted.has_size(n, 100.0 * closed);
    }
    planted.first(2, "io", "read");
}

#[test]
fn a_lock() {
    let options = "-n 1,2,4 --launcher threads -o sweep -- ./prog lock";
    let planted = Planted::alone("", options, &["under_lock", "outside"], &["lock"]);
    for n in [2, 4] {
        // A thread waits until all others have had the lock, for two units each, less the unit that it works without it.
        let waits = 200.0 * (2.0 * (f64::from(n) - 1.0) - 1.0);
        planted.has_size(n, 100.0 * waits / (waits + 600.0));
        planted.first(n, "lock", "mutex_lock");
    }
}

#[test]
fn more_processes_than_processors() {
    if !tools::have(&["taskset"]) {
        return;
    }
    let one = "taskset -c $(taskset -pc $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/')";
    let options = "-n 1,2,4 --launcher plain -o sweep -- ./prog share";
    let planted = Planted::alone(one, options, &["share"], &["preemption"]);
    for n in [2, 4] {
        let found = planted.measured(n);
        let delay = |n| planted.seconds(n, |said| said.working.delay_ns);
        let cpu = planted.seconds(n, |said| said.working.cpu_ns);
        near("its clocks", found, 100.0 * (delay(n) - delay(1)) / (delay(n) + cpu));
        if planted.delay(1) < QUIET {
            near("closed form", found, 100.0 * (f64::from(n) - 1.0) / f64::from(n));
            planted.first(n, "preemption", "");
        }
    }
}
