//! `falloff score`: excess work of every call path of a sweep.

use std::fs;
use std::path::Path;

use falloff_postprocess::views::ViewKind;
use falloff_workflow::Error;
use falloff_workflow::bounds::BoundsOf;
use falloff_workflow::causes::Charge;
use falloff_workflow::exit;
use falloff_workflow::grid::Point;
use falloff_workflow::report::{self, TextOptions};
use falloff_workflow::results::{Choice, Results};
use falloff_workflow::scoring::{Scaling, Score};

use crate::args::{ChargeTo, ScoreArgs, ScoreFormat, ScoreTable};
use crate::failure::Failure;
use crate::output::Output;
use crate::page;

/// Smallest excess that the text shows, if nothing else is asked for, percent.
const TEXT_THRESHOLD: f64 = 0.5;
/// Most rows of the tree, if nothing else is asked for.
const MOST_ROWS: Option<usize> = Some(60);

/// Prints the score of a sweep.
pub fn score(args: &ScoreArgs, output: &Output) -> Result<i32, Failure> {
    let wanted: Vec<Point> = args.base.into_iter().chain(args.at).collect();
    let results = Results::open_line(&args.dir, &args.debug.options(), &wanted)?;
    let json = matches!(args.format, ScoreFormat::Json);
    let choice = Choice {
        metric: args.metric.clone(),
        base: args.base.map(Point::processors),
        at: args.at.map(Point::processors),
        scaling: match (args.strong, args.weak) {
            (true, _) => Some(Scaling::Strong),
            (_, true) => Some(Scaling::Weak),
            _ => None,
        },
        charge: match args.charge {
            ChargeTo::Place => Charge::Place,
            ChargeTo::Cause => Charge::Cause,
        },
        own: args.expect.clone(),
        arguments: args.arguments.clone(),
        callers: json || args.view.kind() == ViewKind::Callers,
        steps: args.steps || args.table == ScoreTable::Steps,
        bounds: bounds_of(args),
        network: true,
    };
    if let Some(file) = &args.html {
        page::sweep(&results, &choice, args, file, output)?;
        return Ok(exit::OK);
    }
    let score = results.score(&choice)?;
    if let Some(dir) = &args.plots {
        plots(&results, &score, &choice, dir, output)?;
    }
    match args.format {
        ScoreFormat::Text => print(&results, &score, args, output)?,
        ScoreFormat::Csv => output.data(&csv(&results, &score, args)?)?,
        ScoreFormat::Json => {
            let threshold = args.threshold.unwrap_or(0.0) / 100.0;
            output.stream(|out| report::json::json(&results.state, &score, threshold, out))?;
        }
    }
    // The process ends: giving back what millions of call paths hold piece by piece would only take time.
    std::mem::forget((results, score));
    Ok(exit::OK)
}

/// Whose bounds the format shows.
fn bounds_of(args: &ScoreArgs) -> BoundsOf {
    match (args.format, args.table) {
        (ScoreFormat::Json, _) => BoundsOf::Rows,
        (ScoreFormat::Csv, ScoreTable::View) if args.view.kind() == ViewKind::Context => BoundsOf::Rows,
        (ScoreFormat::Text, _) | (ScoreFormat::Csv, ScoreTable::Bounds | ScoreTable::Summary) => {
            BoundsOf::Parts
        }
        (ScoreFormat::Csv, _) => BoundsOf::Nothing,
    }
}

fn csv(results: &Results, score: &Score, args: &ScoreArgs) -> Result<String, Failure> {
    let table = match args.table {
        ScoreTable::View => {
            let kind = args.view.kind();
            let bounds = score.bounds.as_ref().filter(|_| kind == ViewKind::Context);
            return Ok(score.view(kind).map(|view| report::csv::csv(view, bounds)).unwrap_or_default());
        }
        ScoreTable::Summary => report::csv_tables::summary(&results.state, score),
        ScoreTable::Runs => report::csv_tables::runs(&results.state),
        ScoreTable::Scales => report::csv_tables::scales(&results.state, score),
        ScoreTable::Steps => report::csv_tables::steps(score),
        ScoreTable::Causes => report::csv_tables::causes(score),
        ScoreTable::Places => report::csv_tables::places(score),
        ScoreTable::Efficiencies => report::csv_tables::efficiencies(&results.state, score),
        ScoreTable::Findings => report::csv_tables::findings(&results.state, score),
        ScoreTable::Waterfall => report::csv_tables::waterfall(score),
        ScoreTable::Waiting => report::csv_tables::waiting(score),
        ScoreTable::Bounds => report::csv_tables::bounds(score),
        ScoreTable::Paths => report::csv_tables::paths(score),
    };
    table.map_err(Failure::not_written("the score as CSV"))
}

fn print(results: &Results, score: &Score, args: &ScoreArgs, output: &Output) -> Result<(), Failure> {
    let options = TextOptions {
        threshold: args.threshold.unwrap_or(TEXT_THRESHOLD) / 100.0,
        most_rows: MOST_ROWS.filter(|_| args.threshold.is_none()),
        view: args.view.kind(),
        ..text_options(output)
    };
    output.data(&report::text(&results.state, score, &options))
}

/// Writes the figures of a sweep.
fn plots(
    results: &Results,
    score: &Score,
    choice: &Choice,
    dir: &Path,
    output: &Output,
) -> Result<(), Failure> {
    let figures = report::plots::figures(results, score, choice)?;
    let refused = |action, path: &Path, source| Error::Io { action, path: path.to_owned(), source };
    fs::create_dir_all(dir).map_err(|e| refused("make", dir, e))?;
    for (name, svg) in figures {
        let path = dir.join(name);
        fs::write(&path, svg).map_err(|e| refused("write", &path, e))?;
        output.note(&format!("falloff: wrote {}", path.display()));
    }
    Ok(())
}

/// How a report is printed if nothing else is asked for.
pub fn text_options(output: &Output) -> TextOptions {
    TextOptions {
        paint: output.paint,
        width: output.width,
        threshold: TEXT_THRESHOLD / 100.0,
        most_rows: MOST_ROWS,
        view: ViewKind::Context,
    }
}
