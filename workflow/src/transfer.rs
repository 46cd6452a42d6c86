//! How much of its time a run would have taken on a network that costs nothing.

use std::collections::BTreeMap;
use std::path::Path;

use falloff_messages::{Network, Options, Scenario, replay};
use falloff_postprocess::messages::{CALLS, RunLog};
use rayon::prelude::*;

use crate::plan::RunKey;
use crate::results::Results;

/// For each processor count how much of their time its runs would have taken on a network that costs nothing, as a fraction:
/// their time there by that which was measured, both from the first call of MPI to the last and summed over the repetitions. It is the
/// transfer efficiency of `falloff replay --ideal-network`. Empty unless all runs have logs in which everything found its other side.
pub(crate) fn transfer_efficiencies(results: &Results) -> BTreeMap<u32, f64> {
    if results.runs.iter().any(|run| run.database.metric(CALLS).is_none()) {
        return BTreeMap::new();
    }
    let of_run = |key: &RunKey| {
        let (ideal, measured) = times(&results.state.dir.join(key.directory()))?;
        Some((key.processors(), ideal, measured))
    };
    let of_runs: Option<Vec<(u32, u64, u64)>> = results.state.good.par_iter().map(of_run).collect();
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (scale, ideal, measured) in of_runs.into_iter().flatten() {
        let sum = sums.entry(scale).or_default();
        *sum = (sum.0 + ideal, sum.1 + measured);
    }
    sums.into_iter().map(|(scale, (ideal, measured))| (scale, ideal as f64 / measured as f64)).collect()
}

/// Nanoseconds of a run on a network that costs nothing, and as measured.
fn times(dir: &Path) -> Option<(u64, u64)> {
    let log = RunLog::open(dir).ok()??;
    let replayed = replay(|| Ok(log.clone()), &[Scenario::new(Network::IDEAL)], &Options::default()).ok()?;
    let measured = replayed.measured.iter().copied().max().filter(|measured| *measured > 0)?;
    let [ideal] = &replayed.runs[..] else { return None };
    replayed.outcome.is_whole().then(|| (ideal.end(), measured))
}
