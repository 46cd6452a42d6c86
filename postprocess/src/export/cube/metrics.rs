//! The tree of metrics.

use rustc_hash::FxHashMap;

use super::xml::element;
use crate::database::{TIME, TIME_PARTS, Unit};
use crate::export::profile::{Group, Profile};

/// The element of all metrics; a metric's number is its place in the profile.
///
/// In Cube a metric's value holds those of the metrics below it.
pub(super) fn metrics(profile: &Profile) -> String {
    let place = |name: &str| profile.metrics().iter().position(|metric| metric.name == name);
    let time = place(TIME);
    let parts: Vec<usize> = TIME_PARTS.iter().filter_map(|part| place(part)).collect();
    let below = match time {
        Some(time) if adds_up(profile, time, &parts) => parts,
        _ => Vec::new(),
    };
    let mut text = String::from("<metrics>\n");
    for index in (0..profile.metrics().len()).filter(|index| !below.contains(index)) {
        text.push_str(&begin(profile, index));
        if Some(index) == time {
            for part in &below {
                text.push_str(&begin(profile, *part));
                text.push_str("</metric>\n");
            }
        }
        text.push_str("</metric>\n");
    }
    text.push_str("</metrics>\n");
    text
}

/// A metric's element up to the metrics below it.
fn begin(profile: &Profile, index: usize) -> String {
    let metric = profile.metrics()[index];
    let unit = match metric.unit {
        Unit::Nanoseconds => "sec",
        Unit::Count => "occ",
    };
    let mut text = format!("<metric id=\"{index}\" type=\"EXCLUSIVE\">\n");
    let content =
        [("disp_name", &*metric.name), ("uniq_name", &metric.name), ("dtype", "DOUBLE"), ("uom", unit)];
    for (name, value) in content.into_iter().chain([("url", ""), ("descr", "")]) {
        text.push_str(&element(name, value));
    }
    text
}

/// Whether a metric is the sum of others, everywhere.
fn adds_up(profile: &Profile, sum: usize, parts: &[usize]) -> bool {
    let holds = |group: &Group| {
        let mut rest: FxHashMap<u32, f64> = group.costs(sum).iter().copied().collect();
        for (context, cost) in parts.iter().flat_map(|part| group.costs(*part)) {
            *rest.entry(*context).or_default() -= cost;
        }
        // Of nanoseconds.
        rest.values().all(|rest| rest.abs() < 0.5)
    };
    profile.groups().iter().all(holds)
}
