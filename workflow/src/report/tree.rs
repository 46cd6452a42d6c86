//! Trees of excess in the text report: the hot path and the rows of a view.
//!
//! Frames that only pass the excess on are left out: of a chain of rows that have all the work of the row above,
//! the first two and the last are shown. Rows with too few samples to say anything are folded into one of their caller's.

use falloff_postprocess::views::{RowKind, ViewKind};

use super::functions::{judged, labelled, tinted};
use super::table::{percent, with_width};
use super::text::{TextOptions, section};
use crate::scoring::{MIN_SAMPLES, Score, ScoredRow, ScoredView};

/// Deepest indentation.
const DEEPEST: usize = 24;
/// Shortest chain, in rows, whose middle is left out.
const CHAIN: usize = 5;
/// Part of the work above that a row may lack and still be called the same, as a fraction.
const SAME: f64 = 0.001;

/// A row or a gap, with its indentation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Row(usize, u32),
    Gap(usize, usize),
    Rare(usize, Rare),
}

/// The rows below a row that have too few samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rare {
    /// How many.
    pub rows: usize,
    /// Sum of what the view weighs its rows by, as a fraction of the run.
    pub excess: f64,
}

impl Rare {
    /// With one more row.
    pub fn with(self, excess: f64) -> Rare {
        Rare { rows: self.rows + 1, excess: self.excess + excess }
    }

    /// What stands in the place of what each of is a `noun`.
    pub fn label(&self, noun: &str) -> String {
        let s = if self.rows == 1 { "" } else { "s" };
        format!("<rare>: {} {noun}{s} of fewer than {MIN_SAMPLES} samples", self.rows)
    }
}

/// The hot path of loss.
pub(super) fn hot_path_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let view = &score.context;
    let Some(first) = view.hot_path.first() else { return Vec::new() };
    let next = |row: u32| {
        let place = view.hot_path.iter().position(|r| *r == row);
        place.and_then(|p| view.hot_path.get(p + 1)).copied().into_iter().collect::<Vec<u32>>()
    };
    let body = lines(view, vec![*first], next, |_| None)
        .into_iter()
        .map(|line| match line {
            Line::Rare(depth, rare) => format!("{}{}{}", " ".repeat(17), indent(depth), rare.label("row")),
            Line::Gap(depth, rows) => gap(depth, rows, 17),
            Line::Row(depth, id) => {
                let row = &view.rows[id as usize];
                let number = with_width(row.inclusive.excess, row.inclusive.half_width);
                let indent = indent(depth);
                let room = options.width.saturating_sub(17 + indent.len());
                format!("  {number}  {indent}{}", labelled(row, room))
            }
        })
        .collect();
    section("HOT PATH OF LOSS (inclusive excess %)", body, options.paint)
}

/// The rows of a view whose inclusive excess is above the threshold.
pub(super) fn tree_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let Some(view) = score.view(options.view) else { return Vec::new() };
    let title = match options.view {
        ViewKind::Context => "CALL PATHS BY EXCESS",
        ViewKind::Callers => "CALLERS BY EXCESS",
        ViewKind::Flat => "MODULES, FILES, FUNCTIONS AND LINES BY EXCESS",
    };
    // In the callers view a function stands for its own cost only, in the flat view every row does.
    let weight = |row: &ScoredRow| match options.view {
        ViewKind::Callers if row.depth == 1 => row.exclusive.excess,
        ViewKind::Flat => row.exclusive.excess,
        _ => row.inclusive.excess,
    };
    let weights: Vec<f64> = view.rows.iter().map(weight).collect();
    let (threshold, tree) = fitting(view, &weights, options);
    let mut body = vec![format!("  {:<15}  {:<13}  {:>8}", "inclusive %", "exclusive %", "max/mean")];
    body.extend(tree.iter().map(|line| match *line {
        Line::Gap(depth, rows) => options.paint.dim(&gap(depth, rows, 44)),
        Line::Rare(depth, rare) => options.paint.dim(&format!(
            "  {:>5}{}{}{}",
            percent(rare.excess),
            " ".repeat(37),
            indent(depth),
            rare.label("row")
        )),
        Line::Row(depth, id) => row_line(&view.rows[id as usize], depth, options),
    }));
    section(&format!("{title} (rows of at least {} %)", percent(threshold)), body, options.paint)
}

