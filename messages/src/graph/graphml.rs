//! The XML of graphs that NetworkX, Gephi, yEd and igraph read.

use std::io::{self, Write};

use super::dot::{begin, end, hub};
use super::walk::{Error, Message, Sink, Step, Written, walk};
use super::window::Window;
use crate::{Collective, Location, Log};

/// What nodes and edges have: of what, name, type.
const KEYS: [(&str, &str, &str); 9] = [
    ("node", "rank", "int"),
    ("node", "thread", "int"),
    ("node", "function", "string"),
    ("node", "kind", "string"),
    ("node", "time_ns", "long"),
    ("edge", "edge_kind", "string"),
    ("edge", "duration_ns", "long"),
    ("edge", "bytes", "long"),
    ("edge", "tag", "int"),
];

/// Writes a window of a log as GraphML.
///
/// # Errors
/// The log cannot be matched, or nothing can be written.
pub fn graphml<L: Log + ?Sized>(log: &mut L, window: &Window, mut out: impl Write) -> Result<Written, Error> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    for (of, name, kind) in KEYS {
        writeln!(out, "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")?;
    }
    writeln!(out, "  <graph id=\"messages\" edgedefault=\"directed\">")?;
    let written = walk(log, window, Graphml { out: &mut out })?;
    writeln!(out, "  </graph>\n</graphml>")?;
    Ok(written)
}

struct Graphml<W> {
    out: W,
}

impl<W: Write> Graphml<W> {
    fn node(&mut self, id: &str, data: &[(&str, &str)]) -> io::Result<()> {
        writeln!(self.out, "    <node id=\"{id}\">{}</node>", elements(data))
    }

    fn edge(&mut self, from: &str, to: &str, data: &[(&str, &str)]) -> io::Result<()> {
        writeln!(self.out, "    <edge source=\"{from}\" target=\"{to}\">{}</edge>", elements(data))
    }

    /// An edge along which time passes.
    fn lasting(&mut self, from: &str, to: &str, kind: &str, duration: u64) -> io::Result<()> {
        self.edge(from, to, &[("edge_kind", kind), ("duration_ns", &duration.to_string())])
    }
}

fn elements(data: &[(&str, &str)]) -> String {
    data.iter().map(|(key, value)| format!("<data key=\"{key}\">{}</data>", xml(value))).collect()
}

impl<W: Write> Sink for Graphml<W> {
    fn call(
        &mut self,
        step: Step,
        location: Location,
        function: &str,
        before: Option<Step>,
    ) -> io::Result<()> {
        let (rank, thread) = (location.rank.to_string(), location.thread.to_string());
        let (first, last) = (begin(step), end(step));
        for (id, kind, time) in [(&first, "begin", step.enter), (&last, "end", step.leave)] {
            let data = [
                ("rank", rank.as_str()),
                ("thread", &thread),
                ("function", function),
                ("kind", kind),
                ("time_ns", &time.to_string()),
            ];
            self.node(id, &data)?;
        }
        self.lasting(&first, &last, "call", step.leave.saturating_sub(step.enter))?;
        match before {
            Some(before) => {
                self.lasting(&end(before), &first, "compute", step.enter.saturating_sub(before.leave))
            }
            None => Ok(()),
        }
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        let (bytes, tag) = (message.bytes.to_string(), message.tag.to_string());
        let data = [("edge_kind", "message"), ("bytes", bytes.as_str()), ("tag", &tag)];
        self.edge(&begin(message.from), &end(message.to), &data)
    }

    fn waited(&mut self, receive: Step, send: Step) -> io::Result<()> {
        self.edge(&begin(receive), &end(send), &[("edge_kind", "ready")])
    }

    fn hub(&mut self, collective: &Collective) -> io::Result<()> {
        let operation = format!("{:?}", collective.operation);
        self.node(&hub(collective), &[("kind", "collective"), ("function", &operation)])
    }

    fn joins(&mut self, step: Step, collective: &Collective) -> io::Result<()> {
        self.edge(&begin(step), &hub(collective), &[("edge_kind", "collective")])
    }

    fn completes(&mut self, collective: &Collective, step: Step) -> io::Result<()> {
        self.edge(&hub(collective), &end(step), &[("edge_kind", "collective")])
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
