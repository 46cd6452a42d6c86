//! `falloff check`: whether a new sweep is slower than a base sweep.

use falloff_workflow::exit;
use falloff_workflow::gate::{Asked, Decision, Limits, check as decide, report};
use falloff_workflow::results::Results;

use crate::args::{CheckArgs, CheckFormat};
use crate::failure::Failure;
use crate::output::Output;

/// Prints the verdict; the exit code is the decision.
pub fn check(args: &CheckArgs, output: &Output) -> Result<i32, Failure> {
    let limits = Limits::of_percent(args.threshold);
    let limits = match &args.limits {
        Some(path) => Limits::read(path, limits)?,
        None => limits,
    };
    let options = args.debug.options();
    let open = |dir| Results::open(dir, &options);
    let (base, new) = (open(&args.base)?, open(&args.new)?);
    let (verdict, compared) = decide(&base, &new, &Asked { metric: args.metric.clone(), limits })?;
    let text = match args.format {
        CheckFormat::Text => report::text(&verdict, &compared),
        CheckFormat::Markdown => report::markdown(&verdict, &compared),
        CheckFormat::Junit => report::junit(&verdict, &compared),
        CheckFormat::Json => {
            let text =
                report::json(&verdict, &compared).map_err(Failure::not_written("the verdict as JSON"))?;
            format!("{text}\n")
        }
    };
    output.data(&text)?;
    Ok(match verdict.decision {
        Decision::Ok => exit::OK,
        Decision::Regression => exit::MISSED,
        Decision::Inconclusive => exit::NOT_ENOUGH_DATA,
    })
}
