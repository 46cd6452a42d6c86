//! `falloff run` is transparent: the program's streams, status and signals are its own.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::Signal;

use crate::support::{Folded, Running, Workshop, bash, build, falloff, falloff_run, outcome, total};

#[test]
fn streams_and_status_are_the_programs_own() {
    let shop = Workshop::shared();
    let program = build(&shop, "speak");
    for status in [0, 1, 3, 77, 126, 255] {
        let text = format!("printf 'a line\\n' | {program:?} {status}");
        let plain = outcome(&mut bash(shop.dir(), &text));
        let text = format!("printf 'a line\\n' | \"$FALLOFF\" run -o dir{status} -- {program:?} {status}");
        let measured = outcome(&mut bash(shop.dir(), &text));
        assert_eq!(measured.code(), plain.code(), "{measured}");
        assert_eq!(measured.stdout, plain.stdout, "{measured}");
        assert!(measured.stderr.contains(&plain.stderr), "{measured}");
        let own = measured.stderr.lines().count() - plain.stderr.lines().count();
        assert!(own <= 1, "falloff says more than one line\n{measured}");
    }
}

#[test]
fn without_an_output_directory_one_is_made() {
    let shop = Workshop::shared();
    build(&shop, "work");
    let measured = outcome(falloff(["run", "./work"]).current_dir(shop.dir())).expect_code(7);
    assert_eq!(measured.stdout, "done\n", "{measured}");
    outcome(falloff(["run", "./work"]).current_dir(shop.dir())).expect_code(7);
    for name in ["falloff-work-1", "falloff-work-2"] {
        assert!(shop.path(name).is_dir(), "{name} is missing\n{measured}");
    }
}

#[test]
fn a_program_is_found_on_the_search_path() {
    let shop = Workshop::shared();
    outcome(&mut falloff_run(shop.dir(), &shop.path("dir"), ["true"])).expect_code(0);
}

#[test]
fn sigterm_is_forwarded_and_the_programs_answer_kept() {
    let shop = Workshop::shared();
    let program = build(&shop, "terms");
    let running = Running::start(&mut falloff_run(shop.dir(), &shop.path("dir"), [&program]));
    thread::sleep(Duration::from_millis(700));
    running.signal(Signal::SIGTERM);
    let end = running.wait().expect_code(5);
    assert_eq!(end.stdout, "ready\nasked 15\n", "{end}");
}

#[test]
fn falloff_dies_of_the_signal_that_killed_the_program() {
    let shop = Workshop::shared();
    let program = build(&shop, "deaths").into_os_string();
    for (how, signal) in [("sigkill", 9), ("segv", 11), ("abort", 6)] {
        let end = outcome(&mut falloff_run(shop.dir(), &shop.path(how), [program.as_os_str(), how.as_ref()]));
        assert_eq!(end.status.signal(), Some(signal), "{end}");
    }
}

#[test]
fn the_program_does_not_outlive_falloff() {
    let shop = Workshop::shared();
    let program = build(&shop, "terms");
    let running = Running::start(&mut falloff_run(shop.dir(), &shop.path("dir"), [&program]));
    thread::sleep(Duration::from_millis(700));
    running.signal(Signal::SIGKILL);
    // The program holds the output open: an end within the time limit shows that it is gone.
    assert_eq!(running.wait().code(), 137);
}

#[test]
fn every_death_leaves_the_samples() {
    let shop = Workshop::alone();
    let program = build(&shop, "deaths").into_os_string();
    for (how, code) in [
        ("sigkill", 137),
        ("segv", 139),
        ("abort", 134),
        ("_exit", 23),
        ("exit_group", 24),
        ("quick_exit", 25),
        ("exec", 0),
        ("return", 0),
    ] {
        let dir = shop.path(how);
        let end = outcome(&mut falloff_run(shop.dir(), &dir, [program.as_os_str(), how.as_ref()]));
        assert_eq!(end.code(), code, "{end}");
        let used: u64 = end.stdout.lines().find_map(|l| l.strip_prefix("cpu_us ")).unwrap().parse().unwrap();
        let folded = Folded::export(&dir, &[], shop.dir());
        let kept = total(folded.program().filter(|sample| sample.ends_in("last_work")));
        assert!(kept * 100 >= used * 95, "{how}: {kept} of {used} us of CPU time kept\n{folded:?}");
        assert!(kept * 100 <= used * 102, "{how}: {kept} us, but only {used} us were used\n{folded:?}");
    }
}

