//! Time off the CPU is charged to the path that waited, and measuring it changes no wait.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde::Deserialize;

use crate::support::clocks::{Clocks, agree};
use crate::support::measured::nodes_with;
use crate::support::{Folded, Outcome, Workshop, bash, build, build_with, outcome, tools, total};

/// What waits.c says.
#[derive(Deserialize)]
struct Waited {
    thread: u64,
    paths: Vec<Path>,
    /// Run delay of the thread since it was made, what came before `main` included.
    life_delay_ns: u64,
    #[serde(flatten)]
    clocks: Clocks,
}

#[derive(Deserialize)]
struct Path {
    path: String,
    waits: u64,
    interrupted: u32,
    failed: u32,
    cut: u32,
    /// How long the waits were asked to be, and how much later they ended than they were due, others' work not counted.
    asked_ns: u64,
    late_ns: u64,
    #[serde(flatten)]
    clocks: Clocks,
}

/// What a process of two threads or a thread of a process says.
#[derive(Deserialize)]
struct Thread {
    thread: u64,
    #[serde(flatten)]
    clocks: Clocks,
}

/// The program's own account without falloff, to hold against that with it.
struct Known {
    shop: Workshop,
    plain: Waited,
}

impl Known {
    fn new() -> Self {
        Self::built_by("gcc -O2 -g -pthread")
    }

    fn built_by(compiler: &str) -> Self {
        let shop = Workshop::alone();
        build_with(&shop, compiler, "waits.c", "waits");
        fs::set_permissions(shop.dir(), fs::Permissions::from_mode(0o777)).expect("no open directory");
        let plain = said(&outcome(&mut bash(shop.dir(), "exec ./waits")).expect_code(0));
        Self { shop, plain }
    }

    /// Runs the program under falloff with `options`, itself started through `through`.
    fn check(&self, through: &str, options: &str) {
        let text = format!("rm -rf run; exec {through} \"$FALLOFF\" run {options} -o run -- ./waits");
        let end = outcome(&mut bash(self.shop.dir(), &text)).expect_code(0);
        let waited = said(&end);
        let blocked = Folded::by_thread(&self.shop.path("run"), "blocked");
        let preempted = Folded::by_thread(&self.shop.path("run"), "preempted");
        for (path, plain) in waited.paths.iter().zip(&self.plain.paths) {
            let name = path.path.as_str();
            assert_eq!((path.interrupted, path.failed, path.cut), (0, 0, 0), "{name}\n{end}");
            // The kernel counts a socket's limit in its ticks.
            let ticks = if name == "wait_recv_timed" { 4000 * path.waits } else { 0 };
            let (late, usual) = (path.late_ns / 1000, plain.late_ns / 1000);
            let allowed = usual + ticks + 2000.max(path.asked_ns / 20_000);
            assert!(late <= allowed, "{name}: late by {late} us, and {usual} us without falloff\n{end}");
            // The disk answers within a sampling period, so these few waits are met by chance.
            let slack = if name == "wait_fsync" { 20_000 } else { 1000 };
            let charged = total(blocked.program().filter(|sample| sample.passes(&[name.to_owned()])));
            agree(&format!("{name}: blocked"), charged, path.clocks.blocked_us(), slack);
        }
        agree("blocked in all", blocked.of_thread(waited.thread), waited.clocks.blocked_us(), 0);
        let measured = preempted.of_thread(waited.thread);
        let truth = measured.clamp(waited.clocks.delay_ns / 1000, waited.life_delay_ns / 1000);
        agree("preempted", measured, truth, 2000);
    }
}

fn said(end: &Outcome) -> Waited {
    serde_json::from_value(end.json()).unwrap_or_else(|e| panic!("{e}\n{end}"))
}

#[test]
fn waits_found_by_context_switches() {
    if tools::root() {
        Known::new().check("", "--waits switches");
    }
}

/// Ranks that outnumber the processors have no event for their switches unless that was asked for.
#[test]
fn ranks_that_outnumber_the_processors_are_left_to_calls() {
    let shop = Workshop::shared();
    if !tools::root() {
        return;
    }
    for (name, ranks, options, spares) in
        [("few", 1, "", false), ("many", 100_000, "", true), ("asked", 100_000, "--waits switches", false)]
    {
        for variable in ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"] {
            let run = shop.path(&format!("{name}-{variable}"));
            let text = format!(
                "{variable}={ranks} \"$FALLOFF\" run {options} -o {run:?} -- sleep 0.1 && \"$FALLOFF\" view {run:?}"
            );
            let view = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
            assert!(view.stdout.contains("waits by context switches"), "{name}: {view}");
            assert_eq!(view.stdout.contains("switches, then timed calls"), spares, "{name}: {view}");
        }
    }
}

