//! `falloff export`: the profile of a run in the format of another tool.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use falloff_postprocess::export::{self, Profile};
use falloff_postprocess::open;
use falloff_postprocess::views::left_out_line;
use falloff_workflow::exit;

use crate::args::{By, ExportArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::view::metric;

/// A format that can be written.
struct Format {
    name: &'static str,
    metrics: Metrics,
    writer: Writer,
}

/// What a profile in the format holds if no metric is asked for.
#[derive(Clone, Copy)]
enum Metrics {
    /// The default one.
    One,
    /// All.
    All,
}

/// How a format is written.
#[derive(Clone, Copy)]
enum Writer {
    /// A file, which may be standard output.
    File(fn(&Profile, &mut dyn Write) -> io::Result<()>),
    /// A directory that is not there yet.
    Directory(fn(&Profile, &Path) -> io::Result<()>),
}

const FORMATS: [Format; 1] =
    [Format { name: "folded", metrics: Metrics::One, writer: Writer::File(export::folded) }];

/// Writes the profile.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    let Some(format) = FORMATS.iter().find(|f| f.name == args.format) else {
        let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        return Err(Failure::usage(
            format!("failed to export as `{}`: there is no such format", args.format),
            format!("use one of: {}", names.join(", ")),
        ));
    };
    let database = args.threads.of(open(&args.dir, &args.debug.options())?);
    let metric = metric(&database, &args.dir, args.metric.as_deref())?;
    let by = match args.by {
        By::None => export::By::None,
        By::Process => export::By::Process,
        By::Rank => export::By::Rank,
        By::Thread => export::By::Thread,
    };
    // The one that is shown first by default comes first.
    let mut metrics = vec![metric.name.as_str()];
    if let (Metrics::All, None) = (format.metrics, &args.metric) {
        metrics
            .extend(database.metrics().iter().map(|m| m.name.as_str()).filter(|name| *name != metric.name));
    }
    write(format.writer, &Profile::new(&database, &metrics, by), &args.output, output)?;
    for name in &metrics {
        let metric = database.metric(name).unwrap_or(metric);
        if let Some(line) = left_out_line(metric, database.left_out(name, |_| true)) {
            output.note(&format!("falloff: {line}"));
        }
    }
    Ok(exit::OK)
}

fn write(writer: Writer, profile: &Profile, path: &Path, output: &Output) -> Result<(), Failure> {
    let standard_output = path == Path::new("-");
    let written = match writer {
        Writer::File(write) if standard_output => return output.stream(|out| write(profile, out)),
        Writer::File(write) => File::create(path).map(BufWriter::new).and_then(|mut out| {
            write(profile, &mut out)?;
            out.flush()
        }),
        Writer::Directory(_) if standard_output => {
            return Err(Failure::usage(
                "failed to write to standard output: this format is a directory",
                "choose a directory that is not there yet with `-o PATH`",
            ));
        }
        Writer::Directory(write) => fs::create_dir(path).and_then(|()| write(profile, path)),
    };
    written.map_err(|e| {
        Failure::usage(
            format!("failed to write `{}`: {e}", path.display()),
            "choose another place with `-o PATH`, or `-o -` for standard output",
        )
    })
}
