//! Causes, waiting and efficiencies in the score's JSON.

use serde::Serialize;

use super::json::percent;
use crate::causes::{Analysis, CauseLoss, Charge, Disturbance, ScaleEfficiency, Step, Subtree, Waiting};
use crate::results::SweepState;

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
    /// Its processes and threads, in a sweep over both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<String>,
    parallel_percent: f64,
    load_balance_percent: f64,
    communication_percent: f64,
    serialisation_percent: Option<f64>,
    transfer_percent: Option<f64>,
    computational_percent: f64,
    global_percent: f64,
    instruction_scaling_percent: Option<f64>,
    per_cycle_scaling_percent: Option<f64>,
    frequency_scaling_percent: Option<f64>,
}

/// The causes, each with at most so many of its places.
pub(super) fn causes(analysis: Option<&Analysis>, most: usize) -> Vec<CauseJson> {
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
            .take(most)
            .map(|(id, excess)| PlaceJson { id: *id, excess_percent: percent(*excess) })
            .collect(),
    };
    analysis.into_iter().flat_map(|a| a.causes.iter().map(cause)).collect()
}

pub(super) fn efficiencies(sweep: &SweepState, analysis: Option<&Analysis>) -> Vec<EfficiencyJson> {
    let pairs = sweep.pairs();
    let efficiency = |s: &ScaleEfficiency| {
        let e = &s.efficiencies;
        EfficiencyJson {
            processors: s.scale,
            pair: pairs.get(&s.scale).cloned(),
            parallel_percent: percent(e.parallel),
            load_balance_percent: percent(e.load_balance),
            communication_percent: percent(e.communication),
            serialisation_percent: e.network.map(|n| percent(n.serialisation)),
            transfer_percent: e.network.map(|n| percent(n.transfer)),
            computational_percent: percent(e.computational),
            global_percent: percent(e.global),
            instruction_scaling_percent: e.counted.map(|c| percent(c.instructions)),
            per_cycle_scaling_percent: e.counted.map(|c| percent(c.per_cycle)),
            frequency_scaling_percent: e.counted.map(|c| percent(c.frequency)),
        }
    };
    analysis.into_iter().flat_map(|a| a.efficiencies.iter().map(efficiency)).collect()
}

#[derive(Serialize)]
pub(super) struct WaitingJson {
    pub id: u32,
    at_least_percent: f64,
    at_most_percent: f64,
    participants: usize,
    pub last: Vec<u32>,
}

#[derive(Serialize)]
pub(super) struct DisturbanceJson {
    metric: &'static str,
    base_count: f64,
    at_count: f64,
    id: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct StepJson {
    factor: &'static str,
    ratio: f64,
    change_percent: f64,
    left_percent: f64,
}

#[derive(Serialize)]
pub(super) struct SubtreeJson {
    pub id: u32,
    share_percent: f64,
    parallel_base_percent: f64,
    parallel_percent: f64,
    load_balance_percent: f64,
    communication_percent: f64,
    computational_percent: f64,
    global_percent: f64,
}

pub(super) fn charge(analysis: &Analysis) -> &'static str {
    match analysis.charge {
        Charge::Place => "place",
        Charge::Cause => "cause",
    }
}

pub(super) fn waiting(analysis: Option<&Analysis>, whole_at: f64) -> Vec<WaitingJson> {
    let of = |analysis: &Analysis| -> Vec<WaitingJson> {
        let numbers = |last: &[u32]| {
            last.iter().filter_map(|who| analysis.numbers.get(*who as usize).copied()).collect::<Vec<u32>>()
        };
        let waiting = |w: &Waiting| WaitingJson {
            id: w.place,
            at_least_percent: percent(w.low() / whole_at),
            at_most_percent: percent(w.high / whole_at),
            participants: w.count,
            last: numbers(&w.last),
        };
        analysis.waiting.iter().map(waiting).collect()
    };
    analysis.map(of).unwrap_or_default()
}

pub(super) fn disturbances(analysis: Option<&Analysis>) -> Vec<DisturbanceJson> {
    let disturbance =
        |d: &Disturbance| DisturbanceJson { metric: d.name, base_count: d.base, at_count: d.at, id: d.place };
    analysis.into_iter().flat_map(|a| a.disturbances.iter().map(disturbance)).collect()
}

pub(super) fn waterfall(analysis: Option<&Analysis>) -> Vec<StepJson> {
    let step = |s: &Step| StepJson {
        factor: s.factor.word(),
        ratio: s.ratio,
        change_percent: percent(s.change),
        left_percent: percent(s.left),
    };
    analysis.into_iter().flat_map(|a| a.waterfall.iter().map(step)).collect()
}

pub(super) fn subtrees(analysis: Option<&Analysis>) -> Vec<SubtreeJson> {
    let subtree = |s: &Subtree| SubtreeJson {
        id: s.context,
        share_percent: percent(s.share),
        parallel_base_percent: percent(s.parallel_base),
        parallel_percent: percent(s.efficiencies.parallel),
        load_balance_percent: percent(s.efficiencies.load_balance),
        communication_percent: percent(s.efficiencies.communication),
        computational_percent: percent(s.efficiencies.computational),
        global_percent: percent(s.efficiencies.global),
    };
    analysis.into_iter().flat_map(|a| a.subtrees.iter().map(subtree)).collect()
}
