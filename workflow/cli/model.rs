//! `falloff model`: what a sweep says of processor counts at which nobody ran the program.

use falloff_workflow::exit;
use falloff_workflow::outlook::{Asked, Outlook};
use falloff_workflow::report::outlook::{self as report, OutlookOptions};
use falloff_workflow::results::Results;
use falloff_workflow::scoring::Scaling;

use crate::args::{ModelArgs, ModelTable, ScoreFormat};
use crate::failure::Failure;
use crate::output::Output;

/// Smallest share of a call path that the text shows, if nothing else is asked for, percent.
const TEXT_THRESHOLD: f64 = 0.5;
/// Most call paths that the text shows, if nothing else is asked for.
const TEXT_LIMIT: usize = 12;

/// Prints the models of a sweep.
pub fn model(args: &ModelArgs, output: &Output) -> Result<i32, Failure> {
    let results = Results::open(&args.dir, &args.debug.options())?;
    let asked = Asked {
        metric: args.metric.clone(),
        scaling: match (args.strong, args.weak) {
            (true, _) => Some(Scaling::Strong),
            (_, true) => Some(Scaling::Weak),
            _ => None,
        },
        targets: args.targets.clone(),
    };
    let outlook = Outlook::new(&results, &asked)?;
    let written = match args.format {
        ScoreFormat::Text => Ok(report::text(&results.state, &outlook, &options(args, output))),
        ScoreFormat::Json => {
            let threshold = args.threshold.unwrap_or(0.0) / 100.0;
            report::json(&results.state, &outlook, threshold).map(|text| text + "\n")
        }
        ScoreFormat::Csv => match args.table {
            ModelTable::Paths => report::paths(&outlook),
            ModelTable::Laws => report::laws(&outlook),
            ModelTable::Notes => report::notes(&outlook),
        },
    };
    output.data(&written.map_err(|e| Failure {
        message: format!("failed to write the models: {e}"),
        hint: None,
        code: exit::BUG,
    })?)?;
    Ok(exit::OK)
}

fn options(args: &ModelArgs, output: &Output) -> OutlookOptions {
    OutlookOptions {
        paint: output.paint,
        width: output.width,
        threshold: args.threshold.unwrap_or(TEXT_THRESHOLD) / 100.0,
        limit: args.limit.unwrap_or(TEXT_LIMIT),
    }
}
