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
        assert!(
            lost * 100 <= health.samples + health.wait_samples,
            "more than 1 % do not reach the root: {health:?}"
        );
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

/// Open MPI starts threads of its own in each rank, which only wait; the program's threads are the ranks' main threads.
#[test]
fn threads_that_open_mpi_started_are_shown_only_when_asked_for() {
    if !tools::have(&["mpif90.openmpi", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpif90.openmpi -O2 -g -fno-inline", "ring.f90", "ring");
    let falloff =
        |text: &str| outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {text}"))).expect_code(0);
    falloff("sweep -n 1,2 --strong --repeat 1 --launcher 'mpirun.openmpi -n {n}' -o sweep -- ./ring");
    let run = "sweep/runs/n0002-r1";

    let export =
        |more: &str| falloff(&format!("export {run} --format folded --metric time --by thread -o - {more}"));
    let (all, own) = (export("--helpers"), export(""));
    let main = |line: &&str| {
        let label = line.split(';').next().unwrap_or_default();
        let mut numbers = label.rsplit(':');
        numbers.next() == numbers.next()
    };
    let microseconds = |text: &str, of: &dyn Fn(&&str) -> bool| -> u64 {
        let values = text.lines().filter(of).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        values.sum()
    };
    let (of_all, of_main) = (microseconds(&all.stdout, &|_| true), microseconds(&all.stdout, &main));
    assert!(0 < of_main && of_main < of_all, "no helper threads\n{all}");
    assert_eq!(own.stdout.lines().filter(|l| !main(l)).count(), 0, "{own}");
    assert!(own.stdout.lines().count() > 0 && all.stderr.is_empty(), "{all}");
    let words = "of threads that the program did not start are left out";
    let said =
        own.stderr.strip_prefix("falloff: ").and_then(|line| line.strip_suffix(&format!(" s {words}\n")));
    let seconds: f64 = said.unwrap_or_else(|| panic!("not said on standard error\n{own}")).parse().unwrap();
    assert!(
        (seconds - (of_all - of_main) as f64 * 1e-6).abs() < 0.001,
        "{of_all} - {of_main} are left out\n{own}"
    );

    for kind in ["context", "callers", "flat"] {
        let shown = |more: &str| {
            let view =
                falloff(&format!("view {run} --metric time --view {kind} --format json {more}")).json();
            let total = view["rows"][0]["inclusive_ns"].as_f64().unwrap() * 1e-3;
            (total, view["left_out_ns"].as_f64().unwrap() * 1e-3)
        };
        let ((own, left_out), (all, nothing)) = (shown(""), shown("--helpers"));
        // Exports are whole microseconds, path by path.
        let near = |found: f64, wanted: u64| (found - wanted as f64).abs() < 1000.0;
        assert!(near(own, of_main) && near(all, of_all), "{own} of {of_main}, {all} of {of_all} in {kind}");
        assert!(near(left_out, of_all - of_main) && nothing == 0.0, "{left_out} left out of {kind}");
        let text = falloff(&format!("view {run} --metric time --view {kind}"));
        assert_eq!(text.stdout.lines().filter(|line| line.ends_with(words)).count(), 1, "{text}");
    }

    let score = falloff("score sweep --metric time --format json").json();
    assert!(score["health"]["helper_seconds"].as_f64().unwrap() > 0.0);
    let rows = score["contexts"].as_array().unwrap();
    let path = |row: &serde_json::Value| row["path"][0].as_str().unwrap_or_default().to_owned();
    assert!(rows.iter().all(|row| path(row) != "<thread root>"), "helpers have rows in the score: {rows:?}");
}
