//! `falloff score`: excess work of every call path of a sweep.

use falloff_workflow::causes::Charge;
use falloff_workflow::exit;
use falloff_workflow::report::{self, TextOptions};
use falloff_workflow::results::{Choice, Results};
use falloff_workflow::scoring::{Scaling, Score};

use crate::args::{ChargeTo, ScoreArgs, ScoreFormat};
use crate::failure::Failure;
use crate::output::Output;

/// Smallest excess that the text shows, if nothing else is asked for, percent.
const TEXT_THRESHOLD: f64 = 0.5;
/// Most rows of the tree, if nothing else is asked for.
const MOST_ROWS: Option<usize> = Some(60);

/// Prints the score of a sweep.
pub fn score(args: &ScoreArgs, output: &Output) -> Result<i32, Failure> {
    let results = Results::open(&args.dir, &args.debug.options())?;
    let choice = Choice {
        metric: args.metric.clone(),
        base: args.base,
        at: args.at,
        scaling: match (args.strong, args.weak) {
            (true, _) => Some(Scaling::Strong),
            (_, true) => Some(Scaling::Weak),
            _ => None,
        },
        charge: match args.charge {
            ChargeTo::Place => Charge::Place,
            ChargeTo::Cause => Charge::Cause,
        },
    };
    let score = results.score(&choice)?;
    match args.format {
        ScoreFormat::Text => print(&results, &score, args, output)?,
        ScoreFormat::Csv => output.data(&report::csv::csv(score.view(args.view.kind())))?,
        ScoreFormat::Json => {
            let threshold = args.threshold.unwrap_or(0.0) / 100.0;
            let text = report::json::json(&results.state, &score, threshold).map_err(|e| Failure {
                message: format!("failed to write the score as JSON: {e}"),
                hint: None,
                code: exit::BUG,
            })?;
            output.data(&format!("{text}\n"))?;
        }
    }
    Ok(exit::OK)
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

/// How a report is printed if nothing else is asked for.
pub fn text_options(output: &Output) -> TextOptions {
    TextOptions {
        paint: output.paint,
        width: output.width,
        threshold: TEXT_THRESHOLD / 100.0,
        most_rows: MOST_ROWS,
        view: falloff_postprocess::views::ViewKind::Context,
    }
}
