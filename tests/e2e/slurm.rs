//! Sweeps under Slurm: `srun` inside an allocation and without one, and batch jobs.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::{Running, Slurm, Workshop, build_with, outcome, sweeps, tools};

/// What a sweep needs beside what it measures.
const TOOLS: &[&str] = &["srun", "sbatch", "scontrol", "mpicc.mpich", "runuser"];

/// A program that ends at once if there is a file `quick`, and otherwise not before a minute has gone.
const SLOW: &str = "#!/bin/sh\n[ \"$SLURM_PROCID\" = 0 ] && echo $SLURM_NTASKS >> begun\n\
                    [ $SLURM_NTASKS = 1 ] || [ -e quick ] || sleep 60\n";

/// One Slurm for all, because it takes a while to start.
#[test]
fn slurm_runs_sweeps() {
    if !tools::have(TOOLS) || !tools::root() {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpicc.mpich -O2 -g", "ranks.c", "ranks");
    let slurm = Slurm::start(&shop);
    steps(&shop, &slurm);
    batch_jobs(&shop, &slurm);
    foreign_mpi(&shop, &slurm);
    for (signal, dir) in [(Signal::SIGKILL, "killed"), (Signal::SIGINT, "interrupted")] {
        stopped(&shop, &slurm, signal, dir);
    }
}

fn steps(shop: &Workshop, slurm: &Slurm) {
    let sweep = |launcher: &str, dir: &str| {
        format!("\"$FALLOFF\" sweep -n 1,2,4,8 --repeat 1 --launcher {launcher} -o {dir} -- ./ranks 0.3")
    };
    outcome(&mut slurm.bash(shop.dir(), &sweep("srun", "srun"))).expect_code(0);
    sweeps::is_whole(&shop.path("srun"), &[1, 2, 4, 8], "walk", |text| slurm.bash(shop.dir(), text));
    let inside = format!("salloc -Q -n 2 {}", sweep("srun", "allocated").replace("1,2,4,8", "1,2"));
    outcome(&mut slurm.bash(shop.dir(), &inside)).expect_code(0);
    sweeps::is_whole(&shop.path("allocated"), &[1, 2], "walk", |text| slurm.bash(shop.dir(), text));
}

fn batch_jobs(shop: &Workshop, slurm: &Slurm) {
    let sweep = |more: &str| {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n 1,2,4,8 --repeat 1 --launcher sbatch --sbatch '{more}' -o batch -- ./ranks 0.3"
        );
        outcome(&mut slurm.bash(shop.dir(), &text))
    };
    let end = sweep("--partition=all --time=5").expect_code(0);
    assert!(
        end.stderr.contains("job ") && end.stderr.contains(" RUNNING"),
        "the states of jobs are told\n{end}"
    );
    sweeps::is_whole(&shop.path("batch"), &[1, 2, 4, 8], "walk", |text| slurm.bash(shop.dir(), text));
    let end = sweep("--partition=all --time=5").expect_code(0);
    assert_eq!(end.stderr.matches("kept from before").count(), 4, "{end}");
    sweep("--partition=other").expect_code(2);

    let refused = "exec \"$FALLOFF\" sweep -n 1 --repeat 1 --launcher sbatch --sbatch=--partition=none -o refused -- true";
    let end = outcome(&mut slurm.bash(shop.dir(), refused)).expect_code(4);
    assert!(end.stderr.contains("nvalid partition"), "{end}");
    let failing = "exec \"$FALLOFF\" sweep -n 2 --repeat 1 --launcher sbatch -o failing -- sh -c 'exit 7'";
    let end = outcome(&mut slurm.bash(shop.dir(), failing)).expect_code(4);
    assert!(end.stderr.contains("exit status 7"), "{end}");
    let late = "exec \"$FALLOFF\" sweep -n 1 --repeat 1 --launcher sbatch --timeout 1s -o late -- sleep 60";
    let end = outcome(&mut slurm.bash(shop.dir(), late)).expect_code(4);
    assert!(end.stderr.contains("not done after"), "{end}");
    assert_eq!(queue(shop, slurm), "", "a job that was given up is still there");
}

/// MPICH does not speak PMIx: each rank would be the only one, without a word.
fn foreign_mpi(shop: &Workshop, slurm: &Slurm) {
    let text =
        "exec \"$FALLOFF\" sweep -n 2 --repeat 1 --launcher 'srun --mpi=pmix -n {n}' -o pmix -- ./ranks 0.1";
    let end = outcome(&mut slurm.bash(shop.dir(), text)).expect_code(4);
    assert!(end.stderr.contains("do not know of each other"), "{end}");
}

fn queue(shop: &Workshop, slurm: &Slurm) -> String {
    outcome(&mut slurm.bash(shop.dir(), "squeue -h")).expect_code(0).stdout
}

/// A sweep that is stopped while its second job runs: the job ends at once or when the sweep is gone on with, and no run
/// is made twice.
fn stopped(shop: &Workshop, slurm: &Slurm, signal: Signal, dir: &str) {
    fs::write(shop.path("slow"), SLOW).unwrap();
    let _ = fs::remove_file(shop.path("begun"));
    let _ = fs::remove_file(shop.path("quick"));
    let begun = || fs::read_to_string(shop.path("begun")).unwrap_or_default().lines().count();
    let text = format!("exec \"$FALLOFF\" sweep -n 1,2 --repeat 1 --launcher sbatch -o {dir} -- sh ./slow");
    let running = Running::start(&mut slurm.bash(shop.dir(), &text));
    let start = Instant::now();
    let of_two = || fs::read_to_string(shop.path("begun")).is_ok_and(|text| text.contains('2'));
    while !of_two() && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal(signal);
    let end = running.wait();
    assert_ne!(end.code(), 0, "{end}");
    assert_eq!(queue(shop, slurm).is_empty(), signal == Signal::SIGINT, "{end}");
    let before = (begun(), sweeps::completed(&shop.path(dir)).len());
    fs::write(shop.path("quick"), "").unwrap();
    let end = outcome(&mut slurm.bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(begun() - before.0, 2 - before.1, "only what was not finished is made\n{end}");
    assert_eq!(queue(shop, slurm), "", "the job of the stopped sweep is still there\n{end}");
    assert!(sweeps::completed(&shop.path(dir)).values().all(|times| *times == 1), "{end}");
}
