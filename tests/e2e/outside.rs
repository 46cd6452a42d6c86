//! Statically linked programs, which no preload reaches, are sampled from outside.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::{
    Folded, Outcome, Running, Workshop, bash, build, build_with, falloff, falloff_run, health, outcome,
    programs, tools, total,
};

const STATIC: &str = "gcc -O2 -g -static -pthread";

/// A workshop with programs built as static ones, or `None` where none can be built.
fn shop(programs: &[&str]) -> Option<Workshop> {
    let shop = Workshop::alone();
    if !tools::compiles(&shop, STATIC) {
        return None;
    }
    for name in programs {
        build_with(&shop, STATIC, &format!("{name}.c"), name);
    }
    Some(shop)
}

#[track_caller]
fn run(shop: &Workshop, options: &str, dir: &str, program: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" run {options} -o {dir} -- {program}")))
}

/// What a program says of its CPU time, and what its profile has: all, and the part without a path, in microseconds.
#[track_caller]
fn compare(end: &Outcome, folded: &Folded) {
    let said = end.stdout.lines().find_map(|line| line.strip_prefix("cpu_us "));
    let used: u64 = said.and_then(|us| us.parse().ok()).expect("no cpu_us");
    let unsampled = total(folded.unsampled.iter());
    let ratio = (total(folded.samples.iter()) + unsampled) as f64 / used as f64;
    assert!(
        (0.99..=1.01).contains(&ratio),
        "{ratio:.4} of {used} us; {unsampled} us without a path\n{end}\n{folded:?}"
    );
}

/// Microseconds under this function.
fn under(folded: &Folded, name: &str) -> u64 {
    let name = [name.to_owned()];
    total(folded.samples.iter().filter(|sample| sample.passes(&name)))
}

#[track_caller]
fn all_time_is_kept(rate: u32) {
    let Some(shop) = shop(&["threads"]) else { return };
    for (count, each_us) in [(1, 1_000_000), (4, 300_000), (1000, 300)] {
        let dir = format!("run{count}");
        let program = format!("./threads {count} {each_us}");
        let end = run(&shop, &format!("-e cpu@{rate}"), &dir, &program).expect_code(0);
        compare(&end, &Folded::export(&shop.path(&dir), &[], shop.dir()));
    }
    let long = health(&shop.path("run4"));
    assert!(long.partial * 100 <= long.samples && long.dropped == 0, "{long:?}");
}

#[test]
fn cpu_time_is_whole_at_200_samples_a_second() {
    all_time_is_kept(200);
}

#[test]
fn cpu_time_is_whole_at_1000_samples_a_second() {
    all_time_is_kept(1000);
}

#[test]
fn threads_have_their_shares() {
    let Some(shop) = shop(&["threads"]) else { return };
    run(&shop, "", "dir", "./threads 4 250000").expect_code(0);
    let folded = Folded::by_thread(&shop.path("dir"), "cpu");
    let mut threads: Vec<u64> =
        folded.samples.iter().filter(|s| s.passes(&["thread_work".into()])).map(|s| s.value).collect();
    threads.sort_unstable();
    let workers: Vec<u64> = threads.into_iter().filter(|us| *us > 50_000).collect();
    assert!(workers.len() >= 4, "{folded:?}");
    let all = total(folded.samples.iter()) + total(folded.unsampled.iter());
    assert!(under(&folded, "thread_work") * 100 >= all * 95, "{folded:?}");
    for path in folded.samples.iter().filter(|s| s.value > 50_000) {
        assert!(path.passes(&["thread".into(), "thread_work".into()]), "{path:?}");
    }
}

