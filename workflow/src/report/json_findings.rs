//! Findings in the score's JSON.

use serde::Serialize;

use super::findings::{Finding, findings as told};
use super::json::percent;
use crate::causes::Law;
use crate::results::SweepState;
use crate::scoring::Score;

#[derive(Serialize)]
pub(super) struct FindingJson<'a> {
    flat_id: Option<u32>,
    name: &'a str,
    excess_excl_percent: Option<f64>,
    text: String,
    rule: &'static str,
    title: &'static str,
    cost_percent: f64,
    cost_half_width_percent: f64,
    q_value: f64,
    confidence: &'static str,
    why: String,
    next: String,
    id: u32,
    path: Vec<&'a str>,
    file: Option<String>,
    line: Option<u32>,
    waits_in: Option<u32>,
    participants: &'a [u32],
    evidence: EvidenceJson,
}

/// Numbers behind a finding; null where they do not apply.
#[derive(Serialize)]
struct EvidenceJson {
    work_ratio: Option<f64>,
    instructions_ratio: Option<f64>,
    per_cycle_ratio: Option<f64>,
    waiting_at_least_percent: Option<f64>,
    waiting_at_most_percent: Option<f64>,
    last_in_runs: Option<usize>,
    of_runs: Option<usize>,
    growth: Option<&'static str>,
    call_sites: Option<usize>,
    rank_correlation: Option<f64>,
    unused_percent: Option<f64>,
}

pub(super) fn findings<'a>(sweep: &SweepState, score: &'a Score) -> Vec<FindingJson<'a>> {
    told(sweep, score).into_iter().map(|finding| json(score, finding)).collect()
}

fn json<'a>(score: &'a Score, finding: Finding<'a>) -> FindingJson<'a> {
    let Finding { diagnosis, row, flat, .. } = finding;
    let (file, line) = finding.source.unzip();
    let evidence = &diagnosis.evidence;
    FindingJson {
        flat_id: flat.map(|row| row.id),
        name: &row.name,
        excess_excl_percent: flat.map(|row| percent(row.exclusive.excess)),
        text: finding.what,
        rule: diagnosis.rule.word(),
        title: diagnosis.rule.title(),
        cost_percent: percent(diagnosis.loss.excess),
        cost_half_width_percent: percent(diagnosis.loss.half_width),
        q_value: diagnosis.q_value,
        confidence: finding.confidence.word(),
        why: finding.why,
        next: finding.next,
        id: row.id,
        path: score.context.path(row.id),
        file,
        line,
        waits_in: diagnosis.waits_in,
        participants: &diagnosis.participants,
        evidence: EvidenceJson {
            work_ratio: evidence.work_ratio,
            instructions_ratio: evidence.instructions,
            per_cycle_ratio: evidence.per_cycle,
            waiting_at_least_percent: evidence.wait_bounds.map(|(low, _)| percent(low)),
            waiting_at_most_percent: evidence.wait_bounds.map(|(_, high)| percent(high)),
            last_in_runs: evidence.last_in.map(|(last, _)| last),
            of_runs: evidence.last_in.map(|(_, of)| of),
            growth: evidence.law.map(|law| match law {
                Law::Logarithm => "logarithm",
                Law::Linear => "linear",
            }),
            call_sites: evidence.sites,
            rank_correlation: evidence.correlation,
            unused_percent: evidence.unused.map(percent),
        },
    }
}
