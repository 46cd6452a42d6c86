//! The waiting of a run as JSON: `falloff.waits`, version 1.

use falloff_messages::waits::{Cause, Efficiencies, Metric};
use serde::Serialize;

use super::Waiting;

const SCHEMA: &str = "falloff.waits";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    run: Run,
    clocks: Clocks,
    efficiencies: Option<Factors>,
    metrics: Vec<MetricJson>,
    paths: Vec<PathJson<'a>>,
    values: Vec<ValueJson>,
    causes: Vec<CauseJson>,
    critical_imbalance: Vec<ImbalanceJson>,
}

#[derive(Serialize)]
struct Run {
    ranks: usize,
    threads: usize,
    length_ns: u64,
    whole_ns: u64,
    waiting_ns: u64,
    calls: u64,
    messages: u64,
    message_bytes: u64,
    collectives: u64,
    complete: bool,
}

#[derive(Serialize)]
struct Clocks {
    comparisons: u64,
    contradictions: u64,
}

#[derive(Serialize)]
struct Factors {
    parallel: f64,
    load_balance: f64,
    communication: f64,
}

#[derive(Serialize)]
struct MetricJson {
    name: &'static str,
    parent: Option<&'static str>,
    description: &'static str,
    is_wait: bool,
    total_ns: u64,
}

#[derive(Serialize)]
struct PathJson<'a> {
    id: u32,
    names: &'a [String],
}

#[derive(Serialize)]
struct ValueJson {
    rank: u32,
    thread: u32,
    path: u32,
    metric: &'static str,
    value_ns: u64,
}

#[derive(Serialize)]
struct CauseJson {
    waiting_path: u32,
    rank: u32,
    thread: u32,
    cause: &'static str,
    path: Option<u32>,
    waiting_ns: u64,
}

#[derive(Serialize)]
struct ImbalanceJson {
    path: u32,
    imbalance_ns: u64,
}

/// The whole analysis.
pub fn json(waiting: &Waiting) -> serde_json::Result<String> {
    serde_json::to_string(&document(waiting))
}

fn document(waiting: &Waiting) -> Document<'_> {
    let (analysis, outcome) = (&waiting.analysis, &waiting.outcome);
    let of = |location: u32| waiting.locations[location as usize];
    Document {
        schema: SCHEMA,
        version: VERSION,
        run: Run {
            ranks: waiting.locations.iter().filter(|location| location.thread == 0).count(),
            threads: waiting.locations.len(),
            length_ns: analysis.length_ns,
            whole_ns: waiting.whole_ns(),
            waiting_ns: analysis.waiting_ns(),
            calls: outcome.calls,
            messages: outcome.messages,
            message_bytes: outcome.bytes,
            collectives: outcome.collectives,
            complete: outcome.is_whole(),
        },
        clocks: Clocks { comparisons: analysis.checks.made, contradictions: analysis.checks.violated },
        efficiencies: analysis.efficiencies().map(factors),
        metrics: Metric::all().map(|metric| metric_json(waiting, metric)).collect(),
        paths: waiting.paths.iter().map(|(id, names)| PathJson { id: *id, names }).collect(),
        values: (analysis.times.sorted().into_iter())
            .map(|(location, path, metric, value_ns)| {
                let of = of(location);
                ValueJson { rank: of.rank, thread: of.thread, path, metric: metric.name(), value_ns }
            })
            .collect(),
        causes: (analysis.blames.iter())
            .map(|(blame, waiting_ns)| {
                let (cause, path) = match blame.cause {
                    Cause::Computation(path) => ("computation", Some(path)),
                    Cause::Communication => ("communication", None),
                    Cause::Waiting(path) => ("waiting", Some(path)),
                };
                let (of, waiting_ns) = (of(blame.location), *waiting_ns);
                CauseJson {
                    waiting_path: blame.waiting,
                    rank: of.rank,
                    thread: of.thread,
                    cause,
                    path,
                    waiting_ns,
                }
            })
            .collect(),
        critical_imbalance: (analysis.critical_imbalance().into_iter())
            .map(|(path, imbalance_ns)| ImbalanceJson { path, imbalance_ns })
            .collect(),
    }
}

fn factors(of: Efficiencies) -> Factors {
    Factors { parallel: of.parallel, load_balance: of.load_balance, communication: of.communication }
}

fn metric_json(waiting: &Waiting, metric: Metric) -> MetricJson {
    MetricJson {
        name: metric.name(),
        parent: metric.parent().map(Metric::name),
        description: metric.description(),
        is_wait: metric.is_wait(),
        total_ns: waiting.analysis.times.total(metric),
    }
}