#[test]
fn a_shell_that_starts_programs_changes_nothing() {
    let shop = Workshop::shared();
    build(&shop, "speak");
    let script =
        "x=$(echo one | ./speak 4); echo \"$x $?\"; echo two | ./speak 0 | tr a-z A-Z; (exit 3); echo $?";
    let plain = outcome(&mut bash(shop.dir(), script)).expect_code(0);
    let measured =
        outcome(&mut falloff_run(shop.dir(), &shop.path("dir"), ["bash", "-c", script])).expect_code(0);
    assert_eq!(measured.stdout, plain.stdout, "{measured}");
}

#[test]
fn the_environment_shows_no_trace_beyond_the_preload() {
    let shop = Workshop::shared();
    let measured = outcome(&mut falloff_run(shop.dir(), &shop.path("dir"), ["env"])).expect_code(0);
    let plain = outcome(&mut bash(shop.dir(), "exec env")).expect_code(0);
    let names = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned()).collect()
    };
    let known = names(&plain.stdout);
    let added: Vec<_> = names(&measured.stdout)
        .into_iter()
        .filter(|name| !known.contains(name) && !name.starts_with("FALLOFF") && name != "LD_PRELOAD")
        .collect();
    assert!(added.is_empty(), "{added:?}");
}

#[test]
fn a_preload_of_the_users_own_stays() {
    let shop = Workshop::shared();
    let program = build(&shop, "speak");
    fs::write(
        shop.path("own.c"),
        "#include <stdio.h>\n__attribute__((constructor)) static void on(void) { puts(\"own\"); }\n",
    )
    .unwrap();
    outcome(&mut bash(shop.dir(), "gcc -shared -fPIC own.c -o own.so")).expect_code(0);
    let mut command =
        bash(shop.dir(), &format!("exec \"$FALLOFF\" run -o dir -- env LD_PRELOAD_SEEN=1 {program:?} 0"));
    let end = outcome(command.env("LD_PRELOAD", shop.path("own.so"))).expect_code(0);
    assert!(end.stdout.lines().any(|line| line == "own"), "{end}");
}

#[test]
fn input_reaches_the_program() {
    let shop = Workshop::shared();
    let program = build(&shop, "speak");
    let mut command = falloff_run(shop.dir(), &shop.path("dir"), [&program]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"typed\n");
}

/// The application can use the sampler's signal for itself, as if nobody else did.
#[test]
fn a_signal_that_both_use_reaches_both() {
    let shop = Workshop::alone();
    let program = build(&shop, "same_signal").into_os_string();
    let dir = shop.path("handled");
    let end = outcome(&mut falloff_run(shop.dir(), &dir, [program.as_os_str()])).expect_code(0);
    assert_eq!(end.stdout, "fresh 1 kept 1 timer 1 queue 1\n", "{end}");
    let end =
        outcome(&mut falloff_run(shop.dir(), &shop.path("dies"), [program.as_os_str(), "default".as_ref()]));
    assert_eq!(end.code(), 128 + 61, "{end}");
    for dir in [dir, shop.path("dies")] {
        let folded = Folded::export(&dir, &[], shop.dir());
        assert!(total(folded.program().filter(|sample| sample.ends_in("own_work"))) > 100_000, "{folded:?}");
    }
}

/// Where address space is limited, the program keeps what it needs of it, and is measured in what is left.
#[test]
fn a_limit_of_address_space_is_left_to_the_program() {
    let shop = Workshop::alone();
    build(&shop, "space");
    let text =
        "ulimit -v 200000; exec \"$FALLOFF\" run -o dir -- bash -c 'ulimit -v 160000; exec ./space 130'";
    let end = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(end.stdout, "room\n", "{end}");
    let folded = Folded::export(&shop.path("dir"), &[], shop.dir());
    assert!(total(folded.program().filter(|sample| sample.ends_in("roomy_work"))) > 100_000, "{folded:?}");
}

/// What the program itself has left is compressed when it has ended, and read like any other.
#[test]
fn the_measurement_is_sealed_at_the_end() {
    let shop = Workshop::shared();
    build(&shop, "threads");
    outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" run -o sealed -- ./threads 40 2000")).expect_code(0);
    let text = "file=$(echo sealed/measurements/*.falloff); stat -c %s \"$file\"; zcat <\"$file\" | wc -c";
    let sizes = outcome(&mut bash(shop.dir(), text)).expect_code(0).stdout.clone();
    let sizes: Vec<u64> = sizes.lines().map(|line| line.parse().expect("no size")).collect();
    assert!(sizes.len() == 2 && 2 * sizes[0] < sizes[1], "{sizes:?}");
    let folded = Folded::by_thread(&shop.path("sealed"), "cpu");
    // Threads as short as these end before their first sample.
    let cpu = total(folded.samples.iter().chain(&folded.unsampled));
    assert!(cpu >= 60_000, "{cpu} us of 40 threads of 2 ms");
}
