//! `falloff model SIZE=DIR SIZE=DIR …`: models over problem size and processor count.

use falloff_workflow::outlook::{SizeAsked, SizeOutlook, SizedSweep};
use falloff_workflow::report::outlook::{OutlookOptions, sizes as report};
use falloff_workflow::results::{Results, SweepState};

use crate::args::{ModelArgs, ModelTable, ScoreFormat};
use crate::failure::Failure;
use crate::model::{MODELS, threshold};
use crate::values::SweepOf;

/// The models of sweeps in the wanted form.
pub fn text(args: &ModelArgs, sweeps: &[SweepOf], options: &OutlookOptions) -> Result<String, Failure> {
    check(args)?;
    let sizes = sweeps.iter().map(size).collect::<Result<Vec<f64>, _>>()?;
    let open = |(sweep, size): (&SweepOf, f64)| {
        Ok(SizedSweep { size, results: Results::open(&sweep.dir, &args.debug.options())? })
    };
    let mut opened = sweeps.iter().zip(sizes).map(open).collect::<Result<Vec<_>, Failure>>()?;
    let asked =
        SizeAsked { metric: args.metric.clone(), targets: args.targets.clone(), terms: args.asked_terms() };
    let outlook = SizeOutlook::new(&mut opened, &asked)?;
    let states: Vec<(f64, &SweepState)> =
        opened.iter().map(|sweep| (sweep.size, &sweep.results.state)).collect();
    match args.format {
        ScoreFormat::Text => Ok(report::text(&states, &outlook, options)),
        ScoreFormat::Json => report::json(&states, &outlook, threshold(args))
            .map(|text| text + "\n")
            .map_err(Failure::not_written(MODELS)),
        ScoreFormat::Csv => report::paths(&outlook).map_err(Failure::not_written(MODELS)),
    }
}

/// The size of a sweep's problem, without which several cannot be modelled.
fn size(sweep: &SweepOf) -> Result<f64, Failure> {
    let dir = sweep.dir.display();
    sweep.size.ok_or_else(|| {
        Failure::usage(
            format!("failed to model several sweeps: `{dir}` has no problem size"),
            format!("write the size in front of each, as in `500={dir}`"),
        )
    })
}

/// Refuses what is of one size alone.
fn check(args: &ModelArgs) -> Result<(), Failure> {
    let refused = [
        (args.strong, "--strong", "a law of N and p says how the problem grows"),
        (args.weak, "--weak", "a law of N and p says how the problem grows"),
        (args.table != ModelTable::Paths, "--table", "there are no laws and notes of one size"),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        None => Ok(()),
        Some((_, option, reason)) => Err(Failure::usage(
            format!("failed to model several sizes with {option}: {reason}"),
            format!("leave {option} out, or model one sweep without its size"),
        )),
    }
}
