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

/// Sweeps a program once at 1, 2 and 4 ranks under Open MPI and compares what `of` finds in the output with runs
/// without falloff; insists on all ranks and on paths that reach their root; the score and the report must name what
/// is wanted.
fn sweeps_well(shop: &Workshop, program: &str, of: impl Fn(&str) -> Vec<&str>, wanted: &[&str]) {
    let sweep = format!(
        "exec \"$FALLOFF\" sweep -n 1,2,4 --strong --repeat 1 --launcher mpirun -o sweep -- {program}"
    );
    outcome(&mut bash(shop.dir(), &sweep)).expect_code(0);
    for ranks in [1, 2, 4] {
        let plain =
            outcome(&mut bash(shop.dir(), &format!("mpirun.openmpi -n {ranks} {program}"))).expect_code(0);
        let run = shop.path(&format!("sweep/runs/n{ranks:04}-r1"));
        let log = fs::read_to_string(run.join("output.log")).unwrap();
        assert!(!of(&plain.stdout).is_empty(), "no answer to compare\n{plain}");
        assert_eq!(of(&log), of(&plain.stdout), "{ranks} ranks");
        let health = health(&run);
        assert_eq!((health.ranks_present, health.ranks_expected), (ranks, ranks), "{health:?}");
        assert!(health.samples > 50 * ranks, "{health:?}");
        let lost = health.partial + health.truncated + health.dropped;
        assert!(lost * 100 <= health.samples, "more than 1 % do not reach the root: {health:?}");
    }
    let text = "exec \"$FALLOFF\" score sweep --metric cpu --format json";
    let score = outcome(&mut bash(shop.dir(), text)).expect_code(0).json();
    let names: Vec<_> =
        score["contexts"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    let report = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --metric cpu")).expect_code(0);
    for wanted in wanted {
        assert!(names.iter().any(|name| name.contains(wanted)), "the score must hold {wanted}: {names:?}");
        assert!(report.stdout.contains(wanted), "the report must name {wanted}\n{report}");
    }
}

#[test]
fn a_sweep_of_lammps_keeps_its_answer_and_names_its_losses() {
    if !tools::have(&["lmp", "mpirun"]) {
        return;
    }
    let shop = Workshop::alone();
    fs::copy(data().join("lj.in"), shop.path("lj.in")).unwrap();
    sweeps_well(&shop, LAMMPS, thermo, &["PairLJCut::compute", "MPI_"]);
}

/// Stripped Fortran: its own functions have no names, and are told apart all the same.
#[test]
fn a_sweep_of_quantum_espresso_keeps_its_energy() {
    if !tools::have(&["pw.x", "ld1.x", "mpirun"]) {
        return;
    }
    let shop = Workshop::alone();
    for file in ["si.ld1", "si60.scf"] {
        fs::copy(data().join(file), shop.path(file)).unwrap();
    }
    outcome(&mut bash(shop.dir(), "ld1.x < si.ld1")).expect_code(0);
    sweeps_well(&shop, "pw.x -in si60.scf", energy, &["pw.x+0x", "MPI_"]);
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
    // Equal work takes CPU times up to a fifth apart where four ranks share two processors. A rank that bore another's
    // number would have as much as rank 1 or make rank 1 have a quarter of it.
    for rank in [0, 2, 3] {
        let share = work(rank) / work(1);
        assert!(
            (0.3..0.7).contains(&share),
            "rank {rank} has {share:.3} of rank 1's work, not about half\n{folded:?}"
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
