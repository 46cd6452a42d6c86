//! Profiles for speedscope: its own JSON file format.

use std::io::{self, Write};

use serde::Serialize;

use super::frames::{Detail, Frames};
use super::negative;
use super::profile::Profile;
use crate::cct::Scope;
use crate::database::Unit;

/// Writes one profile for each group in the profile's first metric, and one of their sum in front of them if there are
/// several.
///
/// A profile is a sequence of frames that open and close: every call path by functions occurs once, in the tree's order,
/// and is as long as its cost in nanoseconds or counts. Frames are functions, so that lines of a function are one row in
/// speedscope; a frame's line is where the function is defined.
///
/// # Errors
/// Those of `out`; [`io::ErrorKind::InvalidInput`] for negative values.
pub fn speedscope(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    negative::refuse(profile, "speedscope")?;
    let frames = Frames::new(profile, Detail::Functions);
    let callees = Callees::new(&frames);
    let document = Document {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("falloff ", env!("CARGO_PKG_VERSION")),
        name: profile.database().provenance().command.join(" "),
        active_profile_index: 0,
        shared: Shared { frames: frames.functions().iter().map(|scope| SharedFrame::of(scope)).collect() },
        profiles: profiles(profile, &frames, &callees),
    };
    serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    #[serde(rename = "activeProfileIndex")]
    active_profile_index: u32,
    shared: Shared<'a>,
    profiles: Vec<Evented>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

#[derive(Serialize)]
struct SharedFrame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> SharedFrame<'a> {
    /// A function; one without source is told by its module.
    fn of(scope: &'a Scope) -> SharedFrame<'a> {
        let file = scope.file.as_deref().or(scope.module.as_deref());
        SharedFrame { name: &scope.name, file, line: scope.line }
    }
}

#[derive(Serialize)]
struct Evented {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: f64,
    #[serde(rename = "endValue")]
    end: f64,
    events: Vec<Event>,
}

/// A frame that opens (`O`) or closes (`C`).
#[derive(Serialize)]
struct Event {
    #[serde(rename = "type")]
    kind: char,
    frame: u32,
    at: f64,
}

fn profiles(profile: &Profile, frames: &Frames, callees: &Callees) -> Vec<Evented> {
    let Some(metric) = profile.metrics().first() else { return Vec::new() };
    let unit = match metric.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Count => "none",
    };
    let evented = |label: &str, own: Vec<f64>| {
        let events = callees.events(frames, own);
        let name = if label.is_empty() { metric.name.clone() } else { format!("{label}, {}", metric.name) };
        let end = events.last().map_or(0.0, |event| event.at);
        Evented { kind: "evented", name, unit, start: 0.0, end, events }
    };
    let groups = profile.groups();
    let mut sums = vec![0.0; frames.frames().len()];
    let mut profiles = Vec::new();
    for group in groups {
        let own = frames.sums(group.costs(0));
        sums.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
        profiles.push(evented(&group.label, own));
    }
    match groups.len() {
        0 => profiles.push(evented("", sums)),
        1 => {}
        _ => profiles.insert(0, evented("all", sums)),
    }
    profiles
}

/// The frames that each frame calls, in the tree's order.
struct Callees {
    outermost: Vec<u32>,
    of: Vec<Vec<u32>>,
}

impl Callees {
    fn new(frames: &Frames) -> Callees {
        let mut callees = Callees { outermost: Vec::new(), of: vec![Vec::new(); frames.frames().len()] };
        for (index, frame) in (0..).zip(frames.frames()) {
            match frame.caller {
                None => callees.outermost.push(index),
                Some(caller) => callees.of[caller as usize].push(index),
            }
        }
        callees
    }

