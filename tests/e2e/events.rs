//! Event logs: what programs count of themselves is in their logs, whatever MPI they use and from which language.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::event_log::{EventLog, Tallies, check_together, told};
use crate::support::{Outcome, Running, Workshop, bash, build_with, data, outcome, tools};

const LIBRARIES: [&str; 2] = ["openmpi", "mpich"];

/// The libraries that are here, with compilers for the language.
fn libraries(compiler: &str) -> impl Iterator<Item = &'static str> {
    let needed = move |mpi: &str| [format!("{compiler}.{mpi}"), format!("mpirun.{mpi}")];
    let is_here = move |mpi: &&str| tools::have(&needed(mpi).each_ref().map(String::as_str));
    LIBRARIES.into_iter().filter(is_here)
}

/// Runs a program with and without a log; gives the logs.
#[track_caller]
fn logged(shop: &Workshop, mpi: &str, ranks: u32, program: &str) -> (Outcome, Vec<EventLog>) {
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let plain = outcome(&mut bash(shop.dir(), &format!("mpirun.{mpi} -n {ranks} {program}"))).expect_code(0);
    let run = format!("run-{mpi}-{ranks}");
    let text = format!("mpirun.{mpi} -n {ranks} \"$FALLOFF\" run --events mpi -o {run} -- {program}");
    let measured = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(sorted(&measured.stdout), sorted(&plain.stdout));
    let mut logs = EventLog::of_run(&shop.path(&run));
    // A program that only starts the one with MPI has made no calls.
    logs.retain(|log| !log.threads.is_empty());
    assert_eq!(logs.len(), ranks as usize);
    (measured, logs)
}

/// What the program says of itself must be what its logs say, and these must go together.
#[track_caller]
fn counts_are_right(shop: &Workshop, mpi: &str, ranks: u32, program: &str) -> Vec<EventLog> {
    let (measured, logs) = logged(shop, mpi, ranks, program);
    let told = told(&measured.stdout);
    let seen: BTreeMap<i32, Tallies> = logs.iter().map(|log| (log.rank, log.tallies())).collect();
    assert_eq!(seen, told, "{mpi}, {ranks} ranks");
    logs.iter().for_each(EventLog::check);
    check_together(&logs);
    logs
}

/// A program of `tests/programs/events` under each library at these numbers of ranks; gives the last logs.
#[track_caller]
fn program_is_logged(name: &str, ranks: &[u32]) -> BTreeMap<&'static str, Vec<EventLog>> {
    let shop = Workshop::shared();
    let mut last = BTreeMap::new();
    for mpi in libraries("mpicc") {
        let program = format!("{name}-{mpi}");
        build_with(&shop, &format!("mpicc.{mpi} -O2 -g -pthread"), &format!("events/{name}.c"), &program);
        for ranks in ranks {
            last.insert(mpi, counts_are_right(&shop, mpi, *ranks, &format!("./{program}")));
        }
    }
    last
}

#[test]
fn blocking_messages_are_logged() {
    for logs in program_is_logged("messages", &[2, 4, 8]).values() {
        let calls = logs[0].calls();
        // Once for each of eight lengths.
        assert_eq!((calls["MPI_Ssend"], calls["MPI_Rsend"], calls["MPI_Sendrecv_replace"]), (8, 1, 8));
        // Probes are there once for each that found something.
        let probes = ["MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Imrecv"];
        assert_eq!(probes.map(|name| calls[name]), [1; 6]);
    }
}

#[test]
fn requests_are_logged() {
    for (mpi, logs) in program_is_logged("requests", &[2, 4]) {
        let calls = logs[0].calls();
        assert_eq!((calls["MPI_Test"], calls["MPI_Testall"], calls["MPI_Testany"]), (8, 1, 12), "{mpi}");
        assert_eq!(
            (calls["MPI_Startall"], calls["MPI_Start"], calls["MPI_Cancel"]),
            (if mpi == "mpich" { 3 } else { 2 }, 4, 1)
        );
        // Open MPI 4.1 has neither, which is how the program was built.
        assert_eq!(calls.contains_key("MPI_Psend_init") && calls.contains_key("MPI_Send_c"), mpi == "mpich");
    }
}

#[test]
fn collective_operations_are_logged() {
    for (mpi, logs) in program_is_logged("collectives", &[4, 2]) {
        let calls = logs[0].calls();
        assert_eq!((calls["MPI_Alltoallw"], calls["MPI_Ineighbor_alltoallv"]), (1, 1), "{mpi}");
        assert_eq!(calls.get("MPI_Bcast_init").copied(), (mpi == "mpich").then_some(1));
    }
}