#[test]
fn waits_found_by_calls() {
    Known::new().check("", "--waits calls");
}

#[test]
fn waits_found_by_a_timer() {
    let known = Known::new();
    known.check("", "--waits wall");
    known.check("", "--waits wall -e time@1000");
}

/// musl describes none of its frames, so waits are found by calls without being told.
#[test]
fn waits_of_a_musl_program() {
    if tools::have(&["musl-gcc"]) {
        // musl has no headers of the kernel's of its own.
        let headers = "dir=$(mktemp -d); for name in linux asm asm-generic; do for from in /usr/include /usr/include/*; \
                       do [ -e $from/$name/types.h ] && ln -sfn $from/$name $dir/$name; done; done; echo $dir";
        let headers =
            outcome(&mut bash(&crate::support::programs(), headers)).expect_code(0).stdout.trim().to_owned();
        Known::built_by(&format!("musl-gcc -O2 -g -pthread -isystem {headers}")).check("", "");
        fs::remove_dir_all(headers).expect("the links are ours");
    }
}

#[test]
fn waits_of_a_user_without_privilege() {
    if tools::root() && tools::have(&["setpriv"]) {
        let known = Known::new();
        // The build directory may be closed to others.
        let own = known.shop.path("falloff");
        fs::copy(env!("CARGO_BIN_EXE_falloff"), &own).expect("no copy of falloff");
        let nobody = "env FALLOFF=./falloff setpriv --reuid=65534 --regid=65534 --clear-groups";
        known.check(&format!("{nobody} bash -c 'exec \"$FALLOFF\" \"$@\"'"), "");
    }
}

/// Two threads on one processor: each is runnable half of the time.
#[test]
fn time_lost_to_a_rival_is_preempted_not_blocked() {
    let shop = Workshop::alone();
    build(&shop, "rivals");
    let cpu = "$(taskset -pc $$ | grep -o '[0-9]*$')";
    for (name, options) in [("switches", ""), ("calls", "--waits calls")] {
        let text = format!("exec taskset -c {cpu} \"$FALLOFF\" run {options} -o {name} -- ./rivals 500");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        let threads: Vec<Thread> =
            serde_json::from_value(end.json()).unwrap_or_else(|e| panic!("{e}\n{end}"));
        let metric = |metric| Folded::by_thread(&shop.path(name), metric);
        let (cpu, blocked, preempted) = (metric("cpu"), metric("blocked"), metric("preempted"));
        for Thread { thread, clocks } in threads {
            assert!(clocks.delay_ns > 100_000_000, "the threads did not share a processor\n{end}");
            agree("preempted", preempted.of_thread(thread), clocks.delay_ns / 1000, 2000);
            agree("cpu", cpu.of_thread(thread), clocks.cpu_ns / 1000, 2000);
            agree("blocked", blocked.of_thread(thread), clocks.blocked_us(), 5000);
        }
    }
}

/// A program that switches 100,000 times a second.
#[test]
fn a_storm_of_switches_is_slowed_little_and_counted_right() {
    let shop = Workshop::alone();
    build(&shop, "switches");
    let thread = |text: &str| -> Thread {
        let end = outcome(&mut bash(shop.dir(), text)).expect_code(0);
        serde_json::from_value(end.json()).unwrap_or_else(|e| panic!("{e}\n{end}"))
    };
    let mut slowed = Vec::new();
    for round in 0..7 {
        let measure = || thread(&format!("exec \"$FALLOFF\" run -o run{round} -- ./switches 60000"));
        let plain = || thread("exec ./switches 60000");
        let (measured, plain) = if round % 2 == 0 {
            let plain = plain();
            (measure(), plain)
        } else {
            (measure(), plain())
        };
        slowed.push(measured.clocks.wall_ns as f64 / plain.clocks.wall_ns as f64);
        let blocked = Folded::by_thread(&shop.path(&format!("run{round}")), "blocked");
        let own = format!(":{}", measured.thread);
        let charged = blocked
            .program()
            .filter(|sample| sample.process.ends_with(&own) && sample.passes(&["serve".to_owned()]));
        agree("blocked", total(charged), measured.clocks.blocked_us(), 0);
    }
    slowed.sort_by(f64::total_cmp);
    assert!(slowed[slowed.len() / 2] <= 1.20, "against plain runs: {slowed:?}");
}

/// What lull.c says.
#[derive(Deserialize)]
struct Lull {
    thread: u64,
    paths: Vec<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    path: String,
    #[serde(flatten)]
    clocks: Clocks,
}

