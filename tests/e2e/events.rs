//! Event logs: what programs in C count of themselves is in their logs, whatever MPI they use.

use std::fs;

use crate::support::event_log::{EventLog, check_together};
use crate::support::event_run::{libraries, program_is_right};
use crate::support::{Workshop, bash, build_with, data, outcome, tools};

/// A program of `tests/programs/events` under each library at 2, 4 and 8 ranks: library, ranks and logs.
#[track_caller]
fn program_is_logged(name: &str) -> Vec<(&'static str, u32, Vec<EventLog>)> {
    libraries("mpicc").flat_map(|mpi| built_is_logged(mpi, name, "")).collect()
}

/// The same with counts of 64 bits, which MPICH has.
#[track_caller]
fn large_program_is_logged(name: &str) -> Vec<(&'static str, u32, Vec<EventLog>)> {
    let has_them = libraries("mpicc").filter(|mpi| *mpi == "mpich");
    has_them.flat_map(|mpi| built_is_logged(mpi, name, "-DLARGE")).collect()
}

#[track_caller]
fn built_is_logged(mpi: &'static str, name: &str, flags: &str) -> [(&'static str, u32, Vec<EventLog>); 3] {
    let shop = Workshop::shared();
    let compiler = format!("mpicc.{mpi} -O2 -g -pthread {flags}");
    build_with(&shop, &compiler, &format!("events/{name}.c"), name);
    [2, 4, 8].map(|ranks| (mpi, ranks, program_is_right(&shop, mpi, ranks, &format!("./{name}"))))
}

#[test]
fn blocking_messages_are_logged() {
    for (.., logs) in program_is_logged("messages") {
        let calls = logs[0].calls();
        // Once for each of eight lengths.
        assert_eq!((calls["MPI_Ssend"], calls["MPI_Rsend"], calls["MPI_Sendrecv_replace"]), (8, 1, 8));
        // Probes are there once for each that found something, also nobody.
        let probes = ["MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Imrecv"];
        assert_eq!(probes.map(|name| calls[name]), [1, 1, 2, 2, 3, 1]);
    }
}

#[test]
fn requests_are_logged() {
    for (mpi, ranks, logs) in program_is_logged("requests") {
        let calls = logs[0].calls();
        let tests = ["MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Cancel"];
        assert_eq!(tests.map(|name| calls[name]), [8, 1, 12, 2], "{mpi}, {ranks}");
        let starts = (calls["MPI_Startall"], calls["MPI_Start"]);
        assert_eq!(starts, (if mpi == "mpich" { 9 } else { 8 }, 5), "{mpi}, {ranks}");
        // Open MPI 4.1 has neither, which is how the program was built.
        assert_eq!(calls.contains_key("MPI_Psend_init") && calls.contains_key("MPI_Send_c"), mpi == "mpich");
    }
}

#[test]
fn collective_operations_are_logged() {
    for (mpi, ranks, logs) in program_is_logged("collectives") {
        let calls = logs[0].calls();
        assert_eq!((calls["MPI_Alltoallw"], calls["MPI_Ineighbor_alltoallv"]), (1, 2), "{mpi}, {ranks}");
        assert_eq!(calls.get("MPI_Bcast_init").copied(), (mpi == "mpich").then_some(2));
    }
}

#[test]
fn communicators_are_told_apart() {
    for (mpi, ranks, logs) in program_is_logged("communicators") {
        if ranks != 4 {
            continue;
        }
        let own = &logs[3];
        let rows: Vec<_> = own.topologies.iter().map(|(of, row)| (of.dimensions, row.clone())).collect();
        let nobody = u64::from(u32::MAX);
        // Two rows of two, of which the rows are a ring: rank 3 is in row 1 and column 1.
        let (grid, ring) =
            (vec![2, 1, 1, 2, 0, 1, 1, 1, 2, nobody, 1, 1, 2, nobody], vec![2, 1, 1, 1, 1, 1, 1]);
        assert_eq!(rows[0], (2, grid.clone()), "{mpi}");
        assert_eq!(rows[1], (1, ring), "{mpi}");
        assert_eq!(rows[2], (2, grid), "{mpi}: a copy has them too");
        assert_eq!(rows[3], (0, vec![0, 0]), "{mpi}");
        assert_eq!((&rows[4], &rows[5]), (&(0, vec![2, 0]), &(0, vec![2, 0])), "{mpi}");
    }
}