#[test]
fn forked_and_executed_programs_are_counted_once() {
    let Some(shop) = shop(&["starts"]) else { return };
    build(&shop, "work");
    let end = run(&shop, "", "dir", "./starts child ./work").expect_code(7);
    assert!(end.stdout.starts_with("done\ncpu_us "), "{end}");
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    compare(&end, &folded);
    let mut images: Vec<&str> = folded.processes().iter().filter_map(|p| p.split(':').next()).collect();
    images.sort_unstable();
    assert_eq!(images, ["starts", "starts", "work"], "{folded:?}");
    let shares = [under(&folded, "own_work"), under(&folded, "child_work"), under(&folded, "plain_work")];
    let all: u64 = shares.iter().sum();
    for (share, expected) in shares.into_iter().zip([3, 5, 3]) {
        let off = (share as f64 / all as f64 - f64::from(expected) / 11.0).abs();
        assert!(off < 0.05, "{shares:?}, expected in proportion 3, 5, 3\n{folded:?}");
    }
}

/// Children that end before they are sampled leave their parent its samples, and their time.
#[test]
fn a_program_with_many_short_children_is_seen() {
    let Some(shop) = shop(&["forks"]) else { return };
    let end = run(&shop, "", "dir", "./forks 2000").expect_code(0);
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    compare(&end, &folded);
    let said =
        end.stdout.lines().find_map(|line| line.strip_prefix("work_us ")).and_then(|us| us.parse().ok());
    let (work, found): (u64, u64) = (said.expect("no work_us"), under(&folded, "parent_work"));
    assert!(found * 100 >= work * 85 && found * 100 <= work * 115, "{found} of {work} us\n{folded:?}");
}

#[test]
fn a_program_that_becomes_a_dynamic_one_is_the_preloads() {
    let Some(shop) = shop(&["starts"]) else { return };
    build(&shop, "work");
    run(&shop, "", "dir", "./starts exec ./work").expect_code(7);
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    assert!(under(&folded, "child_work") > 100_000 && under(&folded, "plain_work") > 100_000, "{folded:?}");
    // The preload has the time of the image before its own, though no paths of it.
    assert_eq!(under(&folded, "own_work"), 0, "{folded:?}");
    assert_eq!(folded.processes().len(), 2, "{folded:?}");
}

#[test]
fn every_image_of_a_process_has_a_measurement() {
    let Some(shop) = shop(&["execs"]) else { return };
    let end = run(&shop, "-e cpu@1000", "dir", "./execs 9").expect_code(0);
    assert_eq!(end.stdout, "execs 9\n", "{end}");
    assert_eq!(fs::read_dir(shop.path("dir/measurements")).unwrap().count(), 10);
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    let (found, all) = (under(&folded, "some_work"), total(folded.samples.iter()));
    assert!(found * 10 >= all * 8, "{folded:?}");
}

#[test]
fn ends_are_the_programs_own() {
    let Some(shop) = shop(&["deaths", "terms"]) else { return };
    for (how, code) in [("segv", 139), ("sigkill", 137), ("_exit", 23), ("exec", 0), ("return", 0)] {
        let end = run(&shop, "", how, &format!("./deaths {how}"));
        assert_eq!(end.code(), code, "{end}");
        assert_eq!(end.status.signal().is_some(), code > 128, "{end}");
        assert_eq!(end.stderr, "", "{end}");
        let folded = Folded::export(&shop.path(how), &[], shop.dir());
        if how != "exec" {
            compare(&end, &folded);
        }
        assert!(under(&folded, "last_work") * 100 >= total(folded.samples.iter()) * 98, "{folded:?}");
    }
    let running = Running::start(&mut falloff_run(shop.dir(), &shop.path("terms-dir"), ["./terms"]));
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::SIGTERM);
    let end = running.wait().expect_code(5);
    assert_eq!(end.stdout, "ready\nasked 15\n", "{end}");
    assert!(under(&Folded::export(&shop.path("terms-dir"), &[], shop.dir()), "until_asked") > 300_000);
    let running = Running::start(&mut falloff_run(shop.dir(), &shop.path("killed"), ["./terms"]));
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::SIGKILL);
    // The program holds the output open: an end within the time limit shows that it is gone.
    assert_eq!(running.wait().code(), 137);
}

#[test]
fn a_position_independent_program() {
    let Some(shop) = shop(&[]) else { return };
    build_with(&shop, "gcc -O2 -g -static-pie", "work.c", "work");
    let end = run(&shop, "", "dir", "./work").expect_code(7);
    assert_eq!((end.stdout.as_str(), end.stderr.as_str()), ("done\n", ""), "{end}");
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    let path = ["main".into(), "plain_work".into()];
    let found = total(folded.samples.iter().filter(|sample| sample.passes(&path)));
    assert!(found * 100 >= total(folded.samples.iter()) * 96, "{folded:?}");
}

