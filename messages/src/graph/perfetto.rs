//! The trace events of Chrome, which Perfetto's viewer reads: a track for each thread of each rank, arrows for messages.

use std::io::{self, Write};

use super::walk::{Error, Message, Sink, Step, Written, walk};
use super::window::Window;
use crate::{Collective, Location, Log};

/// Writes a window of a log as JSON. Times are microseconds of the ranks' own clocks.
///
/// # Errors
/// The log cannot be matched, or nothing can be written.
pub fn perfetto<L: Log + ?Sized>(
    log: &mut L,
    window: &Window,
    mut out: impl Write,
) -> Result<Written, Error> {
    let locations = log.locations().to_vec();
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut separator = "\n";
    for Location { rank, thread } in &locations {
        for (kind, name) in
            [("process_name", format!("rank {rank}")), ("thread_name", format!("thread {thread}"))]
        {
            write!(
                out,
                "{separator}{{\"ph\":\"M\",\"pid\":{rank},\"tid\":{thread},\"name\":\"{kind}\",\"args\":{{\"name\":\"{name}\"}}}}"
            )?;
            separator = ",\n";
        }
    }
    let written = walk(log, window, Trace { out: &mut out, locations: &locations, separator, arrows: 0 })?;
    writeln!(out, "\n]}}")?;
    Ok(written)
}

struct Trace<'a, W> {
    out: W,
    locations: &'a [Location],
    separator: &'static str,
    /// So many arrows were drawn.
    arrows: u64,
}

impl<W: Write> Trace<'_, W> {
    /// What all events have, and the beginning of an object.
    fn event(&mut self, kind: &str, step: Step, time: u64) -> io::Result<()> {
        let Location { rank, thread } = self.locations[step.location];
        let separator = std::mem::replace(&mut self.separator, ",\n");
        write!(
            self.out,
            "{separator}{{\"ph\":\"{kind}\",\"pid\":{rank},\"tid\":{thread},\"ts\":{}",
            microseconds(time)
        )
    }

    /// One end of an arrow.
    fn arrow_end(&mut self, kind: &str, name: &str, step: Step, time: u64, more: &str) -> io::Result<()> {
        self.event(kind, step, time)?;
        write!(self.out, ",\"id\":{},\"cat\":\"{name}\",\"name\":\"{name}\"{more}}}", self.arrows)
    }
}

impl<W: Write> Sink for Trace<'_, W> {
    fn call(&mut self, step: Step, _: Location, function: &str, _: Option<Step>) -> io::Result<()> {
        self.event("X", step, step.enter)?;
        let duration = microseconds(step.leave.saturating_sub(step.enter));
        write!(self.out, ",\"dur\":{duration},\"cat\":\"mpi\",\"name\":\"{}\"}}", json(function))
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        self.arrows += 1;
        let about = format!(",\"args\":{{\"bytes\":{},\"tag\":{}}}", message.bytes, message.tag);
        self.arrow_end("s", "message", message.from, message.from.enter, &about)?;
        // An arrow belongs to what is under way at its time, which the end of a call is not any more.
        let last = message.to.leave.saturating_sub(1).max(message.to.enter);
        self.arrow_end("f", "message", message.to, last, ",\"bp\":\"e\"")
    }

    fn waited(&mut self, _: Step, _: Step) -> io::Result<()> {
        Ok(())
    }

    fn hub(&mut self, _: &Collective) -> io::Result<()> {
        Ok(())
    }

    fn joins(&mut self, _: Step, _: &Collective) -> io::Result<()> {
        Ok(())
    }

    fn completes(&mut self, _: &Collective, _: Step) -> io::Result<()> {
        Ok(())
    }
}

/// Microseconds with all their nanoseconds.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn json(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect()
}
