//! Calls of MPI as graphs and traces: every message that a program counted is in all of them, and their own readers take them.

use std::fs;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// A run of four ranks with a log, and how many messages the program itself has counted.
fn run(shop: &Workshop) -> usize {
    build_with(shop, "mpicc.mpich -O2 -g -pthread", "events/messages.c", "messages");
    let text = "mpirun.mpich -n 4 \"$FALLOFF\" run --events mpi -o run -- ./messages";
    let end = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let received = end.stdout.lines().filter_map(|line| line.split_once(" receive "));
    let counted = received.map(|(_, counts)| counts.split(' ').next().unwrap().parse::<usize>().unwrap());
    let counted = counted.sum();
    assert!(counted > 100, "{end}");
    counted
}

/// Exports, and what it says of calls and messages.
fn export(shop: &Workshop, args: &str) -> (usize, usize) {
    let end = outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" export run {args}"))).expect_code(0);
    let words: Vec<&str> = end.stderr.split_whitespace().collect();
    let [_, calls, "calls", "and", messages, "messages", "written"] = words[..] else { panic!("{end}") };
    (calls.parse().unwrap(), messages.parse().unwrap())
}

#[test]
fn every_message_is_in_every_format() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich", "python3", "dot", "otf2-print"]) {
        return;
    }
    let shop = Workshop::shared();
    let counted = run(&shop);
    let calls = export(&shop, "--format perfetto -o calls.json").0;

    let text = fs::read_to_string(shop.path("calls.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
    assert_eq!([of("X"), of("s"), of("f")], [calls, counted, counted]);
    assert!(events.iter().any(|event| event["name"] == "MPI_Ssend"));

    assert_eq!(export(&shop, "--format graphml -o messages.graphml"), (calls, counted));
    let read = "import xml.etree.ElementTree as tree, collections\n\
        space = '{http://graphml.graphdrawing.org/xmlns}'\n\
        graph = tree.parse('messages.graphml').getroot().find(space + 'graph')\n\
        ids = [node.get('id') for node in graph.iter(space + 'node')]\n\
        assert len(ids) == len(set(ids))\n\
        edges = list(graph.iter(space + 'edge'))\n\
        assert {e.get(end) for e in edges for end in ('source', 'target')} <= set(ids)\n\
        kinds = collections.Counter(d.text for e in edges for d in e if d.get('key') == 'edge_kind')\n\
        print(kinds['call'], kinds['message'])";
    fs::write(shop.path("read.py"), read).unwrap();
    let end = outcome(&mut bash(shop.dir(), "exec python3 read.py")).expect_code(0);
    assert_eq!(end.stdout.trim(), format!("{calls} {counted}"), "{end}");

    assert_eq!(export(&shop, "--format dot -o messages.dot"), (calls, counted));
    // Graphviz writes out what it has read, without drawing it.
    let end = outcome(&mut bash(shop.dir(), "dot -Tcanon messages.dot")).expect_code(0);
    assert_eq!(end.stdout.matches("bytes, tag").count(), counted);

    assert_eq!(export(&shop, "--format otf2 -o trace"), (calls, counted));
    let end = outcome(&mut bash(shop.dir(), "otf2-print trace/traces.otf2")).expect_code(0);
    let records =
        |name: &str| end.stdout.lines().filter(|line| line.starts_with(&format!("{name} "))).count();
    assert_eq!(
        [records("ENTER"), records("LEAVE"), records("MPI_SEND"), records("MPI_RECV")],
        [calls, calls, counted, counted],
        "{}",
        end.stderr
    );
}

#[test]
fn a_window_is_a_part() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    let counted = run(&shop);
    let all = export(&shop, "--format dot -o all.dot");
    let two = export(&shop, "--format dot --location rank=0-1 -o two.dot");
    assert!(two.0 * 4 > all.0 && two.0 < all.0 && two.1 > 0 && two.1 < counted, "{two:?} of {all:?}");
    assert!(!fs::read_to_string(shop.path("two.dot")).unwrap().contains("rank 2"));
    assert_eq!(export(&shop, "--format dot --window 0..1000 -o same.dot"), all);
    assert_eq!(export(&shop, "--format dot --window 1000.. -o none.dot"), (0, 0));

    for (args, message) in [
        ("run --format folded --window 0..1 -o -", "--window and --location are for calls of MPI"),
        ("run --format dot --metric time -o -", "--metric is for other formats"),
        ("run --format otf2 --window 0..1 -o x", "--window or --location is for other formats"),
        ("run --format dot --location rank=99 -o -", "no rank is `rank=99`"),
        ("run --format dot --window 2..1 -o -", "no time from A to B"),
    ] {
        let end = outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" export {args}"))).expect_code(2);
        assert!(end.stderr.contains(message), "{args}\n{end}");
    }
    outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" run -o plain -- true")).expect_code(0);
    let end =
        outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" export plain --format dot -o -")).expect_code(3);
    assert!(end.stderr.contains("holds no calls of MPI") && end.stderr.contains("--events mpi"), "{end}");
}