/// The tree of rows above the reader's threshold, or above the smallest larger one with which it fits the report.
fn fitting(view: &ScoredView, weights: &[f64], options: &TextOptions) -> (f64, Vec<Line>) {
    let mut thresholds: Vec<f64> =
        weights.iter().map(|w| w.abs()).filter(|w| *w > options.threshold).collect();
    thresholds.push(options.threshold);
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let most = options.most_rows.unwrap_or(usize::MAX);
    let place = thresholds.partition_point(|threshold| tree(view, weights, *threshold).len() > most);
    let threshold = thresholds[place.min(thresholds.len() - 1)];
    (threshold, tree(view, weights, threshold))
}

/// The tree of the rows whose weight is at least `threshold` in size, below others of which that is true. What is rare below
/// one of them is one line, if together it is as large.
fn tree(view: &ScoredView, weights: &[f64], threshold: f64) -> Vec<Line> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); view.rows.len()];
    let mut rare = vec![Rare::default(); view.rows.len()];
    for row in &view.rows {
        let (Some(parent), weight) = (row.parent, weights[row.id as usize]) else { continue };
        let parent = parent as usize;
        match row.is_rare() {
            true if !view.rows[parent].is_rare() => rare[parent] = rare[parent].with(weight),
            true => {}
            false if weight.abs() >= threshold => children[parent].push(row.id),
            false => {}
        }
    }
    for list in &mut children {
        list.sort_by(|a, b| weights[*b as usize].total_cmp(&weights[*a as usize]).then(a.cmp(b)));
    }
    let top = children.first().cloned().unwrap_or_default();
    let folded = |row: u32| Some(rare[row as usize]).filter(|r| r.rows > 0 && r.excess.abs() >= threshold);
    let mut lines = lines(view, top, |row| children[row as usize].clone(), folded);
    lines.extend(folded(0).map(|rare| Line::Rare(0, rare)));
    lines
}

/// Walks down from the rows of `top`, largest first, leaving out the middle of chains; what is `rare` below a row comes last.
fn lines(
    view: &ScoredView,
    top: Vec<u32>,
    children: impl Fn(u32) -> Vec<u32>,
    rare: impl Fn(u32) -> Option<Rare>,
) -> Vec<Line> {
    enum Next {
        Row(u32),
        Rare(Rare),
    }
    let mut lines = Vec::new();
    let mut stack: Vec<(usize, Next)> = top.into_iter().rev().map(|row| (0, Next::Row(row))).collect();
    while let Some((depth, next)) = stack.pop() {
        let first = match next {
            Next::Row(row) => row,
            Next::Rare(rare) => {
                lines.push(Line::Rare(depth, rare));
                continue;
            }
        };
        let mut chain = vec![first];
        let mut below = children(first);
        while let [only] = below[..]
            && rare(chain[chain.len() - 1]).is_none()
            && passes_on(&view.rows[chain[chain.len() - 1] as usize], &view.rows[only as usize])
        {
            chain.push(only);
            below = children(only);
        }
        let last = chain[chain.len() - 1];
        let depth = if chain.len() >= CHAIN {
            lines.extend([Line::Row(depth, first), Line::Row(depth + 1, chain[1])]);
            lines.extend([Line::Gap(depth + 2, chain.len() - 3), Line::Row(depth + 3, last)]);
            depth + 4
        } else {
            lines.extend(chain.iter().enumerate().map(|(step, row)| Line::Row(depth + step, *row)));
            depth + chain.len()
        };
        stack.extend(rare(last).map(|rare| (depth, Next::Rare(rare))));
        stack.extend(below.into_iter().rev().map(|row| (depth, Next::Row(row))));
    }
    lines
}

/// Whether the row below has all the work of the one above.
fn passes_on(above: &ScoredRow, below: &ScoredRow) -> bool {
    let same = |a: f64, b: f64| a - b <= SAME * a;
    below.kind != RowKind::Line
        && same(above.inclusive.work_at, below.inclusive.work_at)
        && same(above.inclusive.work_base, below.inclusive.work_base)
}

fn row_line(row: &ScoredRow, depth: usize, options: &TextOptions) -> String {
    let exclusive = if row.exclusive.work_base + row.exclusive.work_at > 0.0 && row.kind != RowKind::Line {
        with_width(row.exclusive.excess, row.exclusive.half_width)
    } else {
        String::new()
    };
    let indent = indent(depth);
    let name = labelled(row, options.width.saturating_sub(44 + indent.len()).max(24));
    let ratio = row.max_over_mean.map_or("-".into(), |m| format!("{m:.2}"));
    let line = format!("  {}  {exclusive:<13}  {ratio:>8}  {indent}{name}", judged(row, &row.inclusive));
    tinted(line.trim_end(), row, &row.inclusive, options)
}

fn gap(depth: usize, rows: usize, columns: usize) -> String {
    format!("{}{}… {rows} frames that pass it on", " ".repeat(columns), indent(depth))
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(DEEPEST))
}
