//! Tables of an outlook as CSV: the fields of the lists of the same names in JSON, one line each.

use falloff_models::{Point, Step};
use serde::Serialize;

use super::json::{self, PredictionJson};
use super::json_part::{self, Said};
use super::json_sections::{self, AboutSectionJson, GridCellJson, joined};
use crate::bounds::Series;
use crate::outlook::{GridRow, Marked, Outlook, Section};
use crate::report::csv_tables::table;
use crate::report::json_bounds::{InflexionJson, inflexion};

/// Call paths, one line for each target.
pub fn paths(outlook: &Outlook) -> serde_json::Result<String> {
    let rows = outlook.parts.iter().flat_map(|part| {
        let predictions = json::predictions(&part.forecast);
        json_part::path_lines(json::about(part), &part.standing, &part.forecast.model, predictions)
    });
    table(&rows.collect::<Vec<_>>())
}

/// What the laws of the whole run say.
pub fn laws(outlook: &Outlook) -> serde_json::Result<String> {
    table(&json::laws(outlook))
}

/// Data that do not fit together.
pub fn notes(outlook: &Outlook) -> serde_json::Result<String> {
    table(&json::notes(outlook))
}

/// Sections, one line for each target. Nothing where nothing is marked, as the two below.
pub fn sections(outlook: &Outlook) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Row<'a> {
        section: String,
        #[serde(flatten)]
        about: AboutSectionJson,
        #[serde(flatten)]
        said: Said<'a, PredictionJson>,
    }
    let all = outlook.sections.iter().flat_map(|marked| &marked.sections);
    let rows = all.flat_map(|section| {
        let predictions = json::predictions(&section.forecast);
        json_part::said(&section.forecast.model, predictions).map(|said| Row {
            section: joined(&section.path),
            about: json_sections::about(section),
            said,
        })
    });
    table(&rows.collect::<Vec<_>>())
}

/// Times of the sections, one line for each count.
pub fn section_times(outlook: &Outlook) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Row {
        section: String,
        processors: f64,
        repetitions: usize,
        seconds: f64,
        standard_error_seconds: f64,
        own_seconds: f64,
        own_standard_error_seconds: f64,
    }
    let rows = |marked: &Marked| {
        let counts: Vec<_> = marked.whole.times.iter().copied().collect();
        let of_section = |section: &Section| {
            let row = |count: &Point| {
                let p = count.scale.p;
                let time = |series: Option<&Series>| {
                    series
                        .and_then(|series| series.at(p))
                        .map_or((0.0, 0.0), |point| (point.mean, point.error))
                };
                let (inclusive, own) =
                    (time(Some(&section.inclusive)), time(section.own.as_ref().map(|own| &own.series)));
                Row {
                    section: joined(&section.path),
                    processors: p,
                    repetitions: count.count,
                    seconds: inclusive.0,
                    standard_error_seconds: inclusive.1,
                    own_seconds: own.0,
                    own_standard_error_seconds: own.1,
                }
            };
            counts.iter().map(row).collect::<Vec<_>>()
        };
        marked.sections.iter().flat_map(of_section).collect::<Vec<_>>()
    };
    table(&outlook.sections.iter().flat_map(rows).collect::<Vec<_>>())
}

/// What the sections take from the speed-up: 1/S = Σ 1/B.
pub fn bounds(outlook: &Outlook) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Row {
        section: Option<String>,
        seconds: f64,
        bound: f64,
        share_percent: f64,
        without: f64,
        next_section: Option<String>,
        next_bound: Option<f64>,
        inflexion: Option<InflexionJson>,
    }
    let rows = |marked: &Marked| {
        let steps = marked.waterfall.as_ref().map(|waterfall| &waterfall.steps[..]).unwrap_or_default();
        let name = |step: &Step| marked.section(step).map(|section| joined(&section.path));
        let row = |step: &Step| Row {
            section: name(step),
            seconds: step.seconds,
            bound: step.bound,
            share_percent: 100.0 * step.share,
            without: step.without,
            next_section: step.next.and_then(|(next, _)| name(&steps[next])),
            next_bound: step.next.map(|(_, bound)| bound),
            inflexion: marked.own(step).map(|own| inflexion(&own.inflexion)),
        };
        steps.iter().map(row).collect::<Vec<_>>()
    };
    table(&outlook.sections.iter().flat_map(rows).collect::<Vec<_>>())
}

/// Sections by processes and threads, those of the whole run without a name. Nothing of other sweeps.
pub fn grid(outlook: &Outlook) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Row {
        section: Option<String>,
        processes: u32,
        #[serde(flatten)]
        cell: GridCellJson,
        best_threads: f64,
        largest_paying_threads: f64,
    }
    let rows = |row: &GridRow| {
        let of_cell = |cell| Row {
            section: row.path.as_ref().map(joined),
            processes: row.processes,
            cell,
            best_threads: row.inflexion.fastest,
            largest_paying_threads: row.largest_paying,
        };
        json_sections::cells(row).into_iter().map(of_cell).collect::<Vec<_>>()
    };
    table(&outlook.grid.iter().flat_map(|grid| &grid.rows).flat_map(rows).collect::<Vec<_>>())
}
