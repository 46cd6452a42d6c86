//! The page of a run or a database.

use std::io;

use falloff_postprocess::views::{Excerpt, Groups, text};
use falloff_postprocess::{Input, InputCost};
use serde::Serialize;

use super::block::Blocks;
use super::document::Page;
use super::sources::{SourceInfo, SourceTexts};
use super::spread::{self, SpreadInfo};
use super::timeline::{TimelineInfo, TimelineOf};
use super::tree;

#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    title: &'a str,
    /// Lines of the text's header.
    notes: Vec<String>,
    metrics: Vec<MetricInfo<'a>>,
    derived: Vec<DerivedInfo<'a>>,
    difference: Option<DifferenceInfo<'a>>,
    spreads: Vec<SpreadInfo>,
    /// How the first metric is spread over the sections that the program has marked.
    sections: Vec<SpreadInfo>,
    sources: Vec<SourceInfo>,
    /// What the calls of MPI did when, if it was asked for.
    timeline: Option<TimelineInfo<'a>>,
}

#[derive(Serialize)]
struct MetricInfo<'a> {
    name: &'a str,
    unit: &'static str,
    /// Values in the block are divided by this to be in the unit.
    divisor: u64,
    /// What percentages are of.
    base: f64,
    block: String,
}

/// What a difference is of, in the first metric.
#[derive(Serialize)]
struct DifferenceInfo<'a> {
    new: SideInfo<'a>,
    old: SideInfo<'a>,
}

#[derive(Serialize)]
struct SideInfo<'a> {
    name: &'a str,
    total: f64,
    /// Cost of call paths that the other does not have.
    unmatched_percent: f64,
}

#[derive(Serialize)]
struct DerivedInfo<'a> {
    name: &'a str,
    formula: &'a str,
}

/// The page of an excerpt. `groups` has the cost of its ranks or threads, which are shown if there are several, and `sections` that
/// of sections; `timeline` is shown if there is one.
///
/// # Errors
/// If the head cannot be written as JSON.
pub fn profile(
    excerpt: &Excerpt,
    title: &str,
    groups: &Groups,
    sections: &Groups,
    sources: &SourceTexts,
    timeline: Option<&TimelineOf>,
) -> io::Result<Page> {
    let mut blocks = Blocks::default();
    tree::add(&mut blocks, excerpt.tree());
    let mut metrics = Vec::new();
    for (index, (metric, column)) in excerpt.column_metrics().iter().zip(excerpt.columns()).enumerate() {
        let block = format!("metric {index}");
        blocks.whole(&block, column.iter().map(|value| whole(*value, metric.divisor)));
        metrics.push(MetricInfo {
            name: &metric.name,
            unit: metric.unit.word(),
            divisor: metric.divisor,
            base: excerpt.base(index),
            block,
        });
    }
    let derived = excerpt
        .derived()
        .iter()
        .map(|column| DerivedInfo { name: column.derived().name(), formula: column.derived().text() });
    let head = Head {
        kind: "profile",
        title,
        notes: text::header(excerpt).lines().map(str::to_owned).collect(),
        metrics,
        derived: derived.collect(),
        difference: difference(excerpt),
        spreads: spread_of(&mut blocks, "spread", excerpt, groups, 2),
        sections: spread_of(&mut blocks, "section", excerpt, sections, 1),
        sources: sources.add(&mut blocks),
        timeline: timeline.map(|timeline| timeline.add(&mut blocks, excerpt)),
    };
    Page::new(title.to_owned(), &head, blocks)
}

fn difference<'a>(excerpt: &Excerpt<'a>) -> Option<DifferenceInfo<'a>> {
    let metric = &excerpt.metrics()[0].name;
    let side = |input: &'a Input| {
        let cost = input.cost(metric);
        SideInfo {
            name: &input.name,
            total: cost.map_or(0.0, InputCost::total_in_unit),
            unmatched_percent: cost.map_or(0.0, InputCost::unmatched_percent),
        }
    };
    let (new, old) = excerpt.database().provenance().difference()?;
    Some(DifferenceInfo { new: side(new), old: side(old) })
}

/// How the first metric is spread over groups, if there are at least `least`.
fn spread_of(
    blocks: &mut Blocks,
    block: &str,
    excerpt: &Excerpt,
    groups: &Groups,
    least: usize,
) -> Vec<SpreadInfo> {
    if groups.labels.len() < least {
        return Vec::new();
    }
    let metric = excerpt.metrics()[0];
    let info = SpreadInfo {
        block: block.into(),
        divisor: metric.divisor,
        labels: groups.labels.clone(),
        hosts: groups.hosts.clone(),
        processors: None,
        left_out: false,
    };
    let of_group = |(group, costs): (u32, &Vec<(u32, f64)>)| {
        costs
            .iter()
            .map(|(context, cost)| (*context, group, whole(*cost, metric.divisor)))
            .collect::<Vec<_>>()
    };
    let values = (0..).zip(&groups.costs).flat_map(of_group).collect();
    vec![spread::add(blocks, info, excerpt.tree().len(), values)]
}

/// A value in whole parts of the unit.
fn whole(value: f64, divisor: u64) -> i64 {
    (value * divisor as f64).round() as i64
}