#[test]
fn windows_are_logged() {
    for (mpi, ranks, logs) in program_is_logged("windows") {
        // Of rank 0, who tests until all is done: the last time counts.
        assert_eq!(logs[0].calls().get("MPI_Win_test"), Some(&1), "{mpi}, {ranks}");
    }
}

#[test]
fn counts_of_64_bits_are_logged() {
    for (program, function) in [
        ("messages", "MPI_Sendrecv_replace_c"),
        ("requests", "MPI_Issend_c"),
        ("collectives", "MPI_Alltoallw_c"),
        ("windows", "MPI_Rget_accumulate_c"),
    ] {
        for (.., logs) in large_program_is_logged(program) {
            assert!(logs[0].calls().contains_key(function), "{program}");
        }
    }
}

#[test]
fn threads_have_logs_of_their_own() {
    for (mpi, ranks, logs) in program_is_logged("threads") {
        // The first thread begins and ends MPI and makes what the others need; three have three calls a round, and five more in
        // every tenth.
        let calls: Vec<_> =
            logs[0].threads.iter().map(|items| items.iter().filter(|i| is_leave(i)).count()).collect();
        let each = if ranks == 2 { 1050 } else { 35 };
        assert_eq!(calls, [8, each, each, each], "{mpi}, {ranks}");
    }
}

fn is_leave(item: &falloff_format::events::Item) -> bool {
    matches!(item, falloff_format::events::Item::Leave { .. })
}

#[test]
fn a_log_ends_at_its_limit_and_says_so() {
    let shop = Workshop::shared();
    for mpi in libraries("mpicc") {
        build_with(&shop, &format!("mpicc.{mpi} -O2 -g"), "events/pingpong.c", "pingpong");
        let run = format!("run-{mpi}");
        let text = format!(
            "exec mpirun.{mpi} -n 2 \"$FALLOFF\" run --events mpi --events-limit 64KiB -o {run} -- ./pingpong 20"
        );
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        for log in EventLog::of_run(&shop.path(&run)) {
            assert!((32 << 10..=64 << 10).contains(&log.bytes), "{mpi}: {} bytes", log.bytes);
            let why = log.stopped.expect("it says that it has ended");
            assert!(why.contains("--events-limit"), "{why}");
        }
        let view = outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" view {run}"))).expect_code(0);
        assert!(format!("{view}").contains("--events-limit"), "{view}");
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(shop.path(&run).join("run.json")).unwrap()).unwrap();
        assert_eq!(json["event_log"], serde_json::json!({"of": "mpi", "limit_bytes": 65536}));
    }
}

/// Without `--events` nothing of MPI is logged, and with it a sweep's runs have their logs.
#[test]
fn logs_are_kept_where_they_are_asked_for() {
    let shop = Workshop::shared();
    for mpi in libraries("mpicc") {
        build_with(&shop, &format!("mpicc.{mpi} -O2 -g"), "events/messages.c", "messages");
        let text = format!("exec mpirun.{mpi} -n 2 \"$FALLOFF\" run -o plain-{mpi} -- ./messages");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        for log in EventLog::of_run(&shop.path(&format!("plain-{mpi}"))) {
            assert!(log.threads.is_empty() && log.functions.is_empty());
        }
        if mpi == "openmpi" {
            let text = "exec \"$FALLOFF\" sweep -n 2 --strong --repeat 1 --launcher mpirun --events mpi -o sweep -- ./messages";
            outcome(&mut bash(shop.dir(), text)).expect_code(0);
            let logs = EventLog::of_run(&shop.path("sweep/runs/n0002-r1"));
            assert_eq!(logs.len(), 2);
            check_together(&logs);
        }
    }
}

#[test]
fn a_call_of_lammps_takes_sixteen_bytes_at_most() {
    if !tools::have(&["lmp", "mpirun"]) {
        return;
    }
    let shop = Workshop::shared();
    fs::copy(data().join("lj.in"), shop.path("lj.in")).unwrap();
    let text = "exec mpirun -n 4 \"$FALLOFF\" run --events mpi -o run -- lmp -in lj.in -var x 10 -var steps 200 -log none";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let logs = EventLog::of_run(&shop.path("run"));
    assert_eq!(logs.len(), 4);
    logs.iter().for_each(EventLog::check);
    check_together(&logs);
    let calls: u64 = logs.iter().flat_map(|log| log.calls().into_values()).sum();
    let bytes: u64 = logs.iter().map(|log| log.bytes).sum();
    assert!(calls > 10_000 && bytes <= 16 * calls, "{bytes} bytes for {calls} calls");
}
