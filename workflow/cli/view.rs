//! `falloff view`: the profile of one run.

use std::path::Path;

use falloff_postprocess::views::{
    self, Excerpt, QueryError, RowOptions, Sheet, Shown, Sort, csv, json, source_data, source_text, text,
};
use falloff_postprocess::{Database, Metric, open, open_lazily, sections};
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;

use crate::failure::Failure;
use crate::output::Output;
use crate::page;
use crate::source_file;
use crate::view_args::{ViewArgs, ViewFormat};

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
    let open = if args.needs_values() { open } else { open_lazily };
    if args.sections {
        return show_sections(args, &open(&args.dir, &args.debug.options())?, output);
    }
    let database = args.loops.of(args.threads.of(open(&args.dir, &args.debug.options())?));
    let mut query = args.query();
    if args.html.is_some() && query.metrics.is_empty() {
        query.metrics = all_metrics(&database);
    }
    let excerpt = Excerpt::new(&database, &query).map_err(|error| refused(&args.dir, &error))?;
    match (&args.html, &args.source) {
        (Some(file), _) => page::profile(&excerpt, args, file, output)?,
        (None, Some(name)) => show_source(args, &excerpt, name, output)?,
        (None, None) => show_view(args, &excerpt, output)?,
    }
    Ok(exit::OK)
}

/// Names of all metrics, the default one first.
pub fn all_metrics(database: &Database) -> Vec<String> {
    let first = database.default_metric().map(|m| &m.name);
    let others = database.metrics().iter().map(|m| &m.name).filter(|name| Some(*name) != first);
    first.into_iter().chain(others).cloned().collect()
}

fn show_view(args: &ViewArgs, excerpt: &Excerpt, output: &Output) -> Result<(), Failure> {
    let refused = |error: QueryError| refused(&args.dir, &error);
    let sheet = Sheet::new(excerpt, args.view.kind(), args.spread()).map_err(refused)?;
    let sort = match (&args.rows.sort, args.format) {
        (Some(key), _) => sheet.sort(key).map_err(refused)?,
        (None, ViewFormat::Text) => sheet.largest_first(),
        (None, ViewFormat::Json | ViewFormat::Csv) => Sort::Canonical,
    };
    let options = RowOptions {
        threshold_percent: args.threshold(),
        depth: args.rows.depth,
        sort,
        hot_path: args.rows.hot_path,
    };
    let shown = Shown::new(&sheet, options).map_err(refused)?;
    match args.format {
        ViewFormat::Json => output.stream(|out| {
            json::write(&mut *out, &shown)?;
            out.write_all(b"\n")
        }),
        ViewFormat::Csv => output.stream(|out| csv::write(out, &shown)),
        ViewFormat::Text => {
            let table = text::table(&shown).map_err(refused)?;
            output.data(&format!("{}\n{table}", text::header(excerpt)))
        }
    }
}

fn show_sections(args: &ViewArgs, database: &Database, output: &Output) -> Result<i32, Failure> {
    let sections = database.sections();
    match args.format {
        ViewFormat::Json => {
            let run_id = &database.provenance().run_id;
            output.stream(|out| {
                sections::write_json(&mut *out, sections, run_id, database.warnings())?;
                out.write_all(b"\n")
            })?;
        }
        ViewFormat::Csv => {
            return Err(Failure::usage(
                "failed to write the sections as CSV",
                "use `--format json`, or the tables `sections` and `section_dwells` of the database",
            ));
        }
        ViewFormat::Text if sections.is_empty() => output.data(
            "The program has marked no sections: see docs/sections.md for how a program marks them.\n",
        )?,
        ViewFormat::Text => output.data(&sections::text_table(sections))?,
    }
    Ok(exit::OK)
}

fn show_source(args: &ViewArgs, excerpt: &Excerpt, name: &str, output: &Output) -> Result<(), Failure> {
    let source = source_file::find(excerpt, name).map_err(|error| refused(&args.dir, &error))?;
    let lines = source_file::read(&source, name);
    match args.format {
        ViewFormat::Json => output.stream(|out| {
            source_data::json(&mut *out, &source, &lines)?;
            out.write_all(b"\n")
        }),
        ViewFormat::Csv => output.stream(|out| source_data::csv(out, &source, &lines)),
        ViewFormat::Text => {
            let table = source_text::table(&source, &lines, args.threshold());
            output.data(&format!("{}\n{table}", text::header(excerpt)))
        }
    }
}

/// The metric of this name or the default one, or a message that lists those that are there.
pub fn metric<'a>(database: &'a Database, dir: &Path, name: Option<&str>) -> Result<&'a Metric, Failure> {
    views::metric(database, name).map_err(|error| refused(dir, &error))
}

fn refused(dir: &Path, error: &QueryError) -> Failure {
    let code = if *error == QueryError::NoMetrics { exit::INCOMPLETE } else { exit::USAGE };
    Failure {
        message: format!("failed to show `{}`: {error}", dir.display()),
        hint: Some(error.hint()),
        code,
    }
}
