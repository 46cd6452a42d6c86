//! `falloff export SWEEP --format extrap`: the runs of a sweep for models of their scaling.

use std::collections::BTreeSet;

use falloff_postprocess::Database;
use falloff_postprocess::export;
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;
use falloff_workflow::results::Results;

use crate::args::{Basis, ExportArgs};
use crate::export::write_file;
use crate::failure::Failure;
use crate::output::Output;
use crate::view::metric;

/// Name of the format.
pub const FORMAT: &str = "extrap";

/// Processor counts that Extra-P wants for a model.
const COUNTS_FOR_A_MODEL: usize = 5;

/// Writes the good runs.
pub fn export(args: &ExportArgs, output: &Output) -> Result<i32, Failure> {
    check(args)?;
    let results = args.loops.of_sweep(Results::open(&args.dir, &args.debug.options())?);
    let Some(first) = results.runs.first() else {
        return Err(Failure {
            message: format!("failed to export `{}`: none of its runs is good", args.dir.display()),
            hint: Some(format!("see the logs under `{}`", args.dir.join("runs").display())),
            code: exit::NOT_ENOUGH_DATA,
        });
    };
    let shown = metric(&first.database, &args.dir, args.metric.as_deref())?;
    results.check_clocks(&shown.name)?;
    let runs: Vec<(u32, &Database)> = results.runs.iter().map(|run| (run.scale, &run.database)).collect();
    let in_all = |name: &str| runs.iter().all(|(_, database)| database.metric(name).is_some());
    let mut metrics = vec![shown.name.as_str()];
    if args.metric.is_none() {
        let names = first.database.metrics().iter().map(|m| m.name.as_str());
        metrics.extend(names.filter(|name| *name != shown.name && in_all(name)));
    }
    let basis = match args.basis.unwrap_or_default() {
        Basis::Mean => export::Basis::Mean,
        Basis::Sum => export::Basis::Sum,
    };
    write_file(&args.output, output, |out| export::extrap(&runs, &metrics, basis, out))?;
    for failed in &results.state.failed {
        output.note(&format!("falloff: run {} failed and is left out", failed.key));
    }
    if let Some(line) = &results.state.line {
        output.note(&format!("falloff: p is the number of processors, processes x threads: {line}"));
    }
    let counts: BTreeSet<u32> = runs.iter().map(|(count, _)| *count).collect();
    if counts.len() < COUNTS_FOR_A_MODEL {
        output.note(&format!(
            "falloff: Extra-P wants {COUNTS_FOR_A_MODEL} processor counts for a model; this sweep has {}",
            counts.len()
        ));
    }
    Ok(exit::OK)
}

/// Refuses what cannot be, in words that say what can.
fn check(args: &ExportArgs) -> Result<(), Failure> {
    let dir = args.dir.display();
    if !Plan::exists(&args.dir) {
        return Err(Failure::usage(
            format!(
                "failed to export `{dir}` as `{FORMAT}`: it holds no sweep, and a model needs several processor counts"
            ),
            "make a sweep with `falloff sweep -n 1,2,4,8,16 -o DIR -- ./app`, then name its directory",
        ));
    }
    let refused = [
        (args.by.is_some(), "--by", "all locations are taken together, see --basis"),
        (args.base.is_some(), "--base", "all processor counts are written"),
        (args.at.is_some(), "--at", "all processor counts are written"),
        (args.threads.helpers, "--helpers", "threads that the program did not start are never compared"),
    ];
    for (given, option, reason) in refused {
        if given {
            return Err(Failure::usage(
                format!("failed to export as `{FORMAT}` with {option}: {reason}"),
                format!("leave {option} out"),
            ));
        }
    }
    Ok(())
}
