//! Real parallel programs, as Debian ships them, under Open MPI and MPICH.

use std::fs;

use crate::support::{Folded, Workshop, bash, build_with, data, health, outcome, tools, total};

const LAMMPS: &str = "lmp -in lj.in -var x 20 -var steps 100 -log none";

/// The lines of LAMMPS's table of thermodynamic values.
fn thermo(output: &str) -> Vec<&str> {
    let table = output.lines().skip_while(|line| !line.starts_with("Step"));
    table.take_while(|line| !line.starts_with("Loop time")).collect()
}

/// Quantum ESPRESSO's final energy.
fn energy(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.starts_with('!')).collect()
}

/// Runs a program under Open MPI at 1, 2 and 4 ranks with and without falloff and compares what `of` finds in the
/// output; then insists on all ranks and on paths that reach their root.
fn unchanged(shop: &Workshop, program: &str, of: impl Fn(&str) -> Vec<&str>) {
    for ranks in [1, 2, 4] {
        let plain =
            outcome(&mut bash(shop.dir(), &format!("mpirun.openmpi -n {ranks} {program}"))).expect_code(0);
        let text = format!("mpirun.openmpi -n {ranks} \"$FALLOFF\" run -o run{ranks} -- {program}");
        let measured = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        assert!(!of(&plain.stdout).is_empty(), "no answer to compare\n{plain}");
        assert_eq!(of(&measured.stdout), of(&plain.stdout), "{ranks} ranks");
        let health = health(&shop.path(&format!("run{ranks}")));
        assert_eq!((health.ranks_present, health.ranks_expected), (ranks, ranks), "{health:?}");
        assert!(health.samples > 50 * ranks, "{health:?}");
        let lost = health.partial + health.truncated + health.dropped;
        assert!(lost * 100 <= health.samples, "more than 1 % do not reach the root: {health:?}");
    }
}

#[test]
fn lammps_keeps_its_answer_and_every_rank() {
    if !tools::have(&["lmp", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::alone();
    fs::copy(data().join("lj.in"), shop.path("lj.in")).unwrap();
    unchanged(&shop, LAMMPS, thermo);
}

#[test]
fn a_sweep_of_lammps_names_its_losses() {
    if !tools::have(&["lmp", "mpirun"]) {
        return;
    }
    let shop = Workshop::alone();
    fs::copy(data().join("lj.in"), shop.path("lj.in")).unwrap();
    let text = format!(
        "exec \"$FALLOFF\" sweep -n 1,2,4 --strong --repeat 1 --launcher mpirun -o sweep -- {LAMMPS}"
    );
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    let text = "exec \"$FALLOFF\" score sweep --metric cpu --format json";
    let score = outcome(&mut bash(shop.dir(), text)).expect_code(0).json();
    let names: Vec<_> =
        score["contexts"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    for wanted in ["PairLJCut::compute", "MPI_"] {
        assert!(names.iter().any(|name| name.contains(wanted)), "the score must hold {wanted}: {names:?}");
    }
    let report = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --metric cpu")).expect_code(0);
    for wanted in ["PairLJCut::compute", "MPI_"] {
        assert!(report.stdout.contains(wanted), "the report must name {wanted}\n{report}");
    }
}

#[test]
fn quantum_espresso_keeps_its_energy_and_every_rank() {
    if !tools::have(&["pw.x", "ld1.x", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::alone();
    for file in ["si.ld1", "si60.scf"] {
        fs::copy(data().join(file), shop.path(file)).unwrap();
    }
    outcome(&mut bash(shop.dir(), "ld1.x < si.ld1")).expect_code(0);
    unchanged(&shop, "pw.x -in si60.scf", energy);
}

/// Four ranks of a Fortran program: each says its number, and the profile must give each the same one.
fn fortran_ranks(mpi: &str) {
    if !tools::have(&[&format!("mpif90.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &format!("mpif90.{mpi} -O2 -g -fno-inline"), "ring.f90", "ring");
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let plain = outcome(&mut bash(shop.dir(), &format!("mpirun.{mpi} -n 4 ./ring"))).expect_code(0);
    let text = format!("mpirun.{mpi} -n 4 \"$FALLOFF\" run -o run -- ./ring");
    let measured = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(sorted(&measured.stdout), sorted(&plain.stdout));

    let text = "exec \"$FALLOFF\" export run --format folded --metric cpu --by rank -o -";
    let folded = Folded::parse(&outcome(&mut bash(shop.dir(), text)).expect_code(0).stdout);
    let work = |rank: u32| {
        let rank = format!("rank {rank}");
        total(folded.samples.iter().filter(|s| s.process == rank && s.ends_in("__ring_work_MOD_rank_work")))
            as f64
    };
    for rank in [0, 2, 3] {
        let share = work(rank) / work(1);
        assert!(
            (share - 0.5).abs() < 0.1,
            "rank {rank} has {share:.3} of rank 1's work, not half\n{folded:?}"
        );
    }
    let health = health(&shop.path("run"));
    assert_eq!((health.ranks_present, health.ranks_expected), (4, 4), "{health:?}");
}

#[test]
fn fortran_ranks_are_right_under_mpich() {
    fortran_ranks("mpich");
}

#[test]
fn fortran_ranks_are_right_under_open_mpi() {
    fortran_ranks("openmpi");
}
