//! Many processes, threads, signals, loads and exceptions under the sampler: no program may be lost, none may hang,
//! and every sample that was counted must be in the profile.

use std::env;

use crate::support::folded::Folded;
use crate::support::source::Source;
use crate::support::{Health, Workshop, bash, build, build_with, health, outcome, programs, total};

/// Samples a second in a storm.
const STORM_RATE: u32 = 2000;

/// How long a storm lasts: 2 s, or what the variable FALLOFF_TEST_STORM_SECONDS says.
fn storm_seconds() -> u32 {
    env::var("FALLOFF_TEST_STORM_SECONDS").map_or(2, |text| text.parse().expect("no number of seconds"))
}

/// Runs a program under the chosen source; it must end in time, well, and with these words. Gives the health of the
/// run, whose samples must all be in the profile.
#[track_caller]
fn weather(shop: &Workshop, source: Source, rate: u32, program: &str, says: &str) -> Health {
    let limit = storm_seconds() + 120;
    let options = source.options(rate);
    let text = format!("exec timeout {limit} \"$FALLOFF\" run {options} -o {source:?} -- {program}");
    let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(end.stdout.trim_end(), says, "{end}");
    let dir = shop.path(&format!("{source:?}"));
    let health = health(&dir);
    let samples =
        Folded::try_export(&dir, "samples", "none", &[], shop.dir()).unwrap_or_else(|why| panic!("{why}"));
    let counted = health.samples + health.wait_samples;
    assert_eq!(counted, total(samples.samples.iter()), "samples counted and samples in the profile\n{end}");
    let booked = health.cpu_booked_ns as f64 / health.cpu_used_ns as f64;
    assert!((0.99..=1.01).contains(&booked), "{booked:.4} of the CPU time is in the profile\n{health:?}");
    health
}

/// Every image of a chain of execs lives and is measured: the chain's CPU time is in the profile.
#[track_caller]
fn execs(source: Source) {
    let shop = Workshop::alone();
    build(&shop, "execs");
    let health = weather(&shop, source, 1000, "./execs 1000", "execs 1000");
    // The first image and those that it turned into.
    assert_eq!(health.processes, 1001, "{health:?}");
}

#[test]
fn a_thousand_execs_by_timer() {
    execs(Source::Timer);
}

#[test]
fn a_thousand_execs_by_perf() {
    execs(Source::Perf);
}

#[test]
fn a_thousand_execs_with_switches() {
    execs(Source::Switches);
}

#[test]
fn a_thousand_execs_with_calls() {
    execs(Source::Calls);
}

#[test]
fn a_storm_of_threads_and_forks_loses_none() {
    let shop = Workshop::alone();
    build(&shop, "storm");
    let health = weather(&shop, Source::chosen(), 200, "./storm 50", "right 600 of 600");
    // A child that ends before its first sample leaves no file; those that start threads do.
    assert!(health.processes > 100 && health.dropped == 0, "{health:?}");
}

#[track_caller]
fn storm(kind: &str) {
    let shop = Workshop::alone();
    build_with(&shop, "g++ -O2 -g -pthread", "storms.cpp", "storms");
    let program = format!("./storms {kind} {}", storm_seconds());
    weather(&shop, Source::chosen(), STORM_RATE, &program, "all right");
}

#[test]
fn a_storm_of_memory() {
    storm("memory");
}

#[test]
fn a_storm_of_threads() {
    storm("threads");
}

#[test]
fn a_storm_of_forks() {
    storm("forks");
}

#[test]
fn a_storm_of_exceptions() {
    storm("exceptions");
}

#[test]
fn a_storm_of_signals() {
    storm("signals");
}

/// A look at the list of modules reads them; it must not meet one that another thread is unloading.
#[test]
fn a_storm_of_loads() {
    let shop = Workshop::alone();
    build(&shop, "loads");
    for plugin in ["plug_a.so", "plug_b.so"] {
        build_with(&shop, "gcc -O2 -g -shared -fPIC -DPLUGIN", "loads.c", plugin);
    }
    let program = format!("./loads {}", storm_seconds());
    weather(&shop, Source::chosen(), STORM_RATE, &program, "many of both");
}

#[test]
fn exceptions_and_loading_never_hang() {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases/28-exceptions-dlopen"));
    let text = "gcc -O2 -g -shared -fPIC plug.c -o plug.so && g++ -O2 -g prog.cpp -o prog -pthread -ldl";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let options = Source::chosen().options(1000);
    for round in 0..20 {
        let text = format!("exec timeout 30 \"$FALLOFF\" run {options} -o dir{round} -- ./prog");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    }
}