/// After a storm only every 28th switch traps: twenty long waits, and another behind them, are told where they were all the same,
/// whichever of them traps.
#[test]
fn long_waits_after_a_storm_are_told_of_their_own_path() {
    let shop = Workshop::alone();
    build(&shop, "lull");
    for naps in (4000..4028).step_by(4) {
        let end = outcome(&mut bash(
            shop.dir(),
            &format!("exec \"$FALLOFF\" run -e time -o run{naps} -- ./lull {naps}"),
        ))
        .expect_code(0);
        let lull: Lull = serde_json::from_value(end.json()).unwrap_or_else(|e| panic!("{e}\n{end}"));
        let blocked = Folded::by_thread(&shop.path(&format!("run{naps}")), "blocked");
        for Timed { path, clocks } in &lull.paths {
            let charged = total(blocked.program().filter(|sample| sample.passes(std::slice::from_ref(path))));
            agree(&format!("{path} after {naps} naps"), charged, clocks.blocked_us(), 5000);
        }
        let all_us = lull.paths.iter().map(|timed| timed.clocks.blocked_us()).sum();
        agree("blocked in all", blocked.of_thread(lull.thread), all_us, 2000);
    }
}

/// What yields.c says.
#[derive(Debug, Deserialize)]
struct Yielded {
    work_ns: u64,
    wait_ns: u64,
}

/// Yields are looked at for their CPU time, whether waits are measured or not.
#[test]
fn threads_that_yield_are_charged_where_they_wait() {
    let shop = Workshop::alone();
    let program = build(&shop, "yields");
    for (name, options) in [
        ("cpu", "-e cpu"),
        ("calls", "--waits calls"),
        ("switches", "--waits switches"),
        ("thousand", "-e time@1000"),
        ("perf", "-e time@1000 --cpu-clock perf"),
    ] {
        let run = shop.path(name);
        let text = format!("exec \"$FALLOFF\" run {options} -o {run:?} -- {program:?} 1200");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        let truth: Yielded = serde_json::from_str(&end.stdout).expect("no times");
        let folded = Folded::export(&run, &[], shop.dir());
        let within = |name: &str| {
            total(folded.samples.iter().filter(|sample| sample.frames.iter().any(|frame| frame == name)))
        };
        agree(&format!("{name}: work"), within("work"), truth.work_ns / 1000, 60_000);
        agree(&format!("{name}: waiting"), within("wait_for_all"), truth.wait_ns / 1000, 60_000);
        let yielding = within("sched_yield");
        assert!(yielding * 2 > truth.wait_ns / 1000, "{name}: {yielding} us in sched_yield of {truth:?}");
        assert_eq!(nodes_with(&run, "preempted") > 0, name != "cpu", "{name}: nodes of waits");
        // Events at every switch would take longer than all the rest.
        let view = outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" view {run:?}"))).expect_code(0);
        assert_eq!(view.stdout.contains(", then CPU timer"), name == "thousand", "{name}: {view}");
    }
}

/// A program, or a library of its user's, may have a `sched_yield` of its own, which may begin like the C library's.
#[test]
fn a_yield_of_the_users_own_is_called() {
    let shop = Workshop::shared();
    let program = build(&shop, "yields");
    let own = "#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_long count;
#if defined(LIKE) && defined(__x86_64__)
int sched_yield(void) {
  int result;
  asm volatile(\"syscall\" : \"=a\"(result) : \"a\"(SYS_sched_yield) : \"rcx\", \"r11\", \"memory\");
  return count++, result;
}
#else
int sched_yield(void) { return count++, syscall(SYS_sched_yield); }
#endif
__attribute__((destructor)) static void off(void) { fprintf(stderr, \"own %ld\\n\", count); }
";
    fs::write(shop.path("own_yield.c"), own).unwrap();
    for (name, flag) in [("own_yield", ""), ("like_yield", "-DLIKE")] {
        let compile = format!("gcc -O2 -shared -fPIC {flag} own_yield.c -o {name}.so");
        outcome(&mut bash(shop.dir(), &compile)).expect_code(0);
        let text = format!("exec \"$FALLOFF\" run -o {name} -- {program:?} 100");
        let library = shop.path(&format!("{name}.so"));
        let end = outcome(bash(shop.dir(), &text).env("LD_PRELOAD", library)).expect_code(0);
        let count = end.stderr.lines().find_map(|line| line.strip_prefix("own ")).expect("no count");
        // Three of four threads yield for 2 ms in each of a hundred rounds.
        assert!(count.parse::<u64>().unwrap() > 1000, "{name}: {end}");
    }
}
