//! Event logs of programs that go wrong: what they did until then can be read, and why they went no further is told.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use falloff_format::events::Item;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::events_bindings::{BINDINGS, build_fortran, python};
use crate::support::event_log::{EventLog, check_together};
use crate::support::event_run::libraries;
use crate::support::{Running, Workshop, bash, build_with, outcome};

/// A program that is wrong in one of several ways, under one library.
struct Wrong {
    shop: Workshop,
    mpi: &'static str,
    program: String,
    language: &'static str,
}

/// What is left of a run of it.
struct Left {
    logs: Vec<EventLog>,
    /// What the report of waits says.
    told: String,
}

impl Wrong {
    /// In C, under each library.
    fn in_c() -> Vec<Wrong> {
        let build = |mpi| {
            let shop = Workshop::shared();
            build_with(&shop, &format!("mpicc.{mpi} -O2 -g"), "events/wrong.c", "wrong");
            Wrong { shop, mpi, program: "./wrong".into(), language: "C" }
        };
        libraries("mpicc").map(build).collect()
    }

    /// In Fortran by each binding, and in Python.
    fn in_others() -> Vec<Wrong> {
        let mut all = Vec::new();
        for mpi in libraries("mpifort") {
            for binding in BINDINGS {
                let shop = Workshop::shared();
                build_fortran(&shop, mpi, binding, &["tallies.F90", "wrong.F90"], "wrong");
                all.push(Wrong { shop, mpi, program: "./wrong".into(), language: binding });
            }
        }
        for mpi in libraries("mpicc") {
            let shop = Workshop::shared();
            if let Some(program) = python(&shop, mpi, "wrong.py") {
                all.push(Wrong { shop, mpi, program, language: "Python" });
            }
        }
        all
    }

    /// What is left after `ending` has dealt with a run.
    #[track_caller]
    fn run(&self, kind: &str, ranks: u32, ending: impl Fn(Running, &str)) -> Left {
        let Wrong { shop, mpi, program, .. } = self;
        let run = format!("run-{kind}-{ranks}");
        let _ = fs::remove_dir_all(shop.path(&run));
        let _ = fs::remove_file(shop.path(&format!("out-{run}")));
        let text = format!(
            "exec mpirun.{mpi} -n {ranks} \"$FALLOFF\" run --events mpi -o {run} -- {program} {kind} > out-{run}"
        );
        let running = Running::start(&mut bash(shop.dir(), &text));
        let said = || fs::read_to_string(shop.path(&format!("out-{run}"))).unwrap_or_default();
        if kind == "deadlock" {
            let start = Instant::now();
            while said().lines().count() < ranks as usize {
                assert!(start.elapsed() < Duration::from_secs(60), "the program does not begin");
                sleep(Duration::from_millis(20));
            }
            // All are on their way into the call that never ends.
            sleep(Duration::from_millis(300));
        }
        ending(running, &said());
        let mut logs = EventLog::of_run(&shop.path(&run));
        logs.retain(|log| !log.threads.is_empty());
        assert_eq!(logs.len(), ranks as usize, "{}", self.name(kind, ranks));
        let told =
            outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" waits {run}"))).expect_code(0).stdout;
        Left { logs, told }
    }

    fn name(&self, kind: &str, ranks: u32) -> String {
        format!("{}, {}, {kind} with {ranks} ranks", self.language, self.mpi)
    }

    /// All receive from the next one, and somebody ends it by a signal: to the launcher, or to a rank.
    #[track_caller]
    fn deadlock_can_be_read(&self, ranks: u32, signal: Signal) {
        let left = self.run("deadlock", ranks, |running, said| {
            if signal == Signal::SIGKILL {
                let process = said.split_whitespace().last().unwrap().parse().unwrap();
                kill(Pid::from_raw(process), signal).unwrap();
            } else {
                running.signal(signal);
            }
            running.wait();
        });
        let name = self.name("deadlock", ranks);
        for log in &left.logs {
            // Python calls what has counts of 64 bits if there is such a thing.
            let calls = log.last_calls();
            assert!(matches!(calls[..], ["MPI_Recv" | "MPI_Recv_c"]), "{name}, {signal}: {calls:?}");
            let next = (log.rank.cast_unsigned() + 1) % ranks;
            let last = log.items().last().unwrap();
            assert!(
                matches!(last, Item::Receive { from, tag: Some(4), .. } if *from == Some(next)),
                "{name}, {signal}: {last:?}"
            );
        }
        let all: Vec<_> = (0..ranks).map(|rank| rank.to_string()).collect();
        let ring = format!("ranks {} wait for one another in a ring", all.join(", "));
        assert!(left.told.contains(&ring), "{name}, {signal}: {}", left.told);
    }

    #[track_caller]
    fn abort_can_be_read(&self, ranks: u32) {
        let left = self.run("abort", ranks, |running, _| assert_ne!(running.wait().code(), 0));
        let name = self.name("abort", ranks);
        assert_eq!(left.logs[1].last_calls(), ["MPI_Abort"], "{name}");
        assert_eq!(left.logs[0].calls()["MPI_Barrier"], 1, "{name}");
        let place = "(MPI_Abort";
        let line = left.told.lines().find(|line| line.contains(place));
        assert!(line.is_some_and(|line| line.contains("rank 1")), "{name}: {}", left.told);
    }

    #[track_caller]
    fn message_that_nobody_receives_is_there(&self, ranks: u32) {
        let left = self.run("unmatched", ranks, |running, _| _ = running.wait().expect_code(0));
        let name = self.name("unmatched", ranks);
        left.logs.iter().for_each(EventLog::check);
        assert_eq!(left.logs[0].tallies()["send"], (1, 40), "{name}");
        assert_eq!(left.logs[1].tallies().get("receive"), None, "{name}");
        let line =
            left.told.lines().find(|line| line.contains("no receive of a message to rank 1 with tag 3"));
        assert!(line.is_some_and(|line| line.contains("rank 0")), "{name}: {}", left.told);
    }
}

#[test]
fn a_deadlock_can_be_read() {
    for wrong in Wrong::in_c() {
        for (ranks, signal) in
            [(2, Signal::SIGTERM), (2, Signal::SIGKILL), (4, Signal::SIGKILL), (8, Signal::SIGTERM)]
        {
            wrong.deadlock_can_be_read(ranks, signal);
        }
    }
}

#[test]
fn an_abort_can_be_read() {
    for wrong in Wrong::in_c() {
        for ranks in [2, 4, 8] {
            wrong.abort_can_be_read(ranks);
        }
    }
}

#[test]
fn a_message_that_nobody_receives_is_there() {
    for wrong in Wrong::in_c() {
        for ranks in [2, 4, 8] {
            wrong.message_that_nobody_receives_is_there(ranks);
        }
    }
}

#[test]
fn what_goes_wrong_can_be_read_whatever_the_language() {
    for wrong in Wrong::in_others() {
        wrong.deadlock_can_be_read(4, Signal::SIGTERM);
        wrong.abort_can_be_read(4);
        wrong.message_that_nobody_receives_is_there(4);
    }
}

#[test]
fn the_child_of_a_fork_is_not_in_the_log() {
    for wrong in Wrong::in_c() {
        let left = wrong.run("fork", 2, |running, _| _ = running.wait().expect_code(0));
        left.logs.iter().for_each(EventLog::check);
        check_together(&left.logs);
    }
}
