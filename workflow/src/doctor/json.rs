//! The examination as JSON: `falloff.doctor`, version 1. Described in `docs/doctor.md`.

use falloff_postprocess::SymbolSource;
use falloff_profiler::probe::{Access, Machine, Obstacle, obstacle};
use serde::Serialize;

use super::checks::{Check, checks};
use super::examination::Examination;

const SCHEMA: &str = "falloff.doctor";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    works: bool,
    checks: Vec<Check>,
    machine: &'a Machine,
    cpu_time_by_perf: Access,
    waits_by_switches: Access,
    events: Vec<EventJson<'a>>,
    launchers: Vec<LauncherJson<'a>>,
    trial: Option<TrialJson<'a>>,
    trial_failure: Option<&'a Obstacle>,
}

#[derive(Serialize)]
struct EventJson<'a> {
    name: &'a str,
    counts: &'a str,
    perf_type: u32,
    perf_config: u64,
    access: Access,
    obstacle: Option<Obstacle>,
}

#[derive(Serialize)]
struct LauncherJson<'a> {
    name: &'a str,
    mpi: Option<&'a str>,
}

#[derive(Serialize)]
struct TrialJson<'a> {
    is_right: bool,
    cpu_used_seconds: f64,
    cpu_measured_seconds: f64,
    clocks: &'a [String],
    c_library_names: Option<SymbolSource>,
}

/// The examination as one JSON document.
pub fn json(examination: &Examination) -> serde_json::Result<String> {
    let machine = &examination.machine;
    let events = examination.events.iter().map(|tried| EventJson {
        name: &tried.event.name,
        counts: &tried.event.counts,
        perf_type: tried.event.kind,
        perf_config: tried.event.config,
        access: tried.access,
        obstacle: obstacle(&tried.event, tried.access, machine),
    });
    let launchers = examination
        .launchers
        .iter()
        .map(|launcher| LauncherJson { name: &launcher.name, mpi: launcher.flavour.as_deref() });
    let trial = examination.trial.as_ref().map(|trial| TrialJson {
        is_right: trial.is_right(),
        cpu_used_seconds: trial.cpu_used_seconds,
        cpu_measured_seconds: trial.cpu_measured_seconds,
        clocks: &trial.clocks,
        c_library_names: trial.c_library_names,
    });
    serde_json::to_string(&Document {
        schema: SCHEMA,
        version: VERSION,
        works: examination.works(),
        checks: checks(examination),
        machine,
        cpu_time_by_perf: examination.task_clock,
        waits_by_switches: examination.switches,
        events: events.collect(),
        launchers: launchers.collect(),
        trial_failure: examination.trial.as_ref().err(),
        trial: trial.ok(),
    })
}
