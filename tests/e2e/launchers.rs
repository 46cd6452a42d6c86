//! Sweeps under real launchers: all ranks are measured, each with its number, and the score opens.

use std::fs;

use nix::sys::signal::Signal;

use crate::support::{Folded, Running, Workshop, bash, build_with, outcome, sweeps, tools};

/// Counts of an MPI program.
const RANKS: &[u64] = &[1, 2, 4, 8];

/// Sweeps a program once at these counts under a launcher, and insists that the sweep is whole.
#[track_caller]
fn sweeps_well(shop: &Workshop, launcher: &str, counts: &[u64], program: &str, function: &str) {
    let list: Vec<String> = counts.iter().map(u64::to_string).collect();
    let list = list.join(",");
    let text =
        format!("exec \"$FALLOFF\" sweep -n {list} --repeat 1 --launcher '{launcher}' -o sweep -- {program}");
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    sweeps::is_whole(&shop.path("sweep"), counts, function, |text| bash(shop.dir(), text));
}

/// What a run of the sweep printed.
fn said(shop: &Workshop, run: &str) -> String {
    fs::read_to_string(shop.path(&format!("sweep/runs/{run}/output.log"))).unwrap()
}

fn mpi(kind: &str) {
    if !tools::have(&[&format!("mpicc.{kind}"), &format!("mpirun.{kind}")]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicc.{kind} -O2 -g"), "ranks.c", "ranks");
    sweeps_well(&shop, &format!("mpirun.{kind} -n {{n}}"), RANKS, "./ranks 0.3", "walk");
}

#[test]
fn an_mpi_program_is_swept_under_open_mpi() {
    mpi("openmpi");
}

#[test]
fn an_mpi_program_is_swept_under_mpich() {
    mpi("mpich");
}

#[test]
fn a_coarray_program_is_swept() {
    if !tools::have(&["caf", "cafrun"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "caf -O2 -g", "images.f90", "images");
    sweeps_well(&shop, "cafrun -np {n}", &[1, 2, 4], "./images", "image_work");
    assert!(said(&shop, "n0004-r1").contains("images 4 sum 10"), "{}", said(&shop, "n0004-r1"));
}

#[test]
fn an_openshmem_program_is_swept() {
    if !tools::have(&["oshcc", "oshrun"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "oshcc -O2 -g", "elements.c", "elements");
    sweeps_well(&shop, "oshrun -n {n}", &[1, 2, 4], "./elements", "element_work");
    assert!(said(&shop, "n0004-r1").contains("elements 4 sum 4"), "{}", said(&shop, "n0004-r1"));
}

#[test]
fn an_openmp_program_is_swept_over_threads() {
    let shop = Workshop::shared();
    if !tools::have(&["gcc"]) || !tools::compiles(&shop, "gcc -fopenmp") {
        return;
    }
    build_with(&shop, "gcc -O2 -g -fopenmp", "regions.c", "regions");
    let counts = [1, 2, 4];
    outcome(&mut bash(
        shop.dir(),
        "exec \"$FALLOFF\" sweep -n 1,2,4 --repeat 1 --launcher threads -o sweep -- ./regions 2000000",
    ))
    .expect_code(0);
    assert_eq!(sweeps::completed(&shop.path("sweep")).len(), counts.len());
    sweeps::score(&shop.path("sweep"), &counts, "burn", |text| bash(shop.dir(), text));
    for threads in counts {
        let run = shop.path(&format!("sweep/runs/n{threads:04}-r1"));
        let folded = Folded::try_export(&run, "cpu", "thread", &[], shop.dir()).unwrap();
        let working: std::collections::BTreeSet<&str> =
            folded.samples.iter().filter(|s| s.ends_in("burn")).map(|s| s.process.as_str()).collect();
        assert_eq!(working.len() as u64, threads, "{working:?}");
    }
}

/// A program of MPICH under Open MPI's launcher runs N times as one process.
#[test]
fn a_program_of_another_mpi_is_failed_and_named() {
    if !tools::have(&["mpicc.mpich", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpicc.mpich -O2 -g", "ranks.c", "ranks");
    let text =
        "exec \"$FALLOFF\" sweep -n 2 --repeat 1 --launcher 'mpirun.openmpi -n {n}' -o sweep -- ./ranks 0.1";
    let end = outcome(&mut bash(shop.dir(), text)).expect_code(4);
    assert!(end.stderr.contains("the launcher is of Open MPI, the program of MPICH"), "{end}");
}

/// The journal says what is finished, whatever ended the sweep; a launcher that it leaves behind ends by itself.
#[test]
fn a_killed_sweep_is_gone_on_with() {
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpicc.openmpi -O2 -g", "ranks.c", "ranks");
    for (signal, dir) in [(Signal::SIGKILL, "killed"), (Signal::SIGINT, "interrupted")] {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n 1,2 --repeat 2 --launcher 'mpirun.openmpi -n {{n}}' -o {dir} -- ./ranks 0.3"
        );
        let running = Running::start(&mut bash(shop.dir(), &text));
        let before = sweeps::wait_for_half(&shop.path(dir), 2);
        running.signal(signal);
        assert_ne!(running.wait().code(), 0);
        let before = sweeps::completed(&shop.path(dir)).len().max(before);
        assert!(before < 4, "it ended before it could be stopped");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        assert_eq!(end.stderr.matches("kept from before").count(), before, "{end}");
        let runs = sweeps::completed(&shop.path(dir));
        assert!(runs.len() == 4 && runs.values().all(|times| *times == 1), "{runs:?}");
    }
}
