//! What the reader must know of a sweep before trusting its numbers.

use falloff_postprocess::views::LEFT_OUT;

use super::table::seconds;
use crate::plan::RunKey;
use crate::results::SweepState;
use crate::scoring::RunHealth;

/// Warnings that are printed one by one.
const WARNINGS: usize = 6;
/// Disturbed runs that are named.
const DISTURBED: usize = 4;

/// Of the runs: which of them are missing, and what disturbed the others.
pub(super) fn of_sweep(sweep: &SweepState, metric: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(line) = &sweep.line {
        found.push(format!("processors are processes x threads: {line}"));
    }
    for entry in &sweep.failed {
        let reason = entry.reason.as_deref().unwrap_or("no reason is known");
        found.push(format!("run {} failed and is left out: {reason}", entry.key));
    }
    if !sweep.missing.is_empty() {
        let names: Vec<String> = sweep.missing.iter().map(RunKey::to_string).collect();
        found.push(format!("not made yet: {}", names.join(", ")));
    }
    if !sweep.oversubscribed.is_empty() {
        let scales: Vec<String> = sweep.oversubscribed.iter().map(u32::to_string).collect();
        found.push(format!(
            "at n = {} processes shared processors: there were more than cores{}",
            scales.join(", "),
            if metric == "cpu" { ", and `cpu` leaves their waiting out" } else { "" }
        ));
    }
    if let Some(most) = sweep.disturbed.iter().map(|(_, others)| *others).reduce(f64::max) {
        let names: Vec<String> =
            sweep.disturbed.iter().take(DISTURBED).map(|(key, _)| key.to_string()).collect();
        let more = sweep.disturbed.len().saturating_sub(DISTURBED);
        found.push(format!(
            "other programs used up to {most:.1} processors during {}{}: intervals are wider for it",
            names.join(", "),
            if more > 0 { format!(" and {more} more runs") } else { String::new() }
        ));
    }
    found
}

/// Of what was measured: what is left out, and the warnings of the measurements.
pub(super) fn of_measurements(helper_seconds: f64, health: &RunHealth) -> Vec<String> {
    let mut found = Vec::new();
    if helper_seconds > 0.0 {
        found.push(format!("{} s {LEFT_OUT}", seconds(helper_seconds)));
    }
    let warnings = &health.warnings;
    found.extend(warnings.iter().take(WARNINGS).map(|(text, runs)| match runs {
        1 => text.clone(),
        _ => format!("{text} (in {runs} runs)"),
    }));
    if warnings.len() > WARNINGS {
        found.push(format!("{} more warnings are in --format json", warnings.len() - WARNINGS));
    }
    found
}
