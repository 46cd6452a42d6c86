//! The ranked functions in the text report.

use falloff_postprocess::views::RowKind;

use super::names::shorten;
use super::table::{Table, percent, seconds, with_width};
use super::text::{TextOptions, section};
use super::tree::Rare;
use crate::scoring::{Loss, Score, ScoredRow};

/// Functions that are listed for their excess.
const FUNCTIONS: usize = 20;
/// Share of the work at one of the scales from which a function is listed whatever its excess: that most of the work
/// scales well is news too.
const LARGE: f64 = 0.05;

/// Functions by exclusive excess.
pub(super) fn function_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let whole = score.total();
    let large =
        |loss: &Loss| loss.work_at >= LARGE * whole.work_at || loss.work_base >= LARGE * whole.work_base;
    let mut room = FUNCTIONS;
    let mut lossy = |loss: &Loss| {
        let listed = loss.excess.abs() >= options.threshold && room > 0;
        room -= usize::from(listed);
        listed
    };
    let (rare, mut listed): (Vec<&ScoredRow>, Vec<&ScoredRow>) =
        score.flat.ranking().into_iter().partition(|row| row.is_rare());
    listed.retain(|row: &&ScoredRow| large(&row.exclusive) || lossy(&row.exclusive));
    let work = format!("work s {} -> {}", score.base, score.at);
    let mut table = Table::new(&["excess %", &work, "own eff. %", "max/mean", "samples"]);
    for row in &listed {
        table.row(vec![
            judged(row, &row.exclusive),
            format!("{} -> {:>6}", seconds(row.exclusive.work_base), seconds(row.exclusive.work_at)),
            row.own_efficiency.map_or("gone".into(), percent),
            row.max_over_mean.map_or("-".into(), |m| format!("{m:.2}")),
            format!("{}", row.samples_base + row.samples_at),
        ]);
    }
    let table = table.with_last(options.width, "function", |row, room| labelled(listed[row], room));
    let mut lines = table.lines();
    for (line, row) in lines.iter_mut().skip(1).zip(&listed) {
        *line = tinted(line, row, &row.exclusive, options);
    }
    lines.extend(rare_line(&rare).map(|line| options.paint.dim(&line)));
    section("FUNCTIONS BY EXCLUSIVE EXCESS", lines, options.paint)
}

/// What all functions with too few samples have together.
fn rare_line(functions: &[&ScoredRow]) -> Option<String> {
    let sum = functions.iter().fold(Rare::default(), |sum, row| sum.with(row.exclusive.excess));
    (sum.rows > 0).then(|| format!("  {:>5}  {}", percent(sum.excess), sum.label("function")))
}

/// The number, with a question mark if it is not to be relied on.
pub(super) fn judged(row: &ScoredRow, loss: &Loss) -> String {
    let sure = row.judged() && loss.is_told_from_zero();
    format!("{} {}", with_width(loss.excess, loss.half_width), if sure { ' ' } else { '?' })
}

/// A line in the colour of its excess.
pub(super) fn tinted(line: &str, row: &ScoredRow, loss: &Loss, options: &TextOptions) -> String {
    match loss.excess {
        _ if !(row.judged() && loss.is_told_from_zero()) => options.paint.dim(line),
        x if x >= 0.05 => options.paint.red(line),
        x if x < 0.0 => options.paint.green(line),
        _ => line.to_owned(),
    }
}

/// A name with the place of its definition, or the module if the source is not known. Where there is no room for
/// both, the name is all; where there is none for that, it is shortened.
pub(super) fn labelled(row: &ScoredRow, room: usize) -> String {
    let place = place(row.kind, &row.name, row.file.as_deref(), row.line, row.module.as_deref());
    match row.name.chars().count() + place.chars().count() {
        length if length <= room => format!("{}{place}", row.name),
        _ => shorten(&row.name, room),
    }
}

/// Where a frame is defined, to be put behind its name: its file and line, else its module.
pub(super) fn place(
    kind: RowKind,
    name: &str,
    file: Option<&str>,
    line: Option<u32>,
    module: Option<&str>,
) -> String {
    let file = file.map(|f| f.rsplit('/').next().unwrap_or(f));
    match (kind, file, line, module) {
        (RowKind::Loop | RowKind::Line | RowKind::File | RowKind::Module | RowKind::Root, ..) => {
            String::new()
        }
        (_, Some(file), Some(line), _) => format!(" at {file}:{line}"),
        (_, Some(file), None, _) => format!(" at {file}"),
        (_, None, _, Some(module)) if !name.starts_with(module) => format!(" [{module}]"),
        _ => String::new(),
    }
}
