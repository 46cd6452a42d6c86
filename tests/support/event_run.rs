//! Programs that count what they do by MPI, run with a log and without.

use std::collections::BTreeMap;
use std::fs;

use super::event_log::{EventLog, Tallies, check_together, told};
use super::ranks::said_by_ranks;
use super::{Workshop, bash, outcome, tools};

const LIBRARIES: [&str; 2] = ["openmpi", "mpich"];

/// Operations of all modes of messages, as programs tell of them.
const SENDS: [&str; 4] = ["send", "synchronous", "buffered", "ready"];

/// The libraries that are here, with compilers for the language.
pub fn libraries(compiler: &str) -> impl Iterator<Item = &'static str> {
    let needed = move |mpi: &str| [format!("{compiler}.{mpi}"), format!("mpirun.{mpi}")];
    let is_here = move |mpi: &&str| tools::have(&needed(mpi).each_ref().map(String::as_str));
    LIBRARIES.into_iter().filter(is_here)
}

/// What a program says without a log, in an order of its own.
#[track_caller]
fn answer(shop: &Workshop, mpi: &str, ranks: u32, program: &str) -> Vec<String> {
    sorted(&said_by_ranks(shop, mpi, ranks, program))
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Runs a program with a log and without: it says the same. What it says of itself must be what its logs say, these must go together,
/// and every message and operation of all finds its other side.
#[track_caller]
pub fn program_is_right(shop: &Workshop, mpi: &str, ranks: u32, program: &str) -> Vec<EventLog> {
    let plain = answer(shop, mpi, ranks, program);
    let (said, logs) = log_is_right(shop, mpi, ranks, program);
    assert_eq!(sorted(&said), plain, "{mpi}, {ranks} ranks");
    logs
}

/// Runs a program with a log only; gives what it says, and the logs.
#[track_caller]
pub fn log_is_right(shop: &Workshop, mpi: &str, ranks: u32, program: &str) -> (String, Vec<EventLog>) {
    let measured = format!("\"$FALLOFF\" run --events mpi -o run -- {program}");
    let said = said_by_ranks(shop, mpi, ranks, &measured);
    let mut logs = EventLog::of_run(&shop.path("run"));
    // A program that only starts the one with MPI has made no calls.
    logs.retain(|log| !log.threads.is_empty());
    assert_eq!(logs.len(), ranks as usize);
    let told = told(&said);
    let seen: BTreeMap<i32, Tallies> = logs.iter().map(|log| (log.rank, log.tallies())).collect();
    assert_eq!(seen, told, "{mpi}, {ranks} ranks");
    logs.iter().for_each(EventLog::check);
    let together = check_together(&logs);

    let waits =
        outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" waits run --format json")).expect_code(0).json();
    let tallies = told.values().flat_map(|of| SENDS.iter().filter_map(move |what| of.get(*what)));
    let (messages, bytes) = tallies.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let run = &waits["run"];
    assert_eq!(run["complete"], true, "{mpi}, {ranks} ranks: {run}");
    assert_eq!((run["messages"].as_u64(), run["message_bytes"].as_u64()), (Some(messages), Some(bytes)));
    assert_eq!(run["collectives"].as_u64(), Some(together as u64), "{mpi}, {ranks} ranks");
    noise_is_bounded(shop);
    fs::remove_dir_all(shop.path("run")).unwrap();
    (said, logs)
}

/// Noise makes no rank of a replay end earlier, nor later than delays come to where nothing absorbs them.
#[track_caller]
fn noise_is_bounded(shop: &Workshop) {
    let text = "exec \"$FALLOFF\" replay run --noise exponential:20000 --format json";
    let replay = outcome(&mut bash(shop.dir(), text)).expect_code(0).json();
    let bound = replay["delays_only_ns"].as_i64().unwrap();
    for effect in replay["cases"][0]["effect_ns"].as_array().unwrap() {
        assert!((0..=bound).contains(&effect.as_i64().unwrap()), "{replay:#}");
    }
}