    /// Every frame that has cost at or below it opens and closes once, its own cost before that of its callees.
    fn events(&self, frames: &Frames, own: Vec<f64>) -> Vec<Event> {
        let mut inclusive = own.clone();
        for (index, frame) in frames.frames().iter().enumerate().rev() {
            if let Some(caller) = frame.caller {
                inclusive[caller as usize] += inclusive[index];
            }
        }
        let mut events = Vec::new();
        let mut at = 0.0;
        // What is still to be done, last first: a frame to open, or an open one to close.
        let mut steps: Vec<(u32, bool)> = self.outermost.iter().rev().map(|frame| (*frame, true)).collect();
        while let Some((index, opens)) = steps.pop() {
            if inclusive[index as usize] <= 0.0 {
                continue;
            }
            let frame = frames.frames()[index as usize].function;
            events.push(Event { kind: if opens { 'O' } else { 'C' }, frame, at });
            if opens {
                at += own[index as usize];
                steps.push((index, false));
                steps.extend(self.of[index as usize].iter().rev().map(|callee| (*callee, true)));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::database::Database;
    use crate::export::{By, samples};
    use crate::synthetic;

    fn json(database: &Database, metric: &str, by: By) -> Json {
        let mut out = Vec::new();
        speedscope(&Profile::new(database, &[metric], by), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    /// Checks that what opens last closes first, and gives the sum of the time at which any frame is open.
    fn checked_total(json: &Json, profile: usize) -> f64 {
        let profile = &json["profiles"][profile];
        let mut open = Vec::new();
        let mut last = profile["startValue"].as_f64().unwrap();
        let mut total = 0.0;
        for event in profile["events"].as_array().unwrap() {
            let at = event["at"].as_f64().unwrap();
            assert!(at >= last);
            total += if open.is_empty() { 0.0 } else { at - last };
            last = at;
            match event["type"].as_str().unwrap() {
                "O" => open.push(event["frame"].clone()),
                _ => assert_eq!(open.pop().unwrap(), event["frame"]),
            }
        }
        assert!(open.is_empty());
        assert_eq!(last, profile["endValue"].as_f64().unwrap());
        total
    }

    #[test]
    fn every_profile_is_as_long_as_its_cost() {
        let database = synthetic::database();
        for (metric, unit) in [("cpu", "nanoseconds"), ("samples", "none")] {
            let whole = database.exclusive_totals(metric).unwrap().iter().sum::<f64>();
            let one = json(&database, metric, By::None);
            assert_eq!(one["profiles"].as_array().unwrap().len(), 1);
            assert_eq!(one["profiles"][0]["unit"], unit);
            assert_eq!(checked_total(&one, 0), whole);
            let ranks = json(&database, metric, By::Rank);
            assert_eq!(ranks["profiles"][0]["name"], format!("all, {metric}"));
            assert_eq!(ranks["profiles"][2]["name"], format!("rank 1, {metric}"));
            assert_eq!(checked_total(&ranks, 0), whole);
            assert_eq!(checked_total(&ranks, 1) + checked_total(&ranks, 2), whole);
        }
    }

    #[test]
    fn the_document_is_as_it_was() {
        let json = json(&synthetic::database(), "samples", By::None);
        insta::assert_snapshot!("speedscope", serde_json::to_string(&json).unwrap().replace("},", "},\n"));
    }

    #[test]
    fn awkward_profiles_are_written() {
        let awkward = samples::awkward();
        let total = awkward.exclusive_totals("cpu").unwrap().iter().sum::<f64>();
        assert_eq!(checked_total(&json(&awkward, "cpu", By::Thread), 0), total);
        assert_eq!(json(&samples::empty(), "cpu", By::Rank)["profiles"][0]["endValue"], 0.0);
        assert_eq!(
            json(&synthetic::database(), "no such metric", By::None)["profiles"],
            Json::Array(Vec::new())
        );
    }
    #[test]
    fn negative_values_are_refused() {
        let difference = samples::difference();
        let error = speedscope(&Profile::new(&difference, &["cpu"], By::Rank), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("`cpu`"), "{error}");
    }
}
