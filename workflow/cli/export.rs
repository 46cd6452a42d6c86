//! `falloff export`: the profile of a run in the format of another tool.

use std::io::{self, Write};
use std::path::Path;

use falloff_postprocess::export::hpctoolkit::Roots;
use falloff_postprocess::export::{self, Profile};
use falloff_postprocess::open;
use falloff_postprocess::views::left_out_line;
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;
use falloff_workflow::results::{Choice, Results};
use falloff_workflow::scoring::Score;

use crate::args::{By, ExportArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::view::metric;
use crate::{export_excess, export_messages, export_sweep, placed};

/// A format that can be written.
struct Format {
    name: &'static str,
    metrics: Metrics,
    /// What is kept apart if nothing is asked for.
    by: export::By,
    writer: Writer,
    /// Writes two scales of a sweep into a directory; `None` if the format holds single runs only.
    sweep: Option<SweepWriter>,
}

impl Format {
    /// A format of one file, in which nothing is kept apart if nothing is asked for.
    const fn file(name: &'static str, metrics: Metrics, write: WriteFile) -> Format {
        Format { name, metrics, by: export::By::None, writer: Writer::File(write), sweep: None }
    }

    /// A format of a directory, which holds all metrics if none is asked for.
    const fn directory(
        name: &'static str,
        by: export::By,
        write: WriteDirectory,
        sweep: Option<SweepWriter>,
    ) -> Format {
        Format { name, metrics: Metrics::All, by, writer: Writer::Directory(write), sweep }
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
/// Writes a profile into a directory.
type WriteDirectory = fn(&Profile, &Path) -> io::Result<()>;
/// Writes two scales of a sweep into a directory.
type SweepWriter = fn(&Results, &Score, &Path) -> io::Result<()>;

/// How a format is written.
#[derive(Clone, Copy)]
enum Writer {
    /// A file, which may be standard output.
    File(WriteFile),
    /// A directory that is not there yet.
    Directory(WriteDirectory),
}

const FORMATS: [Format; 12] = [
    Format::file("folded", Metrics::One, export::folded),
    Format::file("speedscope", Metrics::One, export::speedscope),
    Format::file("pprof", Metrics::All, export::pprof),
    Format::file("firefox", Metrics::One, export::firefox),
    Format::file("callgrind", Metrics::All, export::callgrind),
    Format::file("csv", Metrics::All, export::csv),
    Format::directory("parquet", export::By::None, export::parquet, None),
    Format::file("hatchet", Metrics::All, export::hatchet),
    Format::file("caliper", Metrics::All, export::caliper),
    Format { by: export::By::Thread, ..Format::file("cube", Metrics::All, export::cube) },
    Format::directory(
        "hpctoolkit",
        export::By::Thread,
        export::hpctoolkit,
        Some(|results, score, dir| export_excess::hpctoolkit(results, score, dir, Roots::Apart)),
    ),
    Format::directory(
        "hpctoolkit-hatchet",
        export::By::Thread,
        export::hpctoolkit_hatchet,
        Some(|results, score, dir| export_excess::hpctoolkit(results, score, dir, Roots::Together)),
    ),
];

/// Writes the profile of a run, or those of a sweep where the format compares runs.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    if args.format == export_sweep::FORMAT {
        return export_sweep::export(args, output);
    }
    if export_messages::FORMATS.contains(&args.format.as_str()) {
        return export_messages::export(args, output);
    }
    let Some(format) = FORMATS.iter().find(|f| f.name == args.format) else {
        let names: Vec<&str> = FORMATS
            .iter()
            .map(|f| f.name)
            .chain([export_sweep::FORMAT])
            .chain(export_messages::FORMATS)
            .collect();
        return Err(Failure::usage(
            format!("failed to export as `{}`: there is no such format", args.format),
            format!("use one of: {}", names.join(", ")),
        ));
    };
    check_options(args)?;
    if Plan::exists(&args.dir) {
        return sweep(args, format);
    }
    let database = args.loops.of(args.threads.of(open(&args.dir, &args.debug.options())?));
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

/// Refuses options that would do nothing.
fn check_options(args: &ExportArgs) -> Result<(), Failure> {
    if args.basis.is_some() {
        return Err(Failure::usage(
            format!(
                "failed to export as `{}`: --basis is for sweeps as `{}`",
                args.format,
                export_sweep::FORMAT
            ),
            format!("leave it out, or use `--format {}`", export_sweep::FORMAT),
        ));
    }
    if args.window.is_some() || args.location.is_some() {
        return Err(Failure::usage(
            format!("failed to export as `{}`: --window and --location are for calls of MPI", args.format),
            format!("leave them out, or use one of: {}", export_messages::FORMATS.join(", ")),
        ));
    }
    if args.base.or(args.at).is_some() && !Plan::exists(&args.dir) {
        return Err(Failure::usage(
            format!(
                "failed to export `{}`: it holds no sweep, which --base and --at are for",
                args.dir.display()
            ),
            "leave them out, or name the directory of a sweep",
        ));
    }
    Ok(())
}

/// Writes two scales of a sweep.
fn sweep(args: &ExportArgs, format: &Format) -> Result<i32, Failure> {
    let dir = args.dir.display();
    let Some(write) = format.sweep else {
        let others =
            FORMATS.iter().filter(|f| f.sweep.is_some()).map(|f| f.name).chain([export_sweep::FORMAT]);
        return Err(Failure::usage(
            format!("failed to export `{dir}` as `{}`: it holds a sweep of several runs", format.name),
            format!(
                "name one of its runs, for example {dir}/runs/n0001-r1, or use a format for sweeps: {}",
                others.collect::<Vec<_>>().join(", ")
            ),
        ));
    };
    let results = args.loops.of_sweep(Results::open(&args.dir, &args.debug.options())?);
    let choice = Choice { metric: args.metric.clone(), base: args.base, at: args.at, ..Choice::default() };
    let score = results.score(&choice)?;
    in_new_directory(&args.output, |dir| write(&results, &score, dir))?;
    Ok(exit::OK)
}

fn write(writer: Writer, profile: &Profile, path: &Path, output: &Output) -> Result<(), Failure> {
    match writer {
        Writer::File(write) => write_file(path, output, |out| write(profile, out)),
        Writer::Directory(write) => in_new_directory(path, |dir| write(profile, dir)),
    }
}

/// Makes a directory and has something written into it.
pub fn in_new_directory(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Failure> {
    if path == Path::new(STANDARD_OUTPUT) {
        return Err(Failure::usage(
            "failed to write to standard output: this format is a directory",
            "choose a directory that is not there yet with `-o PATH`",
        ));
    }
    placed::directory(path, write).map_err(|error| not_written(path, &error))
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
    placed::file(path, write).map_err(|error| not_written(path, &error))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::InvalidInput => "choose other options, or another format",
        _ => "choose another place with `-o PATH`, or `-o -` for standard output",
    };
    Failure::usage(format!("failed to write `{}`: {error}", path.display()), hint)
}
