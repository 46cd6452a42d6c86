//! `falloff model`: what sweeps say of processor counts and problem sizes at which nobody ran the program.

use falloff_workflow::exit;
use falloff_workflow::outlook::{Asked, Outlook};
use falloff_workflow::report::outlook::{self as report, OutlookOptions};
use falloff_workflow::results::Results;
use falloff_workflow::scoring::Scaling;

use crate::args::{ModelArgs, ModelTable, ScoreFormat};
use crate::failure::Failure;
use crate::model_sizes;
use crate::output::Output;
use crate::values::SweepOf;

/// Smallest share of a call path that the text shows, if nothing else is asked for, percent.
const TEXT_THRESHOLD: f64 = 0.5;
/// What is written.
pub const MODELS: &str = "the models";
/// Most call paths that the text shows, if nothing else is asked for.
const TEXT_LIMIT: usize = 12;

/// Prints the models of a sweep, or of sweeps over problem sizes.
pub fn model(args: &ModelArgs, output: &Output) -> Result<i32, Failure> {
    let text = match &args.sweeps[..] {
        [SweepOf { size: None, dir }] => {
            let targets = counts(args)?;
            let results = Results::open(dir, &args.debug.options())?;
            one_size(args, &results, targets, &options(args, output))?
        }
        sweeps => model_sizes::text(args, sweeps, &options(args, output))?,
    };
    output.data(&text)?;
    Ok(exit::OK)
}

fn one_size(
    args: &ModelArgs,
    results: &Results,
    targets: Vec<u32>,
    options: &OutlookOptions,
) -> Result<String, Failure> {
    let asked = Asked {
        open: args.debug.options(),
        metric: args.metric.clone(),
        scaling: match (args.strong, args.weak) {
            (true, _) => Some(Scaling::Strong),
            (_, true) => Some(Scaling::Weak),
            _ => None,
        },
        targets,
        terms: args.asked_terms(),
    };
    let outlook = Outlook::new(results, &asked)?;
    let written = match args.format {
        ScoreFormat::Text => Ok(report::text(&results.state, &outlook, options)),
        ScoreFormat::Json => report::json(&results.state, &outlook, threshold(args)).map(|text| text + "\n"),
        ScoreFormat::Csv => match args.table {
            ModelTable::Paths => report::paths(&outlook),
            ModelTable::Laws => report::laws(&outlook),
            ModelTable::Notes => report::notes(&outlook),
            ModelTable::Sections => report::sections(&outlook),
            ModelTable::SectionTimes => report::section_times(&outlook),
            ModelTable::Bounds => report::bounds(&outlook),
            ModelTable::Grid => report::grid(&outlook),
        },
    };
    written.map_err(Failure::not_written(MODELS))
}

/// The processor counts that are asked about.
fn counts(args: &ModelArgs) -> Result<Vec<u32>, Failure> {
    let count = |target: &falloff_workflow::outlook::Target| match (target.size, target.processors) {
        (None, Some(count)) => Ok(count),
        _ => Err(Failure::usage(
            "failed to predict another problem size: the sweep is of one size",
            "name sweeps of several sizes: `falloff model 500=small 1000=middle 2000=large --target N=4000`",
        )),
    };
    args.targets.iter().map(count).collect()
}

/// Smallest share of a call path in JSON, as a fraction.
pub fn threshold(args: &ModelArgs) -> f64 {
    args.threshold.unwrap_or(0.0) / 100.0
}

fn options(args: &ModelArgs, output: &Output) -> OutlookOptions {
    OutlookOptions {
        paint: output.paint,
        width: output.width,
        threshold: args.threshold.unwrap_or(TEXT_THRESHOLD) / 100.0,
        limit: args.limit.unwrap_or(TEXT_LIMIT),
    }
}
