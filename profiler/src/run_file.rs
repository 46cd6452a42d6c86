//! `run.json`: what was run, and what was to be measured.

use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::event::{Event, Sampling, Selection};
use crate::{CpuClock, EventLog, Prepared, WaitClock};

/// What `run.json` says.
#[derive(Debug, Serialize)]
pub(crate) struct RunFile {
    schema: &'static str,
    version: u32,
    pub(crate) run_id: String,
    command: Vec<String>,
    samples_per_cpu_second: u32,
    created_unix_seconds: u64,
    working_directory: String,
    falloff_version: &'static str,
    events: Vec<MeasuredEvent>,
    events_missing: Vec<crate::probe::Missing>,
    cpu_clock_asked: Option<CpuClock>,
    waits_asked: Option<WaitClock>,
    only: Vec<String>,
    event_log: Option<EventLog>,
    warnings: Vec<String>,
}

/// A clock (`cpu`, `waits`) or a perf event with its sampling.
#[derive(Debug, Serialize)]
struct MeasuredEvent {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    perf_type: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perf_config: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples_per_second: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
}

/// What must be read of another rank's file.
#[derive(Deserialize)]
pub(crate) struct RunIdentity {
    pub(crate) run_id: String,
}

impl RunFile {
    pub(crate) fn new(run_id: &str, command: &[OsString], prepared: &Prepared) -> RunFile {
        let (request, selection) = (&prepared.request, &prepared.selection);
        RunFile {
            schema: "falloff.run",
            version: 1,
            run_id: run_id.to_owned(),
            command: command.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
            samples_per_cpu_second: selection.rate_hz,
            created_unix_seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            working_directory: std::env::current_dir()
                .map_or_else(|_| String::new(), |d| d.display().to_string()),
            falloff_version: env!("CARGO_PKG_VERSION"),
            events: measured(selection),
            events_missing: prepared.missing.clone(),
            cpu_clock_asked: request.cpu_clock,
            waits_asked: request.waits,
            only: request.only.clone(),
            event_log: request.event_log,
            warnings: selection.caution().into_iter().collect(),
        }
    }
}

fn measured(selection: &Selection) -> Vec<MeasuredEvent> {
    let clock = |name: &str| MeasuredEvent {
        name: name.to_owned(),
        perf_type: None,
        perf_config: None,
        samples_per_second: Some(selection.rate_hz),
        period: None,
    };
    let clocks = [(selection.cpu, "cpu"), (selection.waits, "waits")];
    let clocks = clocks.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| clock(name));
    clocks.chain(selection.events.iter().map(MeasuredEvent::perf)).collect()
}

impl MeasuredEvent {
    fn perf(event: &Event) -> MeasuredEvent {
        let (rate, period) = match event.sampling {
            Sampling::Rate(rate) => (Some(rate), None),
            Sampling::Period(period) => (None, Some(period)),
        };
        MeasuredEvent {
            name: event.perf.name.clone(),
            perf_type: Some(event.perf.kind),
            perf_config: Some(event.perf.config),
            samples_per_second: rate,
            period,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    #[test]
    fn events_and_rates_are_recorded() {
        let events = ["time@2000", "page-faults/10", "r1c2"].map(|t| t.parse().unwrap()).to_vec();
        let request = Request { events, cpu_clock: Some(CpuClock::Timer), ..Request::default() };
        let selection = Selection::of(&request.events).unwrap();
        let file = RunFile::new("id", &["app".into()], &Prepared { request, selection, missing: vec![] });
        let json = serde_json::to_value(&file).unwrap();
        assert_eq!(json["samples_per_cpu_second"], 2000);
        assert_eq!(json["events"][1], serde_json::json!({"name": "waits", "samples_per_second": 2000}));
        assert_eq!(
            json["events"][2],
            serde_json::json!({"name": "page-faults", "perf_type": 1, "perf_config": 2, "period": 10})
        );
        assert_eq!(json["events"][3]["samples_per_second"], 200);
        assert_eq!(json["cpu_clock_asked"], "timer");
        assert!(json["warnings"][0].as_str().unwrap().starts_with("2000 samples"));
    }
}
