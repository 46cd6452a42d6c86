//! What the runs of a sweep spent in the sections that the program has marked.

use std::collections::BTreeSet;
use std::io;

use super::block::Blocks;
use super::spread::{self, SpreadInfo};
use crate::causes::Charge;
use crate::results::Results;
use crate::scoring::{Aligned, Run, Score};

/// The labels of all runs' sections, and each run over them, each section without those within it; in the order of the columns. None
/// if no section is marked, or if waiting is charged to its causes, of which no section is known.
///
/// # Errors
/// The values of a database could not be read.
pub(super) fn add(
    blocks: &mut Blocks,
    results: &Results,
    score: &Score,
    aligned: &Aligned,
) -> io::Result<Vec<SpreadInfo>> {
    let is_charged = score.analysis.as_ref().is_some_and(|analysis| analysis.charge == Charge::Cause);
    let mut runs: Vec<(&Run, &Vec<u32>)> = results.runs.iter().zip(&aligned.maps).collect();
    runs.sort_by_key(|(run, _)| (run.scale, run.repetition));
    let labels = labels(&runs);
    if labels.is_empty() || is_charged {
        return Ok(Vec::new());
    }
    let mut infos = Vec::new();
    for (number, (run, map)) in runs.into_iter().enumerate() {
        let info = SpreadInfo {
            block: format!("section {number}"),
            divisor: 1,
            labels: labels.clone(),
            hosts: Vec::new(),
            processors: Some(run.scale),
            left_out: false,
        };
        let values = values(run, map, &labels, &score.metric)?;
        infos.push(spread::add(blocks, info, aligned.tree.len(), values));
    }
    Ok(infos)
}

/// Labels from the outermost section to each, in the order in which the runs have them.
fn labels(runs: &[(&Run, &Vec<u32>)]) -> Vec<String> {
    let mut labels = Vec::new();
    for (run, _) in runs {
        labels.extend((0..run.database.sections().sections.len() as u32).map(|section| label(run, section)));
    }
    let mut seen = BTreeSet::new();
    labels.retain(|label| seen.insert(label.clone()));
    labels
}

fn label(run: &Run, section: u32) -> String {
    run.database.sections().path(section).join(" > ")
}

/// Cost of a run as (context, section, nanoseconds).
fn values(run: &Run, map: &[u32], labels: &[String], metric: &str) -> io::Result<Vec<(u32, u32, i64)>> {
    let Run { database, .. } = run;
    let place = |section: u32| labels.iter().position(|known| *known == label(run, section)).unwrap_or(0);
    let places: Vec<u32> =
        (0..database.sections().sections.len() as u32).map(|section| place(section) as u32).collect();
    let of = database.section_values().map_err(io::Error::other)?;
    let in_metric = of.iter().filter(|value| database.metrics()[value.metric as usize].name == metric);
    let in_tree = in_metric.map(|value| {
        let amount = database.metrics()[value.metric as usize].in_unit(value.exclusive);
        (map[value.context as usize], places[value.section as usize], amount.round() as i64)
    });
    Ok(in_tree.collect())
}