#[test]
fn communicators_are_told_apart() {
    for (mpi, logs) in program_is_logged("communicators", &[2, 4]) {
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
    for (mpi, logs) in program_is_logged("windows", &[2, 4]) {
        // Of rank 0, who tests until all is done: the last time counts.
        assert_eq!(logs[0].calls().get("MPI_Win_test"), Some(&1), "{mpi}");
    }
}

#[test]
fn threads_have_logs_of_their_own() {
    for (mpi, logs) in program_is_logged("threads", &[2]) {
        // The first thread begins and ends MPI, three have three calls a round.
        let calls: Vec<_> =
            logs[0].threads.iter().map(|items| items.iter().filter(|i| is_leave(i)).count()).collect();
        assert_eq!(calls, [2, 900, 900, 900], "{mpi}");
    }
}

fn is_leave(item: &falloff_format::events::Item) -> bool {
    matches!(item, falloff_format::events::Item::Leave { .. })
}

#[test]
fn all_bindings_of_fortran_are_logged() {
    let shop = Workshop::shared();
    for mpi in libraries("mpifort") {
        for binding in ["MPIF_H", "MPI_MODULE", "MPI_F08"] {
            let program = format!("{binding}-{mpi}");
            build_with(&shop, &format!("mpifort.{mpi} -O2 -g -D{binding}"), "events/bindings.F90", &program);
            for ranks in [2, 4] {
                counts_are_right(&shop, mpi, ranks, &format!("./{program}"));
                fs::remove_dir_all(shop.path(&format!("run-{mpi}-{ranks}"))).unwrap();
            }
        }
    }
}

#[test]
fn python_is_logged() {
    let python = data().join("../.venv/bin/python");
    // By its path: an executable that is not there is a missing tool.
    if !tools::have(&[&python.to_string_lossy()]) {
        return;
    }
    let shop = Workshop::shared();
    fs::copy(crate::support::programs().join("events/messages.py"), shop.path("messages.py")).unwrap();
    for mpi in libraries("mpicc") {
        // The wheel wants MPICH's library by the name that others give it.
        let link = "ln -sf \"$(ldconfig -p | sed -n 's/.*libmpich.so.12 .*=> //p')\" libmpi.so.12";
        outcome(&mut bash(shop.dir(), link)).expect_code(0);
        let here = shop.dir().display();
        let program =
            format!("env MPI4PY_MPIABI={mpi} LD_LIBRARY_PATH={here} {} messages.py", python.display());
        for ranks in [2, 4] {
            let logs = counts_are_right(&shop, mpi, ranks, &program);
            // It calls what has counts of 64 bits if there is such a thing.
            assert_eq!(logs[0].calls().contains_key("MPI_Send_c"), mpi == "mpich");
        }
    }
}

/// The logs of a program that goes wrong, after `ending` has dealt with it.
fn wrong(mpi: &str, kind: &str, ending: impl Fn(Running, &str)) -> Vec<EventLog> {
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicc.{mpi} -O2 -g"), "events/wrong.c", "wrong");
    let text = format!("exec mpirun.{mpi} -n 2 \"$FALLOFF\" run --events mpi -o run -- ./wrong {kind} > out");
    let running = Running::start(&mut bash(shop.dir(), &text));
    let said = || fs::read_to_string(shop.path("out")).unwrap_or_default();
    if kind == "deadlock" {
        let start = Instant::now();
        while said().lines().count() < 2 {
            assert!(start.elapsed() < Duration::from_secs(60), "the program does not begin");
            sleep(Duration::from_millis(20));
        }
        // Both are on their way into the call that never ends.
        sleep(Duration::from_millis(300));
    }
    ending(running, &said());
    EventLog::of_run(&shop.path("run"))
}

#[test]
fn a_deadlock_can_be_read() {
    for mpi in libraries("mpicc") {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            let logs = wrong(mpi, "deadlock", |running, said| {
                if signal == Signal::SIGTERM {
                    running.signal(signal);
                } else {
                    let process = said.split_whitespace().last().unwrap().parse().unwrap();
                    kill(Pid::from_raw(process), signal).unwrap();
                }
                running.wait();
            });
            assert_eq!(logs.len(), 2);
            for log in &logs {
                assert_eq!(log.last_calls(), ["MPI_Recv"], "{mpi}, {signal}");
                let last = log.items().last().unwrap();
                let falloff_format::events::Item::Receive { from, tag: Some(4), .. } = last else {
                    panic!("{mpi}, {signal}: {last:?}")
                };
                assert_eq!(*from, Some(1 - log.rank.cast_unsigned()));
            }
        }
    }
}

#[test]
fn an_abort_can_be_read() {
    for mpi in libraries("mpicc") {
        let logs = wrong(mpi, "abort", |running, _| assert_ne!(running.wait().code(), 0));
        assert_eq!(logs[1].last_calls(), ["MPI_Abort"], "{mpi}");
        assert_eq!(logs[0].calls()["MPI_Barrier"], 1, "{mpi}");
    }
}

#[test]
fn a_message_that_nobody_receives_is_there() {
    for mpi in libraries("mpicc") {
        let logs = wrong(mpi, "unmatched", |running, _| _ = running.wait().expect_code(0));
        logs.iter().for_each(EventLog::check);
        assert_eq!(logs[0].tallies()["send"], (1, 10), "{mpi}");
        assert_eq!(logs[1].tallies().get("receive"), None, "{mpi}");
    }
}

#[test]
fn the_child_of_a_fork_is_not_in_the_log() {
    for mpi in libraries("mpicc") {
        let logs = wrong(mpi, "fork", |running, _| _ = running.wait().expect_code(0));
        assert_eq!(logs.len(), 2);
        logs.iter().for_each(EventLog::check);
        check_together(&logs);
    }
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
