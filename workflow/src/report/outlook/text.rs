//! The outlook for people: what will dominate, what bounds the speed-up, how far more processors pay.

use falloff_models::{Interval, Model};

use super::grid::grid_lines;
use super::laws::{law_lines, next_run_line, note_lines};
use super::terms::term_lines;
use super::text_sections::section_lines;
use crate::outlook::{Outlook, Part, Place, Prediction};
use crate::report::bounding::{bound, state};
use crate::report::caveats::{of_measurements, of_sweep};
use crate::report::functions::place;
use crate::report::names::shorten;
use crate::report::paint::Paint;
use crate::report::table::{Table, percent, seconds};
use crate::report::text::{measured_lines, runs_line, section};
use crate::results::SweepState;
use crate::scoring::{MIN_SAMPLES, Scaling};

/// What the reader wants to see.
#[derive(Clone, Copy, Debug)]
pub struct OutlookOptions {
    /// Colours.
    pub paint: Paint,
    /// Columns of the screen.
    pub width: usize,
    /// Smallest share of the run, now or predicted, as a fraction, for a call path to be listed.
    pub threshold: f64,
    /// Most call paths.
    pub limit: usize,
}

/// Blanks before what belongs to the row above.
pub(super) const BELOW: usize = 11;

/// The whole report.
pub fn text(sweep: &SweepState, outlook: &Outlook, options: &OutlookOptions) -> String {
    let mut lines = header(sweep, outlook, options);
    lines.extend(headline(outlook, options.paint));
    lines.extend(part_lines(outlook, options));
    lines.extend(outlook.sections.iter().flat_map(|marked| section_lines(marked, options)));
    lines.extend(outlook.grid.iter().flat_map(|grid| grid_lines(grid, options)));
    lines.extend(section("WHOLE RUN", law_lines(outlook), options.paint));
    lines.extend(term_lines(outlook.form.as_deref(), &outlook.scales(), options));
    lines.extend(legend(outlook, options.paint));
    lines.extend(note_lines(outlook, options));
    lines.extend(next_run_line(outlook));
    lines.join("\n") + "\n"
}

fn header(sweep: &SweepState, outlook: &Outlook, options: &OutlookOptions) -> Vec<String> {
    let room = options.width.saturating_sub(13);
    let mut lines = vec![
        options.paint.bold(&format!("falloff model {}", shorten(&sweep.dir.display().to_string(), room))),
        format!("  program   {}", shorten(&sweep.plan.program.join(" "), room)),
        format!(
            "  modelled  seconds of {} a processor (sum over all threads / p), {} scaling",
            outlook.metric,
            outlook.scaling.name()
        ),
        runs_line(sweep),
    ];
    lines.extend(measured_lines(&outlook.health));
    let mut caveats = of_sweep(sweep, &outlook.metric);
    caveats.extend(of_measurements(outlook.helper_seconds, &outlook.health));
    lines.extend(caveats.iter().map(|text| options.paint.yellow(&format!("  ! {text}"))));
    lines
}

/// What the whole run will take.
fn headline(outlook: &Outlook, paint: Paint) -> Vec<String> {
    let (first, last) = outlook.ends();
    let now = outlook.whole.series.last().mean;
    let mut lines = vec![String::new()];
    for prediction in &outlook.whole.forecast.predictions {
        lines.push(match &prediction.seconds {
            Ok(cost) => paint.bold(&format!(
                "PREDICTED at {}: {} s, {:.2} times the {} s at {last}",
                prediction.processors,
                banded(cost),
                cost.value / now,
                seconds(now)
            )),
            Err(reason) => {
                paint.yellow(&paint.bold(&format!("NOT PREDICTED at {}: {reason}", prediction.processors)))
            }
        });
    }
    lines.push(format!("  measured from {first} to {last}: {}", law(&outlook.whole.forecast.model)));
    lines
}

fn part_lines(outlook: &Outlook, options: &OutlookOptions) -> Vec<String> {
    let (_, last) = outlook.ends();
    let ranked = outlook.ranked();
    let (mut listed, mut others) = (Vec::new(), Vec::new());
    for part in &outlook.parts {
        let worth = weight(part, outlook, ranked) >= options.threshold && listed.len() < options.limit;
        if worth { listed.push(part) } else { others.push(part) }
    }
    let at = outlook.ranked_at;
    let arrow = |what: &str| at.map_or(format!("{what} at {last}"), |at| format!("{what} {last} -> {at}"));
    let then = at.map_or("predicted s".into(), |at| format!("s at {at}"));
    let headings = [
        arrow("rank"),
        arrow("share %"),
        format!("s at {last}"),
        then,
        format!("bound at {last}"),
        "time".into(),
    ];
    let mut table = Table::new(&headings.each_ref().map(String::as_str));
    for part in &listed {
        table.row(cells(part, ranked));
    }
    let label = |row: usize, room: usize| name(listed[row], room);
    let mut rows = table.with_last(options.width, "call path", label).lines().into_iter();
    let mut body: Vec<String> = rows.next().into_iter().collect();
    for (row, part) in rows.zip(&listed) {
        body.push(row);
        body.extend(details(part, ranked, options));
    }
    if !others.is_empty() {
        let share: f64 = others.iter().map(|part| part.standing.share).sum();
        let count: usize = others.iter().map(|part| part.standing.count).sum();
        let noun = if count == 1 { "call path" } else { "call paths" };
        let line = format!("  {count} more {noun}: {} % of the time at {last}", percent(share));
        body.push(options.paint.dim(&line));
    }
    let title = match at {
        Some(at) => format!("CALL PATHS BY PREDICTED TIME AT {at}"),
        None => format!("CALL PATHS BY TIME AT {last}"),
    };
    section(&title, body, options.paint)
}

