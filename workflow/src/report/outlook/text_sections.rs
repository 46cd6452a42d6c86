//! The sections of a sweep as lines of text: their times and laws, and what of them bounds the speed-up.

use falloff_models::{Point, Step};

use super::json_sections::joined;
use super::text::{OutlookOptions, banded, law};
use crate::bounds::Series;
use crate::outlook::{Beside, LabelPath, Marked, Prediction, Section};
use crate::report::bounding::{Bounding, Listing, bound, state};
use crate::report::names::shorten;
use crate::report::table::{Table, percent, seconds};
use crate::report::text::section as titled;

/// Blanks before what belongs to the row above.
const BELOW: usize = 11;

/// The sections; nothing where nothing is marked.
pub(super) fn section_lines(marked: &Marked, options: &OutlookOptions) -> Vec<String> {
    let last = marked.whole.last().scale.p;
    let mut by_own: Vec<&Section> = marked.sections.iter().collect();
    by_own.sort_by(|a, b| own_seconds(b).total_cmp(&own_seconds(a)));
    let worth = |section: &&&Section| section.share >= options.threshold;
    let listed: Vec<&Section> = by_own.iter().filter(worth).take(options.limit).copied().collect();
    let headings = ["own %", "own s", "s", "bound", "of slowest", "time"];
    let mut table = Table::new(&headings);
    for section in &listed {
        table.row(vec![
            percent(own_seconds(section) / marked.whole.last().mean),
            seconds(own_seconds(section)),
            seconds(section.inclusive.last().mean),
            bound(section.bounds.average.value),
            bound(section.bounds.largest.value),
            state(&section.inflexion),
        ]);
    }
    let label = |row: usize, room: usize| shorten(&printable(&listed[row].path), room);
    let mut rows = table.with_last(options.width, "section", label).lines().into_iter();
    let mut body: Vec<String> = rows.next().into_iter().collect();
    for (row, section) in rows.zip(&listed) {
        body.push(row);
        body.extend(details(section, options));
    }
    let more = by_own.len() - listed.len();
    if more > 0 {
        let listed: f64 = listed.iter().map(|section| own_seconds(section)).sum();
        let all: f64 = by_own.iter().map(|section| own_seconds(section)).sum();
        let noun = if more == 1 { "section" } else { "sections" };
        let share = percent((all - listed) / marked.whole.last().mean);
        body.push(options.paint.dim(&format!("  {more} more {noun}: {share} % of the time at {last}")));
    }
    for Beside { path, processors, elsewhere } in &marked.beside {
        let (noun, verb) = if elsewhere.threads == 1 { ("thread", "was") } else { ("threads", "were") };
        body.push(options.paint.yellow(&format!(
            "  ! {} {noun} beside the main ones {verb} in {} at {processors} for {} s in all, which is in no time here",
            elsewhere.threads,
            printable(path),
            seconds(elsewhere.seconds)
        )));
    }
    let legend =
        "  own: without sections within; bound: of the speed-up, by the mean process and by the slowest one";
    body.push(options.paint.dim(legend));
    let title = format!("SECTIONS AT {last} (wall time of a process, in its main thread)");
    let mut lines = titled(&title, body, options.paint);
    lines.extend(bound_lines(marked, options));
    lines
}

fn own_seconds(section: &Section) -> f64 {
    section
        .own
        .as_ref()
        .and_then(|own| own.series.at(section.inclusive.last().scale.p))
        .map_or(0.0, |at| at.mean)
}

/// What belongs below the row of a section: its law, the predictions, and its times at every count.
fn details(section: &Section, options: &OutlookOptions) -> Vec<String> {
    let mut lines = vec![law(&section.forecast.model)];
    if section.forecast.model.is_ok() {
        let said = |prediction: &Prediction| match &prediction.seconds {
            Ok(cost) => format!("at {}: {} s", prediction.processors, banded(cost)),
            Err(reason) => format!("not predicted at {}: {reason}", prediction.processors),
        };
        lines.extend(section.forecast.predictions.iter().map(said));
    }
    let span =
        section.bounds.span.map(|span| format!("bound {} while any process is in it", bound(span.value)));
    lines.extend(span);
    lines.push(format!("s at {}", measured(&section.inclusive)));
    let own = section.own.as_ref().map(|own| &own.series);
    lines.extend(
        own.filter(|own| **own != section.inclusive).map(|own| format!("own s at {}", measured(own))),
    );
    let blank = " ".repeat(BELOW);
    lines.into_iter().map(|line| options.paint.dim(&format!("{blank}{line}"))).collect()
}

/// The times at every count with their intervals.
fn measured(series: &Series) -> String {
    let time = |point: &Point| format!("{}: {}", point.scale.p, with_noise(series, point));
    series.times.iter().map(time).collect::<Vec<_>>().join(", ")
}

/// A time with the half width of its interval.
pub(super) fn with_noise(series: &Series, point: &Point) -> String {
    match series.half_width(point) {
        Some(width) => format!("{} ± {}", seconds(point.mean), seconds(width)),
        None => format!("{} (n=1)", seconds(point.mean)),
    }
}

/// 1/S = Σ 1/B, and what it means.
fn bound_lines(marked: &Marked, options: &OutlookOptions) -> Vec<String> {
    let waterfall = match &marked.waterfall {
        Ok(waterfall) => waterfall,
        Err(reason) => {
            let line = format!("  not told: {reason}");
            return titled("WHAT BOUNDS THE SPEED-UP", vec![line], options.paint);
        }
    };
    let bounding = Bounding {
        waterfall,
        counts: (marked.whole.times.get(0).scale.p, marked.whole.last().scale.p),
        lasting: marked.lasting(),
        inflexion: &|step| Some(marked.own(step)?.inflexion),
        name: &|step, room| shorten(&name(marked, step), room),
        heading: "own time",
    };
    bounding.lines(&Listing {
        paint: options.paint,
        width: options.width,
        threshold: options.threshold,
        limit: options.limit,
    })
}

/// The section of a step.
fn name(marked: &Marked, step: &Step) -> String {
    marked.section(step).map_or("<outside of sections>".into(), |section| printable(&section.path))
}

/// Labels for a terminal, which would do what control characters in them say.
pub(super) fn printable(path: &LabelPath) -> String {
    joined(path).replace(char::is_control, "?")
}
