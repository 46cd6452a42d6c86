//! Groups of locations as threads of processes.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::database::{Metric, Unit};
use crate::export::frames::Frames;
use crate::export::labels::Labels;
use crate::export::{Group, Profile};

/// Name of what is not kept apart.
const ALL: &str = "all";

/// A thread with its samples.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    process_type: &'static str,
    process_startup_time: f64,
    process_shutdown_time: Option<f64>,
    register_time: f64,
    unregister_time: Option<f64>,
    paused_ranges: [(); 0],
    name: String,
    is_main_thread: bool,
    process_name: String,
    pid: String,
    tid: String,
    show_markers_in_timeline: bool,
    samples: Samples,
    markers: Markers,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    stack: Vec<u32>,
    time: Vec<f64>,
    weight: Vec<f64>,
    weight_type: &'static str,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Markers {
    category: [(); 0],
    data: [(); 0],
    end_time: [(); 0],
    name: [(); 0],
    phase: [(); 0],
    start_time: [(); 0],
    length: usize,
}

/// One thread for each group, in the profile's first metric. Threads of one process or, where processes are not kept apart,
/// of one rank are together; a process is named by its rank if it has one.
pub(super) fn threads(profile: &Profile, frames: &Frames) -> Vec<Thread> {
    let Some(metric) = profile.metrics().first() else { return Vec::new() };
    let labels = Labels::new(profile);
    let mut processes = FxHashSet::default();
    let thread = |group: &Group| {
        let labels = labels.of(group);
        let label = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, value)| (*value).to_owned());
        let pid = label("process").or(label("rank")).unwrap_or_else(|| ALL.to_owned());
        let samples = Samples::new(frames, group.costs(0), metric);
        let end = samples.time.last().map_or(0.0, |time| time + 1.0);
        Thread {
            process_type: "default",
            process_startup_time: 0.0,
            process_shutdown_time: Some(end),
            register_time: 0.0,
            unregister_time: Some(end),
            paused_ranges: [],
            name: name(profile, group),
            is_main_thread: processes.insert(pid.clone()),
            process_name: label("rank").unwrap_or_else(|| pid.clone()),
            tid: label("thread").unwrap_or_else(|| pid.clone()),
            pid,
            show_markers_in_timeline: false,
            samples,
            markers: Markers::default(),
        }
    };
    profile.groups().iter().map(thread).collect()
}

/// The thread's own name and number if it is one, else the group's label.
fn name(profile: &Profile, group: &Group) -> String {
    let mut locations = profile.locations(group);
    match (locations.next(), locations.next()) {
        (Some(one), None) => format!("{} {}", one.thread, one.tid),
        _ if group.label.is_empty() => ALL.to_owned(),
        _ => group.label.clone(),
    }
}

impl Samples {
    /// One sample for each call path with cost, which is its weight: in milliseconds or a count. When samples were taken is
    /// not known. Each stands at the sum of all before it, in milliseconds of cost; counts stand one millisecond apart.
    fn new(frames: &Frames, costs: &[(u32, f64)], metric: &Metric) -> Samples {
        let (weight_type, unit) = match metric.unit {
            Unit::Nanoseconds => ("tracing-ms", 1e6),
            Unit::Count => ("samples", 1.0),
        };
        let mut samples =
            Samples { stack: Vec::new(), time: Vec::new(), weight: Vec::new(), weight_type, length: 0 };
        let mut now = 0.0;
        for (frame, cost) in (0..).zip(frames.sums(costs)).filter(|(_, cost)| *cost != 0.0) {
            let weight = cost / unit;
            samples.stack.push(frame);
            samples.time.push(now);
            samples.weight.push(weight);
            samples.length += 1;
            now += if metric.unit == Unit::Nanoseconds { weight.abs() } else { 1.0 };
        }
        samples
    }
}
