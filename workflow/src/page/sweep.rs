//! The page of a sweep.

use std::collections::BTreeMap;
use std::io;

use falloff_postprocess::Tree;
use serde::Serialize;

use super::block::Blocks;
use super::document::Page;
use super::sections;
use super::sources::{SourceInfo, SourceTexts};
use super::spread::{self, SpreadInfo};
use super::tree;
use crate::Result;
use crate::bounds::BoundsOf;
use crate::report::{caveats_of, json, measured_lines};
use crate::results::{Choice, Results};
use crate::scoring::{Aligned, Participants, SECONDS_PER_NS, Score, participant_hosts};

/// Rows of all pairs of counts together beyond which only the asked pair is looked into: each takes its time.
const MOST_ROWS: usize = 1_000_000;

/// A score with the columns that it is of.
pub struct Sweep {
    score: Score,
    aligned: Aligned,
    /// What is told of other pairs of counts, as [`json::pair`] has it.
    pairs: Vec<serde_json::Value>,
}

impl Sweep {
    /// Scores the good runs, for every pair of counts if their rows are not too many.
    ///
    /// # Errors
    /// Those of [`Results::score`].
    pub fn new(results: &Results, choice: &Choice) -> Result<Sweep> {
        let choice = Choice { callers: false, steps: false, bounds: BoundsOf::Parts, ..choice.clone() };
        let mut pairs = Vec::new();
        let add = |score: &Score| pairs.extend(serde_json::to_value(json::pair(&results.state, score)).ok());
        let others = |aligned: &Aligned, asked| {
            let scales: Vec<u32> = aligned.columns.scales.iter().map(|scale| scale.scale).collect();
            other_pairs(&scales, aligned.tree.len(), asked)
        };
        let (score, aligned) = results.score_with_columns(&choice, others, add)?;
        Ok(Sweep { score, aligned, pairs })
    }

    /// The call paths of all runs.
    pub fn tree(&self) -> &Tree {
        &self.aligned.tree
    }
}

/// All other pairs of counts than the asked one, the smaller first; none if they have too many rows together, a pair `rows` of them.
fn other_pairs(scales: &[u32], rows: usize, asked: (u32, u32)) -> Vec<(u32, u32)> {
    let with_smaller = |(place, at): (usize, &u32)| {
        let at = *at;
        scales[..place].iter().map(move |base| (*base, at))
    };
    let pairs: Vec<(u32, u32)> =
        scales.iter().enumerate().flat_map(with_smaller).filter(|pair| *pair != asked).collect();
    if pairs.len() * rows <= MOST_ROWS { pairs } else { Vec::new() }
}

#[derive(Serialize)]
struct Head<'a, S> {
    kind: &'static str,
    title: &'a str,
    notes: Vec<String>,
    /// What must be known before numbers are trusted.
    caveats: Vec<String>,
    /// The score as its JSON has it, in brief.
    score: S,
    /// What of it is told of other pairs of counts.
    pairs: &'a [serde_json::Value],
    runs: Vec<RunInfo>,
    /// Blocks of samples by processor count.
    samples: BTreeMap<u32, String>,
    /// Expected total work by processor count of the expectations that call paths have of their own; the block `followed` has which
    /// each follows, from 1.
    expected: &'a [BTreeMap<u32, f64>],
    spreads: Vec<SpreadInfo>,
    /// How the cost of each run is spread over the sections that the program has marked.
    sections: Vec<SpreadInfo>,
    sources: Vec<SourceInfo>,
}

/// A run, whose block has nanoseconds.
#[derive(Serialize)]
struct RunInfo {
    processors: u32,
    wall_seconds: f64,
    block: String,
}

/// The page of a sweep.
///
/// # Errors
/// If the head cannot be written as JSON.
pub fn sweep(results: &Results, sweep: &Sweep, title: &str, sources: &SourceTexts) -> io::Result<Page> {
    let Sweep { score, aligned, pairs } = sweep;
    let mut blocks = Blocks::default();
    tree::add(&mut blocks, &aligned.tree);
    let runs = runs(&mut blocks, aligned);
    let samples = samples(&mut blocks, aligned);
    let followed = score.growth.followed();
    if !followed.is_empty() {
        blocks.natural("followed", followed.iter().map(|own| u64::from(*own)));
    }
    let head = Head {
        kind: "sweep",
        title,
        notes: measured_lines(&score.health).collect(),
        caveats: caveats_of(&results.state, score),
        score: json::document(&results.state, score, None),
        pairs,
        runs,
        samples,
        expected: score.growth.totals(),
        spreads: spreads(&mut blocks, results, sweep),
        sections: sections::add(&mut blocks, results, score, aligned)?,
        sources: sources.add(&mut blocks),
    };
    Page::new(title.to_owned(), &head, blocks)
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds / SECONDS_PER_NS).round() as i64
}

fn runs(blocks: &mut Blocks, aligned: &Aligned) -> Vec<RunInfo> {
    let mut runs = Vec::new();
    for scale in &aligned.columns.scales {
        for (column, wall_seconds) in scale.cost.iter().zip(&scale.wall_seconds) {
            let block = format!("run {}", runs.len());
            blocks.whole(&block, aligned.columns.values[*column].iter().map(|cost| nanoseconds(*cost)));
            runs.push(RunInfo { processors: scale.scale, wall_seconds: *wall_seconds, block });
        }
    }
    runs
}

fn samples(blocks: &mut Blocks, aligned: &Aligned) -> BTreeMap<u32, String> {
    let add = |scale: &crate::scoring::ScaleColumns| {
        let block = format!("samples {}", scale.scale);
        blocks.whole(&block, aligned.columns.samples(scale).iter().map(|count| count.round() as i64));
        (scale.scale, block)
    };
    aligned.columns.scales.iter().map(add).collect()
}

/// How the cost at each count is spread over ranks or threads: the mean of its repetitions.
fn spreads(blocks: &mut Blocks, results: &Results, Sweep { score, aligned, .. }: &Sweep) -> Vec<SpreadInfo> {
    let mut spreads = Vec::new();
    for scale in &aligned.columns.scales {
        let runs = || results.runs.iter().zip(&aligned.maps).filter(|(run, _)| run.scale == scale.scale);
        let mut participants = Participants::new(aligned.tree.len());
        for (run, map) in runs() {
            participants.add(&run.database, map, &score.metric);
        }
        let hosts =
            runs().next().map(|(run, _)| participant_hosts(run.database.locations())).unwrap_or_default();
        let count = participants.count();
        let ranked =
            runs().any(|(run, _)| run.database.locations().iter().any(|location| location.rank.is_some()));
        let kind = if ranked { "rank" } else { "thread" };
        let values =
            participants.values().map(|(who, context, cost)| (context, who, nanoseconds(cost))).collect();
        let info = SpreadInfo {
            block: format!("spread {}", scale.scale),
            divisor: runs().count() as u64,
            labels: (0..count).map(|number| format!("{kind} {number}")).collect(),
            hosts: (0..count as u32).map(|who| hosts.get(&who).cloned().unwrap_or_default()).collect(),
            processors: Some(scale.scale),
            left_out: false,
        };
        spreads.push(spread::add(blocks, info, aligned.tree.len(), values));
    }
    spreads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_are_looked_into_unless_they_have_too_many_rows() {
        let of = |rows| other_pairs(&[1, 2, 8], rows, (1, 8));
        assert_eq!(of(MOST_ROWS / 2), [(1, 2), (2, 8)]);
        assert_eq!(of(MOST_ROWS / 2 + 1), []);
        assert_eq!(other_pairs(&[4], 10, (4, 4)), []);
    }
}