#[test]
fn what_is_not_cpu_time_is_not_measured_and_said() {
    let Some(shop) = shop(&["work"]) else { return };
    let end = run(&shop, "-e blocked", "dir", "./work").expect_code(7);
    assert_eq!(end.stderr.lines().count(), 1, "{end}");
    assert!(end.stderr.contains("no profile") && end.stderr.contains("CPU time alone"), "{end}");
}

/// A frame beyond what is copied of a stack is not guessed.
#[test]
fn a_stack_that_is_too_long_is_a_partial_unwind() {
    let Some(shop) = shop(&[]) else { return };
    shop.copy_folder(&programs().join("cases/30-deep-recursion"));
    outcome(&mut bash(shop.dir(), &format!("{STATIC} prog.c -o prog"))).expect_code(0);
    let end = run(&shop, "", "dir", "./prog").expect_code(0);
    assert_eq!(end.stdout, "depth 100001\n", "{end}");
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    let path = ["[partial]".into(), "descend".into(), "bottom".into()];
    let found = total(folded.samples.iter().filter(|sample| sample.passes(&path)));
    assert!(found * 100 >= total(folded.samples.iter()) * 96, "{folded:?}");
    let health = health(&shop.path("dir"));
    assert!(health.partial * 100 >= health.samples * 96, "{health:?}");
}

/// Where the system refuses perf, the program runs all the same, and one line says why there is no profile.
#[test]
fn a_refusal_costs_the_profile_only() {
    let Some(shop) = shop(&["work"]) else { return };
    if std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return;
    }
    // With ever more open files allowed, the first events that are refused are those of the last processor.
    let refused = (6..64).find_map(|limit| {
        let text = format!("ulimit -n {limit}; exec \"$FALLOFF\" run -o dir{limit} -- ./work");
        let end = outcome(&mut bash(shop.dir(), &text));
        (end.stdout == "done\n").then_some(end)
    });
    let end = refused.expect("no limit at which the program runs").expect_code(7);
    assert_eq!(end.stderr.lines().count(), 1, "{end}");
    assert!(end.stderr.contains("no profile") && end.stderr.contains("no more files can be opened"), "{end}");
    assert!(end.stderr.contains("ulimit -n"), "{end}");
}

/// What cannot be measured from outside is said in the report.
#[test]
fn events_that_are_not_measured_are_named() {
    let Some(shop) = shop(&["work"]) else { return };
    run(&shop, "-e cpu -e page-faults", "dir", "./work").expect_code(7);
    let view = outcome(&mut falloff(["view".as_ref(), shop.path("dir").as_os_str()])).expect_code(0);
    assert!(view.stdout.contains("`page-faults` is not measured"), "{view}");
    assert!(
        view.stdout.contains("CPU time by perf task-clock") && view.stdout.contains("waits not measured"),
        "{view}"
    );
}

/// Another user than root, who may be kept from seeing the kernel's part and locks less memory.
#[test]
fn another_user_is_measured_as_far_as_allowed() {
    if !tools::root() || !tools::have(&["setpriv"]) {
        return;
    }
    let Some(shop) = shop(&["work"]) else { return };
    fs::set_permissions(shop.dir(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_falloff"), shop.path("falloff")).unwrap();
    let text = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ./falloff run -o dir -- ./work";
    let end = outcome(bash(shop.dir(), text).env("HOME", shop.dir()).env("TMPDIR", shop.dir()));
    let end = end.expect_code(7);
    assert_eq!(end.stdout, "done\n", "{end}");
    // Where the system forbids perf to users altogether, one line says so.
    if end.stderr.is_empty() {
        let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
        assert!(under(&folded, "plain_work") > 100_000, "{folded:?}");
    } else {
        assert!(end.stderr.contains("no profile") && end.stderr.contains("perf_event_paranoid"), "{end}");
    }
}
