//! Event logs of programs in Fortran and Python: calls of every kind by every binding.

use std::fs;
use std::path::Path;

use crate::support::event_run::{libraries, log_is_right, program_is_right};
use crate::support::{Workshop, bash, data, outcome, programs, tools};

/// The three bindings of Fortran, as its programs name them.
pub const BINDINGS: [&str; 3] = ["MPIF_H", "MPI_MODULE", "MPI_F08"];

/// Builds a program of `tests/programs/events/fortran` by a binding, of these files.
#[track_caller]
pub fn build_fortran(shop: &Workshop, mpi: &str, binding: &str, files: &[&str], name: &str) {
    let folder = programs().join("events/fortran");
    let files: Vec<_> = files.iter().map(|file| format!("{:?}", folder.join(file))).collect();
    // MPICH has what came with version 4 of the standard.
    let recent = if mpi == "mpich" { "-DRECENT" } else { "" };
    let text = format!(
        "mkdir -p {name}.mods && mpifort.{mpi} -O2 -g -fopenmp -ffree-line-length-none -fallow-argument-mismatch \
         -D{binding} {recent} -J {name}.mods -o {name} {}",
        files.join(" ")
    );
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
}

/// All kinds of calls by a binding of Fortran. That the program says the same without a log is seen where it takes less time.
#[track_caller]
fn binding_is_logged(binding: &str) {
    const FILES: [&str; 8] = [
        "tallies.F90",
        "messages.F90",
        "requests.F90",
        "collectives.F90",
        "communicators.F90",
        "windows.F90",
        "threads.F90",
        "main.F90",
    ];
    let shop = Workshop::shared();
    for mpi in libraries("mpifort") {
        let name = format!("{binding}-{mpi}");
        build_fortran(&shop, mpi, binding, &FILES, &name);
        let program = format!("./{name}");
        program_is_right(&shop, mpi, 2, &program);
        log_is_right(&shop, mpi, 4, &program);
        log_is_right(&shop, mpi, 8, &program);
    }
}

#[test]
fn fortran_with_mpif_h_is_logged() {
    binding_is_logged(BINDINGS[0]);
}

#[test]
fn fortran_with_the_module_mpi_is_logged() {
    binding_is_logged(BINDINGS[1]);
}

#[test]
fn fortran_with_the_module_mpi_f08_is_logged() {
    binding_is_logged(BINDINGS[2]);
}

/// The command that runs a program of `tests/programs/events` by the interpreter that has mpi4py; nothing if that is missing.
pub fn python(shop: &Workshop, mpi: &str, program: &str) -> Option<String> {
    let python = data().join("../.venv/bin/python");
    // By its path: an executable that is not there is a missing tool.
    if !tools::have(&[&python.to_string_lossy()]) {
        return None;
    }
    let from: &Path = &programs().join("events").join(program);
    fs::copy(from, shop.path(program)).unwrap();
    // The wheel wants MPICH's library by the name that others give it.
    let link = "ln -sf \"$(ldconfig -p | sed -n 's/.*libmpich.so.12 .*=> //p')\" libmpi.so.12";
    outcome(&mut bash(shop.dir(), link)).expect_code(0);
    let here = shop.dir().display();
    Some(format!("env MPI4PY_MPIABI={mpi} LD_LIBRARY_PATH={here} {} {program}", python.display()))
}

#[test]
fn python_is_logged() {
    let shop = Workshop::shared();
    for mpi in libraries("mpicc") {
        let Some(program) = python(&shop, mpi, "kinds.py") else { return };
        for ranks in [4, 2] {
            let logs = program_is_right(&shop, mpi, ranks, &program);
            // It calls what has counts of 64 bits if there is such a thing.
            assert_eq!(logs[0].calls().contains_key("MPI_Send_c"), mpi == "mpich");
        }
        log_is_right(&shop, mpi, 8, &program);
    }
}