/// The larger of a part's shares now and at the count that is ranked; where the whole run is not predicted, against its time now.
fn weight(part: &Part, outlook: &Outlook, ranked: Option<usize>) -> f64 {
    let then = ranked.and_then(|target| {
        let against_now = || {
            let seconds = part.forecast.at(outlook.targets[target])?;
            Some(seconds / outlook.whole.series.last().mean)
        };
        part.standing.shares[target].or_else(against_now)
    });
    then.unwrap_or(0.0).max(part.standing.share)
}

fn cells(part: &Part, ranked: Option<usize>) -> Vec<String> {
    let then = |text: Option<String>| text.unwrap_or("?".into());
    let (rank, share) = (part.standing.rank.to_string(), percent(part.standing.share));
    let (rank, share) = match ranked {
        None => (rank, share),
        Some(target) => (
            format!("{rank} -> {}", then(part.standing.rank_then.map(|r| r.to_string()))),
            format!("{share} -> {:>5}", then(part.standing.shares[target].map(percent))),
        ),
    };
    let cost = ranked.and_then(|target| part.forecast.predictions[target].seconds.as_ref().ok());
    vec![
        rank,
        share,
        seconds(part.standing.seconds),
        then(cost.map(banded)),
        bound(part.bounds.largest.value),
        state(&part.inflexion),
    ]
}

/// What belongs below the row of a part: the other predictions, its law, and where it is called.
fn details(part: &Part, ranked: Option<usize>, options: &OutlookOptions) -> Vec<String> {
    let room = options.width.saturating_sub(BELOW);
    let blank = " ".repeat(BELOW);
    let other = |(index, prediction): (usize, &Prediction)| match &prediction.seconds {
        Ok(cost) if Some(index) != ranked => {
            Some(format!("at {}: {} s", prediction.processors, banded(cost)))
        }
        Ok(_) => None,
        Err(reason) => Some(format!("not predicted at {}: {reason}", prediction.processors)),
    };
    let mut lines = vec![law(&part.forecast.model)];
    if part.forecast.model.is_ok() {
        lines.extend(part.forecast.predictions.iter().enumerate().filter_map(other));
    }
    let above =
        part.standing.place.as_ref().and_then(|place| place.path.split_last()).map(|(_, above)| above);
    if let Some(above) = above.filter(|above| !above.is_empty()) {
        let names: Vec<&str> = above.iter().map(|name| &**name).collect();
        lines.push(shorten(&format!("in {}", names.join(" > ")), room));
    }
    lines.into_iter().map(|line| options.paint.dim(&format!("{blank}{line}"))).collect()
}

/// A law in words.
pub(super) fn law(model: &Result<Model, String>) -> String {
    match model {
        Err(reason) => format!("no model: {reason}"),
        Ok(model) => {
            let others = match model.set().len() - 1 {
                0 => String::new(),
                1 => "; 1 other law may be it".into(),
                more => format!("; {more} other laws may be it"),
            };
            format!("{model} s; counts left out are missed by {:.1} %{others}", model.smape())
        }
    }
}

/// What a part is called, in at most `room` characters.
pub(super) fn name(part: &Part, room: usize) -> String {
    name_of(part.standing.place.as_ref(), part.standing.count, room)
}

/// The same of a part that stands for `count` call paths.
pub(super) fn name_of(at: Option<&Place>, count: usize, room: usize) -> String {
    let Some(at) = at else {
        let paths = if count == 1 { "call path" } else { "call paths" };
        return format!("<rare>: {count} {paths} of fewer than {MIN_SAMPLES} samples");
    };
    let name = at.name();
    let place = place(at.kind, name, at.file.as_deref(), at.line, at.module.as_deref());
    match name.chars().count() + place.chars().count() {
        length if length <= room => format!("{name}{place}"),
        _ => shorten(name, room),
    }
}

/// A value with its band.
pub(super) fn banded(interval: &Interval) -> String {
    format!("{} ({} to {})", seconds(interval.value), seconds(interval.low), seconds(interval.high))
}

fn legend(outlook: &Outlook, paint: Paint) -> Vec<String> {
    let (first, last) = outlook.ends();
    let work = match outlook.scaling {
        Scaling::Strong => String::new(),
        Scaling::Weak => format!(" for the work of the run at {first}"),
    };
    let lines = [
        "call paths have their own code and whole operations (MPI, locks, barriers): their times add up to the run's".to_owned(),
        format!(
            "bound: no run is more than this many times as fast as at {first} while the path's slowest process takes what it takes at {last}"
        ),
        format!("time: whether the path's time{work} still falls with more processors; bands hold a measurement in 95 % of cases"),
    ];
    std::iter::once(String::new()).chain(lines.iter().map(|line| paint.dim(line))).collect()
}
