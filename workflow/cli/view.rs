//! `falloff view`: the profile of one run.

use std::path::Path;

use falloff_postprocess::views::{json, of_database, text};
use falloff_postprocess::{Database, Metric, open, open_lazily};
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;

use crate::args::{ViewArgs, ViewFormat};
use crate::failure::Failure;
use crate::output::Output;

/// Prints a view.
pub fn view(args: &ViewArgs, output: &Output) -> Result<i32, Failure> {
    if Plan::exists(&args.dir) {
        return Err(Failure::usage(
            format!("failed to show `{}`: it holds a sweep of several runs", args.dir.display()),
            format!(
                "name one of its runs, for example {}/runs/n0001-r1, or use `falloff score`",
                args.dir.display()
            ),
        ));
    }
    // Sums over all locations need no single values.
    let open = if args.location.is_some() { open } else { open_lazily };
    let database = args.threads.of(open(&args.dir, &args.debug.options())?);
    let metric = metric(&database, &args.dir, args.metric.as_deref())?;
    let selected = |l: &falloff_postprocess::Location| args.location.is_none_or(|s| s.holds(l));
    if !database.locations().iter().any(selected) {
        return Err(Failure::usage(
            format!("failed to show `{}`: no location there is what --location names", args.dir.display()),
            "see its ranks and processes with --format json, without --location",
        ));
    }
    let view = of_database(&database, args.view.kind(), &metric.name, selected)
        .ok_or_else(|| not_measured(&database, &args.dir, &metric.name))?;
    match args.format {
        ViewFormat::Json => output.stream(|out| {
            json::write(&mut *out, &database, &view, 0, metric)?;
            out.write_all(b"\n")
        })?,
        ViewFormat::Text => {
            let options = text::TextOptions {
                threshold_percent: args.threshold,
                depth: args.depth,
                ..text::TextOptions::default()
            };
            let table = text::table(&view, 0, metric, &options);
            output.data(&format!("{}\n{table}", text::header(&database, &view, metric)))?;
        }
    }
    Ok(exit::OK)
}

/// The metric of this name or the default one, or a message that lists those that are there.
pub fn metric<'a>(database: &'a Database, dir: &Path, name: Option<&str>) -> Result<&'a Metric, Failure> {
    let found = match name {
        Some(name) => database.metric(name),
        None => database.default_metric(),
    };
    found.ok_or_else(|| not_measured(database, dir, name.unwrap_or("time")))
}

fn not_measured(database: &Database, dir: &Path, name: &str) -> Failure {
    if database.metrics().is_empty() {
        return Failure {
            message: format!("failed to show `{}`: its measurement files hold no metric", dir.display()),
            hint: Some("the files are damaged or empty; measure the program again".into()),
            code: exit::INCOMPLETE,
        };
    }
    let known: Vec<&str> = database.metrics().iter().map(|m| m.name.as_str()).collect();
    Failure::usage(
        format!("failed to show `{}`: metric `{name}` was not measured", dir.display()),
        format!("use one of: {}", known.join(", ")),
    )
}
