//! `falloff export`: the profile of a run in the format of another tool.

use std::fs;
use std::path::Path;

use falloff_postprocess::views::left_out_line;
use falloff_postprocess::{export, open};
use falloff_workflow::exit;

use crate::args::{By, ExportArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::view::metric;

/// Formats that can be written.
const FORMATS: [&str; 1] = ["folded"];

/// Writes the profile.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    if !FORMATS.contains(&args.format.as_str()) {
        return Err(Failure::usage(
            format!("failed to export as `{}`: there is no such format", args.format),
            format!("use one of: {}", FORMATS.join(", ")),
        ));
    }
    let database = args.threads.of(open(&args.dir, &args.debug.options())?);
    let metric = metric(&database, &args.dir, args.metric.as_deref())?;
    let by = match args.by {
        By::None => export::By::None,
        By::Process => export::By::Process,
        By::Rank => export::By::Rank,
        By::Thread => export::By::Thread,
    };
    let text = export::folded(&database, &metric.name, by).unwrap_or_default();
    if args.output == Path::new("-") {
        output.data(&text)?;
    } else {
        fs::write(&args.output, text).map_err(|e| {
            Failure::usage(
                format!("failed to write `{}`: {e}", args.output.display()),
                "choose another file with `-o PATH`, or `-o -` for standard output",
            )
        })?;
    }
    if let Some(line) = left_out_line(metric, database.left_out(&metric.name, |_| true)) {
        output.note(&format!("falloff: {line}"));
    }
    Ok(exit::OK)
}
