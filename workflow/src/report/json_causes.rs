//! Causes and efficiencies in the score's JSON.

use serde::Serialize;

use super::json::percent;
use crate::causes::{Analysis, CauseLoss, ScaleEfficiency};

#[derive(Serialize)]
pub(super) struct CauseJson {
    cause: &'static str,
    title: &'static str,
    excess_percent: f64,
    excess_half_width_percent: f64,
    work_base_seconds: f64,
    work_at_seconds: f64,
    places: Vec<PlaceJson>,
}

#[derive(Serialize)]
struct PlaceJson {
    id: u32,
    excess_percent: f64,
}

#[derive(Serialize)]
pub(super) struct EfficiencyJson {
    processors: u32,
    parallel_percent: f64,
    load_balance_percent: f64,
    communication_percent: f64,
    computational_percent: f64,
    global_percent: f64,
    instruction_scaling_percent: Option<f64>,
    per_cycle_scaling_percent: Option<f64>,
    frequency_scaling_percent: Option<f64>,
}

pub(super) fn causes(analysis: Option<&Analysis>) -> Vec<CauseJson> {
    let cause = |c: &CauseLoss| CauseJson {
        cause: c.cause.word(),
        title: c.cause.title(),
        excess_percent: percent(c.loss.excess),
        excess_half_width_percent: percent(c.loss.half_width),
        work_base_seconds: c.loss.work_base,
        work_at_seconds: c.loss.work_at,
        places: c
            .places
            .iter()
            .map(|(id, excess)| PlaceJson { id: *id, excess_percent: percent(*excess) })
            .collect(),
    };
    analysis.into_iter().flat_map(|a| a.causes.iter().map(cause)).collect()
}

pub(super) fn efficiencies(analysis: Option<&Analysis>) -> Vec<EfficiencyJson> {
    let efficiency = |s: &ScaleEfficiency| {
        let e = &s.efficiencies;
        EfficiencyJson {
            processors: s.scale,
            parallel_percent: percent(e.parallel),
            load_balance_percent: percent(e.load_balance),
            communication_percent: percent(e.communication),
            computational_percent: percent(e.computational),
            global_percent: percent(e.global),
            instruction_scaling_percent: e.counted.map(|c| percent(c.instructions)),
            per_cycle_scaling_percent: e.counted.map(|c| percent(c.per_cycle)),
            frequency_scaling_percent: e.counted.map(|c| percent(c.frequency)),
        }
    };
    analysis.into_iter().flat_map(|a| a.efficiencies.iter().map(efficiency)).collect()
}
