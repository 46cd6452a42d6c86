//! Whether two sweeps can be held against each other, and the verdict if so.

use super::limits::Limits;
use super::paths::PathColumns;
use super::report::Compared;
use super::verdict::Verdict;
use crate::results::Results;
use crate::{Error, Result};
use falloff_postprocess::ClockGroups;

/// What the user asks.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Metric; the one that is scored by default if not given.
    pub metric: Option<String>,
    /// Limits.
    pub limits: Limits,
}

/// Compares two sweeps.
///
/// # Errors
/// [`Error::Incomparable`] if runs are missing or have failed, if expectations or processor counts are not the same, if the
/// metric is missing, or if clocks differ.
pub fn check(base: &Results, new: &Results, asked: &Asked) -> Result<(Verdict, Compared)> {
    let metric = asked.metric.clone().unwrap_or_else(|| default_metric(base, new));
    for results in [base, new] {
        complete(results)?;
    }
    same_plan(base, new)?;
    same_clocks(base, new, &metric)?;
    let columns = PathColumns::new(&base.runs, &new.runs, &metric).ok_or_else(|| {
        incomparable(
            format!("not all runs have the metric `{metric}`"),
            "choose another with `--metric NAME`",
        )
    })?;
    let period = 1.0 / f64::from(base.state.plan.rate_hz);
    let verdict = Verdict::new(&columns, &asked.limits, period);
    let verdict = verdict.ok_or_else(|| incomparable("no run is good".into(), SWEEP_AGAIN))?;
    let name = |results: &Results| results.state.dir.display().to_string();
    Ok((verdict, Compared { base: name(base), new: name(new), metric }))
}

const SWEEP_AGAIN: &str = "give the same `falloff sweep` command again: it makes the runs that are missing";

/// Where processes shared processors in one of them, CPU time is what can be compared.
fn default_metric(base: &Results, new: &Results) -> String {
    let (ours, theirs) = (base.default_metric(), new.default_metric());
    if theirs == "cpu" { theirs } else { ours }
}

fn incomparable(reason: String, hint: &str) -> Error {
    Error::Incomparable { reason, hint: hint.to_owned() }
}

fn complete(results: &Results) -> Result<()> {
    let state = &results.state;
    match (state.failed.first(), state.missing.first()) {
        (None, None) => Ok(()),
        (Some(entry), _) => Err(incomparable(
            format!(
                "{} of {} runs of `{}` failed, the first of them {}: {}",
                state.failed.len(),
                state.plan.runs().len(),
                state.dir.display(),
                entry.key,
                entry.reason.as_deref().unwrap_or("no reason is known")
            ),
            SWEEP_AGAIN,
        )),
        (None, Some(key)) => Err(incomparable(
            format!(
                "{} runs of `{}` were not made, the first of them {key}",
                state.missing.len(),
                state.dir.display()
            ),
            SWEEP_AGAIN,
        )),
    }
}

fn same_plan(base: &Results, new: &Results) -> Result<()> {
    let (ours, theirs) = (&base.state.plan, &new.state.plan);
    let hint = "sweep both with the same `-n`, `--strong` or `--weak`";
    if ours.scaling != theirs.scaling {
        let reason =
            format!("one expects {}, the other {} scaling", ours.scaling.name(), theirs.scaling.name());
        return Err(incomparable(reason, hint));
    }
    if ours.manner.threads != theirs.manner.threads {
        let reason = "they ran with other numbers of threads in each process".to_owned();
        return Err(incomparable(reason, "sweep both with the same `--threads`"));
    }
    if ours.scales != theirs.scales {
        let list = |scales: &[u32]| scales.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let reason = format!("one ran at {}, the other at {}", list(&ours.scales), list(&theirs.scales));
        return Err(incomparable(reason, hint));
    }
    Ok(())
}

fn same_clocks(base: &Results, new: &Results, metric: &str) -> Result<()> {
    let mut groups = ClockGroups::for_metric(metric);
    base.add_clocks(&mut groups);
    new.add_clocks(&mut groups);
    match groups.unlike() {
        None => Ok(()),
        Some(groups) => Err(incomparable(
            format!("they were measured by unlike clocks: {groups}"),
            "sweep again with `--cpu-clock` and `--waits` as all machines have them",
        )),
    }
}
