//! The table of sections for programs.

use std::io::Write;

use serde::Serialize;

use super::model::Sections;

const SCHEMA: &str = "falloff.sections";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    run_id: &'a str,
    sections: Vec<Row<'a>>,
    unclosed: u64,
    stray: u64,
    beyond: u64,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    id: u32,
    parent: Option<u32>,
    label: &'a str,
    path: Vec<&'a str>,
    communicator: Option<Group>,
    instances: u64,
    locations: u32,
    dwell_mean_s: f64,
    dwell_min_s: f64,
    dwell_max_s: f64,
    exclusive_mean_s: f64,
    #[serde(flatten)]
    together: Together,
}

#[derive(Serialize)]
struct Group {
    id: u32,
    size: u32,
    all_ranks: bool,
}

#[derive(Serialize, Default)]
struct Together {
    timed_instances: u64,
    span_s: Option<f64>,
    entry_imbalance_s: Option<f64>,
    entry_deviation_s: Option<f64>,
    imbalance_s: Option<f64>,
}

/// Writes the sections as JSON.
///
/// # Errors
/// Those of writing.
pub fn write(
    out: impl Write,
    sections: &Sections,
    run_id: &str,
    warnings: &[String],
) -> serde_json::Result<()> {
    let world = sections.world();
    let rows = sections.times().into_iter().zip(&sections.sections).map(|(times, section)| {
        let group = |index: u32| {
            let of = sections.communicators.get(index as usize)?;
            Some(Group { id: index, size: of.size, all_ranks: Some(index) == world })
        };
        let together = times.together.map(|t| Together {
            timed_instances: t.instances,
            span_s: Some(t.span),
            entry_imbalance_s: Some(t.entry_imbalance),
            entry_deviation_s: Some(t.entry_deviation),
            imbalance_s: Some(t.imbalance),
        });
        Row {
            id: times.section,
            parent: section.parent,
            label: &section.label,
            path: sections.path(times.section),
            communicator: section.communicator.and_then(group),
            instances: times.instances,
            locations: times.locations,
            dwell_mean_s: times.mean,
            dwell_min_s: times.min,
            dwell_max_s: times.max,
            exclusive_mean_s: times.exclusive,
            together: together.unwrap_or_default(),
        }
    });
    let document = Document {
        schema: SCHEMA,
        version: VERSION,
        run_id,
        sections: rows.collect(),
        unclosed: sections.total(|m| m.unclosed),
        stray: sections.total(|m| m.stray),
        beyond: sections.total(|m| m.beyond),
        warnings,
    };
    serde_json::to_writer_pretty(out, &document)
}
