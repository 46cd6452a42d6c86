//! Sections by processes and threads as lines of text.

use std::collections::BTreeSet;

use super::text::OutlookOptions;
use super::text_sections::{printable, with_noise};
use crate::outlook::{Grid, GridRow};
use crate::report::names::shorten;
use crate::report::table::Table;
use crate::report::text::section;

/// What every section takes with every number of threads, and which is best. Sections of a small share are left out.
pub(super) fn grid_lines(grid: &Grid, options: &OutlookOptions) -> Vec<String> {
    let threads: BTreeSet<u32> =
        grid.rows.iter().flat_map(|row| row.series.times.iter()).map(|point| point.scale.p as u32).collect();
    let whole = |processes: u32| {
        grid.rows.iter().find(|row| row.path.is_none() && row.processes == processes).map_or(0.0, most)
    };
    let worth = |row: &&GridRow| most(row) >= options.threshold * whole(row.processes);
    let listed: Vec<&GridRow> = grid.rows.iter().filter(worth).collect();
    let headings = ["processes".to_owned()]
        .into_iter()
        .chain(threads.iter().map(|count| format!("s with {count}")))
        .chain(["best".into(), "pays to".into()]);
    let headings: Vec<String> = headings.collect();
    let mut table = Table::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &listed {
        let cell = |count: &u32| match row.series.at(f64::from(*count)) {
            Some(point) => with_noise(&row.series, point),
            None => "-".into(),
        };
        let unsure = if row.inflexion.noise_known { "" } else { " ?" };
        let mut cells = vec![row.processes.to_string()];
        cells.extend(threads.iter().map(cell));
        cells.extend([format!("{}{unsure}", row.inflexion.fastest), row.largest_paying.to_string()]);
        table.row(cells);
    }
    let label = |row: usize, room: usize| {
        listed[row].path.as_ref().map_or("<whole run>".into(), |path| shorten(&printable(path), room))
    };
    let mut body = table.with_last(options.width, "section", label).lines();
    if listed.len() < grid.rows.len() {
        let more = grid.rows.len() - listed.len();
        body.push(options.paint.dim(&format!("  {more} more of a small share, in --format json")));
    }
    if !grid.missing.is_empty() {
        let text = format!("  ! not in this table, failed or not made: {}", grid.missing.join(", "));
        body.push(options.paint.yellow(&text));
    }
    let legend = "best: with this number of threads a process is fastest, the smallest of those alike within the noise or 2 %; \
                  pays to: each step up to it brings half of what it adds";
    body.push(options.paint.dim(&format!("  {legend}")));
    section("THREADS FOR EACH SECTION (wall time of a process, in its main thread)", body, options.paint)
}

/// The longest of a row's times.
fn most(row: &GridRow) -> f64 {
    row.series.times.iter().map(|point| point.mean).fold(0.0, f64::max)
}
