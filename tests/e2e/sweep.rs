//! `falloff sweep`: every processor count is run once, kept, and not run again.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use nix::sys::signal::Signal;

use crate::support::{Outcome, Running, Workshop, bash, outcome};

/// A program that notes each of its runs and fails where there are `FAIL_AT` processes.
const NOTED: &str = "#!/bin/sh\n[ \"$PMI_RANK\" = 0 ] && echo \"$PMI_SIZE $RANK $WORLD_SIZE $*\" >> runs\n\
                     echo \"said by rank $PMI_RANK\"\n[ \"$PMI_SIZE\" != \"$FAIL_AT\" ]\n";

fn workshop() -> Workshop {
    let shop = Workshop::shared();
    fs::write(shop.path("noted"), NOTED).unwrap();
    outcome(&mut bash(shop.dir(), "chmod +x noted")).expect_code(0);
    shop
}

fn runs(shop: &Workshop) -> Vec<String> {
    let text = fs::read_to_string(shop.path("runs")).unwrap_or_default();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn sweep(shop: &Workshop, args: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" sweep {args}")))
}

#[test]
fn each_count_and_repetition_is_run_once() {
    let shop = workshop();
    sweep(&shop, "-n 1,2 --repeat 2 --launcher plain -o sweep -- ./noted {n}").expect_code(0);
    assert_eq!(runs(&shop), ["1 0 1 1", "1 0 1 1", "2 0 2 2", "2 0 2 2"]);
    assert_eq!(count(&shop.path("sweep"), "said by rank 1"), 2, "the output of each run is kept in a log");
}

/// How often a text stands in the files of a directory, all levels.
fn count(dir: &Path, text: &str) -> usize {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let of = |path: &Path| {
        if path.is_dir() {
            count(path, text)
        } else {
            String::from_utf8_lossy(&fs::read(path).unwrap()).matches(text).count()
        }
    };
    entries.map(|entry| of(&entry.path())).sum()
}

#[test]
fn the_same_command_goes_on_where_it_stopped() {
    let shop = workshop();
    let text = "exec \"$FALLOFF\" sweep -n 1,2,4 --repeat 1 --launcher plain -o sweep -- ./noted";
    outcome(bash(shop.dir(), text).env("FAIL_AT", "2")).expect_code(4);
    assert_eq!(runs(&shop).len(), 3);
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(runs(&shop), ["1 0 1 ", "2 0 2 ", "2 0 2 ", "4 0 4 "], "only what failed is run again");
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(runs(&shop).len(), 4, "a whole sweep is not run again");
}

#[test]
fn an_interrupted_sweep_keeps_its_finished_runs() {
    let shop = workshop();
    fs::write(shop.path("slow"), format!("{NOTED}\n[ \"$PMI_SIZE\" = 1 ] || [ -e quick ] || sleep 60\n"))
        .unwrap();
    outcome(&mut bash(shop.dir(), "chmod +x slow")).expect_code(0);
    let text = "exec \"$FALLOFF\" sweep -n 1,2 --repeat 1 --launcher plain -o sweep -- ./slow";
    let running = Running::start(&mut bash(shop.dir(), text));
    let begun = Instant::now();
    while runs(&shop).len() < 2 && begun.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::SIGINT);
    let end = running.wait();
    assert_eq!(end.status.signal(), Some(2), "{end}");
    assert!(end.seconds < 30.0, "the run in flight was waited for\n{end}");
    fs::write(shop.path("quick"), "").unwrap();
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(runs(&shop), ["1 0 1 ", "2 0 2 ", "2 0 2 "], "only the interrupted run is made again");
}

#[test]
fn a_failed_run_is_noted_and_does_not_stop_the_others() {
    let shop = workshop();
    let text = "exec \"$FALLOFF\" sweep -n 1,2,4 --repeat 1 --launcher plain -o sweep -- ./noted";
    let end = outcome(bash(shop.dir(), text).env("FAIL_AT", "2")).expect_code(4);
    assert_eq!(runs(&shop).len(), 3, "{end}");
    assert!(end.stderr.contains("2"), "the failed run must be named\n{end}");
}

#[test]
fn a_template_starts_the_program() {
    let shop = workshop();
    fs::write(shop.path("launch"), "n=$1; shift\nPMI_RANK=0 PMI_SIZE=$n \"$@\"\n").unwrap();
    sweep(&shop, "-n 1,3 --repeat 1 --launcher 'sh ./launch {n}' -o sweep -- ./noted").expect_code(0);
    assert_eq!(runs(&shop).len(), 2, "{:?}", runs(&shop));
    assert!(runs(&shop)[1].starts_with('3'), "{:?}", runs(&shop));
}

#[test]
fn threads_set_the_number_of_threads() {
    let shop = Workshop::shared();
    let args = "-n 1,2 --repeat 1 --launcher threads -o sweep -- sh -c 'echo $OMP_NUM_THREADS >> runs'";
    sweep(&shop, args).expect_code(0);
    assert_eq!(runs(&shop), ["1", "2"]);
}

#[test]
fn a_dry_run_shows_the_commands_and_runs_none() {
    let shop = workshop();
    let end = sweep(&shop, "-n 1,2,4 --launcher mpirun --dry-run -o sweep -- ./noted {n}").expect_code(0);
    for n in ["1", "2", "4"] {
        let shown = end.stdout.lines().any(|l| l.contains("mpirun") && l.ends_with(&format!("./noted {n}")));
        assert!(shown, "no command for {n}\n{end}");
    }
    assert!(runs(&shop).is_empty() && !shop.path("sweep").exists(), "a dry run leaves nothing behind");
}

#[test]
fn a_directory_of_another_sweep_is_refused() {
    let shop = workshop();
    sweep(&shop, "-n 1 --repeat 1 --launcher plain -o sweep -- ./noted").expect_code(0);
    let end = sweep(&shop, "-n 1 --repeat 1 --launcher plain -o sweep -- ./noted other").expect_code(2);
    assert!(end.stderr.contains("sweep") && end.stderr.contains("hint:"), "{end}");
    assert_eq!(runs(&shop).len(), 1);
}
