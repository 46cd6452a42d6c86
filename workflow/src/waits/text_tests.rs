//! The report of a run whose waits are known.

use falloff_messages::waits::{Options, SamePaths};
use falloff_messages::{Call, Collective, Completion, MemoryLog, Mode, Op, Operation, Receive, Send};
use serde_json::Value;

use super::{TextOptions, Waiting, csv, json, text};
use crate::report::Paint;

const MS: u64 = 1_000_000;

fn call(log: &mut MemoryLog, rank: u32, name: &'static str, ms: [u64; 2], context: u32, ops: Vec<Op>) {
    let function = log.function(name);
    let [enter, leave] = ms.map(|ms| ms * MS);
    log.push(rank as usize, Call { function, section: 0, context, enter, leave, ops });
}

fn done(post: u64, from: Option<u32>) -> Op {
    Op::Complete(Completion { post, from, tag: from.map(|_| 0), bytes: 8, void: false })
}

/// Rank 0 computes 40 ms and sends to rank 1, which had waited, computes 10 ms and sends on to rank 2; then all meet.
fn waiting() -> Waiting {
    let mut log = MemoryLog::new(3);
    let comm = Default::default();
    for rank in 0..3 {
        call(&mut log, rank, "MPI_Comm_rank", [0, 0], 1, vec![]);
    }
    let send = |post, to| Op::Send(Send { post, mode: Mode::Standard, to, tag: 0, comm, bytes: 8 });
    let receive = |from| Op::Receive(Receive { post: 0, from: Some(from), tag: Some(0), comm });
    call(&mut log, 0, "MPI_Send", [40, 41], 2, vec![send(0, 1), done(0, None)]);
    call(&mut log, 1, "MPI_Recv", [5, 41], 3, vec![receive(0), done(0, Some(0))]);
    call(&mut log, 1, "MPI_Send", [51, 52], 2, vec![send(1, 2), done(1, None)]);
    call(&mut log, 2, "MPI_Recv", [6, 52], 3, vec![receive(1), done(0, Some(1))]);
    for (rank, enter) in [(0, 60), (1, 53), (2, 52)] {
        let post = 2;
        let barrier = Collective {
            post,
            operation: Operation::Barrier,
            comm,
            sequence: 0,
            root: None,
            sent: 0,
            received: 0,
        };
        call(&mut log, rank, "MPI_Barrier", [enter, 61], 4, vec![Op::Collective(barrier), done(post, None)]);
    }
    let names = |path| {
        let function = ["", "MPI_Comm_rank", "MPI_Send", "MPI_Recv", "MPI_Barrier"][path as usize];
        vec!["main".into(), "step".into(), function.into()]
    };
    Waiting::of(&mut log, Options::default(), SamePaths, names).unwrap()
}

#[test]
fn the_report_says_who_waits_and_why() {
    let options = TextOptions { paint: Paint::default(), width: 110, threshold: 0.005, limit: 12 };
    insta::assert_snapshot!(text(&waiting(), "run", &["rank 2 did not end in order".into()], &options));
}

#[test]
fn the_report_of_a_run_that_got_stuck_says_who_waits_for_whom() {
    let mut log = MemoryLog::new(2);
    for rank in 0..2 {
        let other = Some(1 - rank);
        let receive = Receive { post: 0, from: other, tag: Some(4), comm: Default::default() };
        call(&mut log, rank, "MPI_Recv", [0, 5], 1, vec![Op::Receive(receive), done(0, other)]);
    }
    let waiting = Waiting::of(&mut log, Options::default(), SamePaths, |_| vec!["main".into()]).unwrap();
    let options = TextOptions { paint: Paint::default(), width: 110, threshold: 0.005, limit: 12 };
    let text = text(&waiting, "run", &[], &options);
    let told = ["ranks 0, 1 wait for one another in a ring", "waits for a message from rank 1 with tag 4"];
    assert!(told.iter().all(|told| text.contains(told)), "{text}");
}

#[test]
fn json_has_all_of_it() {
    let document: Value = serde_json::from_str(&json(&waiting()).unwrap()).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"falloff.waits".into(), &1.into()));
    assert_eq!(document["run"]["waiting_ns"], (35 + 45 + 7 + 8) * MS);
    let values = document["values"].as_array().unwrap();
    let late = |value: &&Value| value["metric"] == "late sender" && value["rank"] == 2;
    assert_eq!(values.iter().find(late).unwrap()["value_ns"], 45 * MS);
    let sum = |list: &str, field: &str| -> u64 {
        document[list].as_array().unwrap().iter().map(|of| of[field].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("causes", "waiting_ns"), (35 + 45 + 7 + 8) * MS);
}

#[test]
fn csv_has_a_line_for_each_value() {
    let text = csv(&waiting());
    assert!(text.starts_with("rank,thread,metric,path,value_ns\n"));
    assert!(text.contains("\n1,0,late sender,main;step;MPI_Recv,35000000\n"), "{text}");
}
