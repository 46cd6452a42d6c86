//! The ranked functions in the text report.

use falloff_postprocess::views::RowKind;

use super::table::{Table, percent, seconds, with_width};
use super::text::{TextOptions, section};
use crate::scoring::{Loss, Score, ScoredRow};

/// Functions that are listed.
const FUNCTIONS: usize = 20;

/// Functions by exclusive excess.
pub(super) fn function_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let listed: Vec<&ScoredRow> = score
        .flat
        .ranking()
        .into_iter()
        .filter(|r| r.exclusive.excess.abs() >= options.threshold)
        .take(FUNCTIONS)
        .collect();
    let work = format!("work s {} -> {}", score.base, score.at);
    let mut table = Table::new(&["excess %", &work, "own eff. %", "max/mean", "samples", "function"]);
    for row in &listed {
        table.row(vec![
            judged(row, &row.exclusive),
            format!("{} -> {:>6}", seconds(row.exclusive.work_base), seconds(row.exclusive.work_at)),
            row.own_efficiency.map_or("gone".into(), percent),
            row.max_over_mean.map_or("-".into(), |m| format!("{m:.2}")),
            format!("{}", row.samples_base + row.samples_at),
            labelled(row),
        ]);
    }
    let mut lines = table.fitted(options.width);
    for (line, row) in lines.iter_mut().skip(1).zip(&listed) {
        *line = tinted(line, row, &row.exclusive, options);
    }
    section("FUNCTIONS BY EXCLUSIVE EXCESS", lines, options)
}

/// The number, in brackets if it is not to be relied on.
pub(super) fn judged(row: &ScoredRow, loss: &Loss) -> String {
    let number = with_width(loss.excess, loss.half_width);
    if row.judged() && loss.is_told_from_zero() { number } else { format!("({})", number.trim()) }
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

/// A name with the place of its definition, or the module if the source is not known.
pub(super) fn labelled(row: &ScoredRow) -> String {
    let name = &row.name;
    let file = row.file.as_deref().map(|f| f.rsplit('/').next().unwrap_or(f));
    match (row.kind, file, row.line, row.module.as_deref()) {
        (RowKind::Line | RowKind::File | RowKind::Module | RowKind::Root, ..) => name.clone(),
        (_, Some(file), Some(line), _) => format!("{name} at {file}:{line}"),
        (_, Some(file), None, _) => format!("{name} at {file}"),
        (_, None, _, Some(module)) if !name.starts_with(module) => format!("{name} [{module}]"),
        _ => name.clone(),
    }
}
