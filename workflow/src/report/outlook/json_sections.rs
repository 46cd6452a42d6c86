//! Sections in the JSON of an outlook.

use falloff_models::{Point, Step};
use serde::Serialize;

use super::json::{ForecastJson, MeasuredJson, forecast, measured};
use crate::outlook::{Beside, Grid, GridRow, LabelPath, Marked, OwnTime, Section};
use crate::report::json_bounds::{self, InflexionJson, IntervalJson, inflexion, interval};

/// The sections of a sweep.
#[derive(Serialize)]
pub(super) struct SectionsJson<'a> {
    speedup: Option<f64>,
    base: f64,
    processors: f64,
    measured: Vec<MeasuredJson>,
    waterfall: Vec<StepJson<'a>>,
    no_waterfall: Option<&'a str>,
    tightest: Option<usize>,
    lasting: Option<usize>,
    outside: Option<OwnJson>,
    items: Vec<SectionJson<'a>>,
    beside: Vec<BesideJson<'a>>,
}

/// What one section's own time, or that in no section, takes from the speed-up.
#[derive(Serialize)]
struct StepJson<'a> {
    path: Option<&'a LabelPath>,
    #[serde(flatten)]
    step: json_bounds::StepJson,
}

#[derive(Serialize)]
struct OwnJson {
    inflexion: InflexionJson,
    measured: Vec<MeasuredJson>,
}

/// What a section is and how it stands, without its lists.
#[derive(Serialize)]
pub(super) struct AboutSectionJson {
    seconds: f64,
    own_seconds: f64,
    share_percent: f64,
    bound_average: IntervalJson,
    bound_largest: IntervalJson,
    bound_span: Option<IntervalJson>,
    max_over_mean: Option<f64>,
    inflexion: InflexionJson,
    turning: Option<IntervalJson>,
    other_threads: u32,
    other_threads_seconds: f64,
}

#[derive(Serialize)]
struct SectionJson<'a> {
    path: &'a LabelPath,
    #[serde(flatten)]
    about: AboutSectionJson,
    measured: Vec<MeasuredJson>,
    own: Option<OwnJson>,
    #[serde(flatten)]
    forecast: ForecastJson,
}

#[derive(Serialize)]
struct BesideJson<'a> {
    path: &'a LabelPath,
    processors: u32,
    threads: u32,
    seconds: f64,
}

/// Sections by processes and threads.
#[derive(Serialize)]
pub(super) struct GridJson<'a> {
    rows: Vec<GridRowJson<'a>>,
    missing_runs: &'a [String],
}

#[derive(Serialize)]
struct GridRowJson<'a> {
    path: Option<&'a LabelPath>,
    processes: u32,
    best_threads: f64,
    largest_paying_threads: f64,
    inflexion: InflexionJson,
    measured: Vec<GridCellJson>,
}

/// A section's time with so many threads.
#[derive(Serialize)]
pub(super) struct GridCellJson {
    threads: f64,
    repetitions: usize,
    seconds: f64,
    standard_error_seconds: f64,
}

/// All that is known of the sections.
pub(super) fn sections(marked: &Marked) -> SectionsJson<'_> {
    let waterfall = marked.waterfall.as_ref();
    let steps = waterfall.map(|waterfall| &waterfall.steps[..]).unwrap_or_default();
    let place = |step: Option<&Step>| steps.iter().position(|other| Some(other) == step);
    SectionsJson {
        speedup: waterfall.ok().map(|waterfall| waterfall.speedup),
        base: marked.whole.times.get(0).scale.p,
        processors: marked.whole.last().scale.p,
        measured: measured(&marked.whole),
        waterfall: steps.iter().map(|step| step_json(marked, step)).collect(),
        no_waterfall: waterfall.err().map(String::as_str),
        tightest: place(marked.tightest()),
        lasting: place(marked.lasting()),
        outside: marked.outside.as_ref().map(own),
        items: marked.sections.iter().map(section).collect(),
        beside: marked.beside.iter().map(beside).collect(),
    }
}

fn step_json<'a>(marked: &'a Marked, step: &Step) -> StepJson<'a> {
    let path = marked.section(step).map(|section| &section.path);
    StepJson { path, step: json_bounds::step(step, marked.own(step).map(|own| own.inflexion)) }
}

fn beside(beside: &Beside) -> BesideJson<'_> {
    let Beside { path, processors, elsewhere } = beside;
    BesideJson { path, processors: *processors, threads: elsewhere.threads, seconds: elsewhere.seconds }
}

fn own(own: &OwnTime) -> OwnJson {
    OwnJson { inflexion: inflexion(&own.inflexion), measured: measured(&own.series) }
}

fn section(section: &Section) -> SectionJson<'_> {
    SectionJson {
        path: &section.path,
        about: about(section),
        measured: measured(&section.inclusive),
        own: section.own.as_ref().map(own),
        forecast: forecast(&section.forecast),
    }
}

/// What a section is and how it stands.
pub(super) fn about(section: &Section) -> AboutSectionJson {
    AboutSectionJson {
        seconds: section.inclusive.last().mean,
        own_seconds: section.own.as_ref().map_or(0.0, |own| own.series.last().mean),
        share_percent: 100.0 * section.share,
        bound_average: interval(section.bounds.average),
        bound_largest: interval(section.bounds.largest),
        bound_span: section.bounds.span.map(interval),
        max_over_mean: section.max_over_mean,
        inflexion: inflexion(&section.inflexion),
        turning: section.turning.map(|turning| interval(turning.p)),
        other_threads: section.elsewhere.threads,
        other_threads_seconds: section.elsewhere.seconds,
    }
}

/// What each section takes with every number of threads.
pub(super) fn grid(grid: &Grid) -> GridJson<'_> {
    GridJson { rows: grid.rows.iter().map(grid_row).collect(), missing_runs: &grid.missing }
}

fn grid_row(row: &GridRow) -> GridRowJson<'_> {
    GridRowJson {
        path: row.path.as_ref(),
        processes: row.processes,
        best_threads: row.inflexion.fastest,
        largest_paying_threads: row.largest_paying,
        inflexion: inflexion(&row.inflexion),
        measured: cells(row),
    }
}

/// The cells of a row.
pub(super) fn cells(row: &GridRow) -> Vec<GridCellJson> {
    let cell = |point: &Point| GridCellJson {
        threads: point.scale.p,
        repetitions: point.count,
        seconds: point.mean,
        standard_error_seconds: point.error,
    };
    row.series.times.iter().map(cell).collect()
}

/// The labels of a path as one text.
pub(super) fn joined(path: &LabelPath) -> String {
    path.join(" > ")
}
