//! All printing: data to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use falloff_workflow::exit;
use falloff_workflow::report::Paint;

use crate::failure::Failure;

/// Width of a report where the terminal does not say.
const WIDTH: usize = 110;

/// Where a command writes.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Colours of standard output.
    pub paint: Paint,
    /// Columns of a report.
    pub width: usize,
    errors: Paint,
}

impl Output {
    /// Looks at the terminal and the environment: no colour where NO_COLOR is set or nobody reads along.
    pub fn new() -> Output {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|t| t == "dumb");
        let columns = set("COLUMNS").and_then(|c| c.to_str().and_then(|c| c.parse().ok()));
        Output {
            paint: Paint { colour: !plain && io::stdout().is_terminal() },
            width: columns.unwrap_or(WIDTH).clamp(80, 160),
            errors: Paint { colour: !plain && io::stderr().is_terminal() },
        }
    }

    /// Data. A reader that has gone away ends falloff quietly and well.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        self.stream(|out| out.write_all(text.as_bytes()))
    }

    /// Data that is written piece by piece.
    pub fn stream(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(exit::OK),
            Err(error) => Err(Failure {
                message: format!("failed to write to standard output: {error}"),
                hint: Some("check where it is redirected to".into()),
                code: exit::USAGE,
            }),
        }
    }

    /// A line about progress.
    pub fn note(&self, text: &str) {
        self.error_line(text);
    }

    /// A line about something that went wrong on the way.
    pub fn warn(&self, text: &str) {
        self.error_line(&self.errors.yellow(text));
    }

    /// Why the command ends.
    pub fn failure(&self, failure: &Failure) {
        self.error_line(&format!("{} {}", self.errors.red("falloff:"), failure.message));
        if let Some(hint) = &failure.hint {
            self.error_line(&format!("{} {hint}", self.errors.bold("hint:")));
        }
    }

    /// A panic.
    pub fn bug(&self, what: &str) {
        self.error_line(&format!(
            "falloff: this is a bug in falloff {}: {what}\nhint: please report it with this message and the command line",
            env!("CARGO_PKG_VERSION")
        ));
    }

    fn error_line(&self, text: &str) {
        // With standard error gone there is nobody to tell.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
