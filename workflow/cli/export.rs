//! `falloff export`: the profile of a run in the format of another tool.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use falloff_postprocess::export::{self, Profile};
use falloff_postprocess::open;
use falloff_postprocess::views::left_out_line;
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;

use crate::args::{By, ExportArgs};
use crate::export_sweep;
use crate::failure::Failure;
use crate::output::Output;
use crate::view::metric;

/// A format that can be written.
struct Format {
    name: &'static str,
    metrics: Metrics,
    /// What is kept apart if nothing is asked for.
    by: export::By,
    writer: Writer,
}

impl Format {
    /// A format of one file, in which nothing is kept apart if nothing is asked for.
    const fn file(name: &'static str, metrics: Metrics, write: WriteFile) -> Format {
        Format { name, metrics, by: export::By::None, writer: Writer::File(write) }
    }
}

/// What a profile in the format holds if no metric is asked for.
#[derive(Clone, Copy)]
enum Metrics {
    /// The default one.
    One,
    /// All.
    All,
}

/// Writes a profile to a file.
type WriteFile = fn(&Profile, &mut dyn Write) -> io::Result<()>;

/// How a format is written.
#[derive(Clone, Copy)]
enum Writer {
    /// A file, which may be standard output.
    File(WriteFile),
    /// A directory that is not there yet.
    Directory(fn(&Profile, &Path) -> io::Result<()>),
}

const FORMATS: [Format; 10] = [
    Format::file("folded", Metrics::One, export::folded),
    Format::file("speedscope", Metrics::One, export::speedscope),
    Format::file("pprof", Metrics::All, export::pprof),
    Format::file("firefox", Metrics::One, export::firefox),
    Format::file("callgrind", Metrics::All, export::callgrind),
    Format::file("csv", Metrics::All, export::csv),
    Format {
        name: "parquet",
        metrics: Metrics::All,
        by: export::By::None,
        writer: Writer::Directory(export::parquet),
    },
    Format::file("hatchet", Metrics::All, export::hatchet),
    Format::file("caliper", Metrics::All, export::caliper),
    Format { by: export::By::Thread, ..Format::file("cube", Metrics::All, export::cube) },
];

/// Writes the profile of a run, or those of a sweep where the format compares runs.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    if args.format == export_sweep::FORMAT {
        return export_sweep::export(args, output);
    }
    let Some(format) = FORMATS.iter().find(|f| f.name == args.format) else {
        let names: Vec<&str> = FORMATS.iter().map(|f| f.name).chain([export_sweep::FORMAT]).collect();
        return Err(Failure::usage(
            format!("failed to export as `{}`: there is no such format", args.format),
            format!("use one of: {}", names.join(", ")),
        ));
    };
    if Plan::exists(&args.dir) {
        return Err(Failure::usage(
            format!("failed to export `{}`: it holds a sweep of several runs", args.dir.display()),
            format!(
                "name one of its runs, for example {}/runs/n0001-r1, or use `--format {}`",
                args.dir.display(),
                export_sweep::FORMAT
            ),
        ));
    }
    if args.basis.is_some() {
        return Err(Failure::usage(
            format!("failed to export as `{}`: --basis is for sweeps", args.format),
            format!("leave it out, or use `--format {}`", export_sweep::FORMAT),
        ));
    }
    let database = args.threads.of(open(&args.dir, &args.debug.options())?);
    let metric = metric(&database, &args.dir, args.metric.as_deref())?;
    let by = match args.by {
        None => format.by,
        Some(By::None) => export::By::None,
        Some(By::Process) => export::By::Process,
        Some(By::Rank) => export::By::Rank,
        Some(By::Thread) => export::By::Thread,
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
    match writer {
        Writer::File(write) => write_file(path, output, |out| write(profile, out)),
        Writer::Directory(_) if path == Path::new(STANDARD_OUTPUT) => Err(Failure::usage(
            "failed to write to standard output: this format is a directory",
            "choose a directory that is not there yet with `-o PATH`",
        )),
        Writer::Directory(write) => {
            fs::create_dir(path).and_then(|()| write(profile, path)).map_err(|e| not_written(path, &e))
        }
    }
}

/// Name of standard output on the command line.
const STANDARD_OUTPUT: &str = "-";

/// Writes a file or to standard output.
pub fn write_file(
    path: &Path,
    output: &Output,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path == Path::new(STANDARD_OUTPUT) {
        return output.stream(write);
    }
    let written = File::create(path).map(BufWriter::new).and_then(|mut out| {
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|e| not_written(path, &e))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::InvalidInput => "choose other options, or another format",
        _ => "choose another place with `-o PATH`, or `-o -` for standard output",
    };
    Failure::usage(format!("failed to write `{}`: {error}", path.display()), hint)
}
