//! `falloff export --format dot|graphml|perfetto|otf2`: the calls of MPI of a run, and the messages between its ranks.

use std::io;

use falloff_messages::graph::{Error, Window, Written, dot, graphml, perfetto};
use falloff_postprocess::messages::RunLog;
use falloff_workflow::exit;
use falloff_workflow::otf2::otf2;

use crate::args::ExportArgs;
use crate::export::{in_new_directory, write_file};
use crate::failure::Failure;
use crate::output::Output;
use crate::window;

/// Names of the formats.
pub const FORMATS: [&str; 4] = ["dot", "graphml", "perfetto", "otf2"];

/// Writes the calls that a run logged.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    check_options(args)?;
    let dir = args.dir.display();
    let Some(mut log) = RunLog::open(&args.dir)? else {
        return Err(Failure {
            message: format!("failed to export `{dir}` as `{}`: it holds no calls of MPI", args.format),
            hint: Some("log them when the program runs: `falloff run --events mpi -- PROGRAM`".into()),
            code: exit::INCOMPLETE,
        });
    };
    let window = window(args, &mut log)?;
    let mut result = Ok(Written::default());
    let mut write = |write: &mut dyn FnMut(&mut RunLog) -> Result<Written, Error>| {
        result = write(&mut log);
        // What failed is told by the result; the file is not put in its place.
        if result.is_err() { Err(io::Error::other("the export failed")) } else { Ok(()) }
    };
    let placed = match args.format.as_str() {
        "dot" => write_file(&args.output, output, |out| write(&mut |log| dot(log, &window, &mut *out))),
        "graphml" => {
            write_file(&args.output, output, |out| write(&mut |log| graphml(log, &window, &mut *out)))
        }
        "perfetto" => {
            write_file(&args.output, output, |out| write(&mut |log| perfetto(log, &window, &mut *out)))
        }
        _ => in_new_directory(&args.output, |dir| write(&mut |log| otf2(log, dir))),
    };
    let written = result.map_err(|error| failed(args, &error))?;
    placed?;
    tell(&log, &written, output);
    Ok(exit::OK)
}

/// Says what was left out and what did not fit together.
fn tell(log: &RunLog, written: &Written, output: &Output) {
    for warning in log.warnings() {
        output.warn(&format!("falloff: {warning}"));
    }
    if !written.outcome.is_whole() {
        output.warn(&format!("falloff: {}", written.outcome.to_string().trim_end()));
    }
    output.note(&format!("falloff: {} calls and {} messages written", written.calls, written.messages));
}

/// The window that was asked for, by the ranks' own clocks; its times count from the first call of all.
fn window(args: &ExportArgs, log: &mut RunLog) -> Result<Window, Failure> {
    let mut window = args.window.clone().unwrap_or_default();
    if args.window.is_some() {
        window = window.counted_from(window::begin(log).map_err(|error| failed(args, &error))?);
    }
    window.ranks = window::ranks(&args.dir, args.location.as_slice(), log, "export")?;
    Ok(window)
}

fn failed(args: &ExportArgs, error: &dyn std::error::Error) -> Failure {
    Failure {
        message: format!("failed to export `{}` as `{}`: {error}", args.dir.display(), args.format),
        hint: Some("measure again, or choose another format or place".into()),
        code: exit::INCOMPLETE,
    }
}

/// Refuses options that would do nothing.
fn check_options(args: &ExportArgs) -> Result<(), Failure> {
    let of_profiles = [
        ("--metric", args.metric.is_some()),
        ("--by", args.by.is_some()),
        ("--basis", args.basis.is_some()),
        ("--base", args.base.is_some()),
        ("--at", args.at.is_some()),
    ];
    let windowed = args.window.is_some() || args.location.is_some();
    let useless = of_profiles.iter().find(|(_, given)| *given).map(|(name, _)| *name);
    let useless = useless.or((windowed && args.format == "otf2").then_some("--window or --location"));
    match useless {
        Some(name) => Err(Failure::usage(
            format!("failed to export as `{}`: {name} is for other formats", args.format),
            "leave it out, or choose another format",
        )),
        None => Ok(()),
    }
}
