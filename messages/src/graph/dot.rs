//! The language of Graphviz.

use std::io::{self, Write};

use super::walk::{Error, Message, Sink, Step, Written, walk};
use super::window::Window;
use crate::{Collective, Location, Log};

/// Writes a window of a log for `dot`: a row of nodes for each thread, messages in blue, collective operations as diamonds.
///
/// # Errors
/// The log cannot be matched, or nothing can be written.
pub fn dot<L: Log + ?Sized>(log: &mut L, window: &Window, mut out: impl Write) -> Result<Written, Error> {
    writeln!(
        out,
        "digraph messages {{\n  rankdir=LR;\n  node [shape=box, fontsize=10];\n  edge [fontsize=9];"
    )?;
    let written = walk(log, window, Dot { out: &mut out })?;
    writeln!(out, "}}")?;
    Ok(written)
}

struct Dot<W> {
    out: W,
}

impl<W: Write> Sink for Dot<W> {
    fn call(
        &mut self,
        step: Step,
        location: Location,
        function: &str,
        before: Option<Step>,
    ) -> io::Result<()> {
        let (begin, end) = (begin(step), end(step));
        let (rank, thread) = (location.rank, location.thread);
        let place = if thread == 0 { format!("rank {rank}") } else { format!("rank {rank} thread {thread}") };
        let function = escaped(function);
        writeln!(
            self.out,
            "  {begin} [group=\"l{}\", label=\"{place}\\n{function}\\n{} ns\"];",
            step.location, step.enter
        )?;
        writeln!(
            self.out,
            "  {end} [group=\"l{}\", label=\"{} ns\", shape=point];",
            step.location, step.leave
        )?;
        writeln!(self.out, "  {begin} -> {end} [label=\"{} ns\"];", step.leave.saturating_sub(step.enter))?;
        match before {
            Some(before) => writeln!(
                self.out,
                "  {} -> {begin} [label=\"{} ns\", style=bold];",
                self::end(before),
                step.enter.saturating_sub(before.leave)
            ),
            None => Ok(()),
        }
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        let (from, to) = (begin(message.from), end(message.to));
        let Message { bytes, tag, .. } = message;
        writeln!(
            self.out,
            "  {from} -> {to} [color=\"#0072B2\", label=\"{bytes} bytes, tag {tag}\", constraint=false];"
        )
    }

    fn waited(&mut self, receive: Step, send: Step) -> io::Result<()> {
        let (from, to) = (begin(receive), end(send));
        writeln!(self.out, "  {from} -> {to} [color=\"#D55E00\", style=dashed, constraint=false];")
    }

    fn hub(&mut self, collective: &Collective) -> io::Result<()> {
        writeln!(self.out, "  {} [shape=diamond, label=\"{:?}\"];", hub(collective), collective.operation)
    }

    fn joins(&mut self, step: Step, collective: &Collective) -> io::Result<()> {
        let hub = hub(collective);
        writeln!(self.out, "  {} -> {hub} [color=\"#009E73\"];", begin(step))
    }

    fn completes(&mut self, collective: &Collective, step: Step) -> io::Result<()> {
        let hub = hub(collective);
        writeln!(self.out, "  {hub} -> {} [color=\"#009E73\"];", end(step))
    }
}

/// Name of the node of a call's beginning.
pub(super) fn begin(step: Step) -> String {
    format!("b{}_{}", step.location, step.index)
}

/// Name of the node of a call's end.
pub(super) fn end(step: Step) -> String {
    format!("e{}_{}", step.location, step.index)
}

/// Name of the node of a collective operation.
pub(super) fn hub(collective: &Collective) -> String {
    format!("c{}_{}", collective.comm.0, collective.sequence)
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
