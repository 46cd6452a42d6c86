//! One small run in all formats.

use std::collections::{BTreeMap, BTreeSet};

use super::{Window, dot, graphml, perfetto};
use crate::script::{Script, came, done};
use crate::{MemoryLog, Operation};

/// Three ranks that pass messages of every kind and meet twice.
fn run() -> MemoryLog {
    let mut script = Script::new(3);
    script.length = 10;
    for rank in 0..3 {
        script.compute(rank, 100 * (rank as u64 + 1));
        script.barrier(rank);
    }
    script.send(0, 1, 7, 64);
    script.recv(1, 0, 7);
    let sent = script.isend(1, 2, 8, 4096);
    let wanted = script.irecv(2, None, 8);
    script.wait(1, &[done(sent)]);
    script.wait(2, &[came(wanted, 1, 8)]);
    script.ssend(2, 0, 9, 1);
    script.recv_any(0, 2, 9);
    script.sendrecv(0, 1, 1, 3, 16);
    script.sendrecv(1, 0, 0, 3, 16);
    for rank in 0..3 {
        script.collective(rank, Operation::AllReduce, Default::default(), None, 8);
    }
    script.log
}

/// Edges of a DOT text, each with whether it is a message.
fn edges(text: &str) -> Vec<(String, String, bool)> {
    let lines = text.lines().filter_map(|line| line.trim().split_once(" -> "));
    lines
        .map(|(from, rest)| {
            let (to, attributes) = rest.split_once(' ').unwrap();
            (from.to_owned(), to.to_owned(), attributes.contains("bytes, tag"))
        })
        .collect()
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// Whether edges lead in no circle, by taking away what nothing leads to.
fn is_acyclic(edges: &[(String, String, bool)]) -> bool {
    let mut incoming: BTreeMap<&str, usize> = BTreeMap::new();
    for (from, to, _) in edges {
        incoming.entry(from).or_default();
        *incoming.entry(to).or_default() += 1;
    }
    let mut free: Vec<&str> = incoming.iter().filter(|(_, n)| **n == 0).map(|(node, _)| *node).collect();
    let mut taken = 0;
    while let Some(node) = free.pop() {
        taken += 1;
        for (_, to, _) in edges.iter().filter(|(from, ..)| from == node) {
            let left = incoming.get_mut(to.as_str()).unwrap();
            *left -= 1;
            if *left == 0 {
                free.push(to);
            }
        }
    }
    taken == incoming.len()
}

#[test]
fn the_graph_goes_forwards_and_has_every_message() {
    let mut written = Default::default();
    let text = text(|out| written = dot(&mut run(), &Window::default(), out).unwrap());
    assert!(written.outcome.is_whole(), "{:?}", written.outcome);
    assert_eq!((written.calls, written.messages), (16, 5));
    assert_eq!(written.messages, written.outcome.messages);
    let edges = edges(&text);
    assert!(is_acyclic(&edges), "{text}");
    assert_eq!(edges.iter().filter(|(.., message)| *message).count(), 5);
    // The synchronous send ends after its receive was begun.
    assert_eq!(text.matches("style=dashed").count(), 1, "{text}");
    assert_eq!(text.matches("shape=diamond").count(), 2, "{text}");
    let named: BTreeSet<&str> =
        text.lines().filter_map(|l| l.trim().split_once(" [")).map(|(n, _)| n).collect();
    assert!(edges.iter().all(|(from, to, _)| named.contains(&from[..]) && named.contains(&to[..])), "{text}");
}

#[test]
fn graphml_has_the_same_nodes_and_edges() {
    let dot = text(|out| drop(dot(&mut run(), &Window::default(), out).unwrap()));
    let xml = text(|out| drop(graphml(&mut run(), &Window::default(), out).unwrap()));
    assert_eq!(xml.matches("<edge ").count(), edges(&dot).len());
    assert_eq!(xml.matches("<node ").count(), 2 * 16 + 2);
    let kind = |kind: &str| xml.matches(&format!("<data key=\"edge_kind\">{kind}</data>")).count();
    assert_eq!([kind("message"), kind("call"), kind("compute"), kind("ready")], [5, 16, 13, 1]);
    let ids: BTreeSet<&str> =
        xml.split("<node id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(ids.len(), 2 * 16 + 2, "ids are used twice");
}

#[test]
fn a_window_holds_its_calls_and_no_edge_out_of_it() {
    let window = Window { ranks: Some([0, 1].into()), ..Window::default() };
    let mut written = Default::default();
    let text = text(|out| written = dot(&mut run(), &window, out).unwrap());
    assert_eq!(written.messages, 3, "{text}");
    let named: BTreeSet<&str> =
        text.lines().filter_map(|l| l.trim().split_once(" [")).map(|(n, _)| n).collect();
    assert!(
        edges(&text).iter().all(|(from, to, _)| named.contains(&from[..]) && named.contains(&to[..])),
        "{text}"
    );
    let window = Window { from: 0, until: Some(1), ranks: None };
    assert_eq!(dot(&mut run(), &window, Vec::new()).unwrap().calls, 0);
}

#[test]
fn arrows_of_a_trace_are_its_messages() {
    let mut written = Default::default();
    let json = text(|out| written = perfetto(&mut run(), &Window::default(), out).unwrap());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).collect::<Vec<_>>();
    assert_eq!([of("X").len(), of("s").len(), of("f").len(), of("M").len()], [16, 5, 5, 6]);
    assert_eq!(written.messages, 5);
    // Both ends of an arrow lie within a call of their track.
    for end in of("s").into_iter().chain(of("f")) {
        let time = end["ts"].as_f64().unwrap();
        let around = of("X").into_iter().any(|call| {
            let (begin, length) = (call["ts"].as_f64().unwrap(), call["dur"].as_f64().unwrap());
            call["pid"] == end["pid"] && call["tid"] == end["tid"] && (begin..begin + length).contains(&time)
        });
        assert!(around, "{end}");
    }
    let ids: BTreeSet<u64> = of("s").iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 5);
    let first = of("X").into_iter().find(|call| call["pid"] == 0).unwrap();
    assert_eq!((&first["ts"], &first["dur"]), (&0.1.into(), &0.01.into()), "{first}");
}

#[test]
fn a_place_that_refuses_is_an_error() {
    /// Has room for the head and not for the calls.
    struct Small(usize);
    impl std::io::Write for Small {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("full"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = dot(&mut run(), &Window::default(), Small(200)).unwrap_err();
    assert_eq!(error.to_string(), "failed to write the graph: full");
}
