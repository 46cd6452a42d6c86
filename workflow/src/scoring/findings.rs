//! What the numbers say in words: the largest losses and uneven work, each with what it looks like.

use super::excess::Class;
use super::expectation::Scaling;
use super::rows::ScoredRow;
use super::score::Score;

/// Excess, as a fraction of the run, from which a function is a finding.
const WORTH_NAMING: f64 = 0.01;
/// Share of the run's cost from which uneven work is a finding.
const WORTH_BALANCING: f64 = 0.05;
/// Largest over mean work from which work is called uneven.
const UNEVEN: f64 = 1.25;
/// How far the growth of work may be from the growth of the processor count and still be called the same.
const SAME_GROWTH: f64 = 0.15;
/// How many losses and how many uneven functions are named.
const MOST: usize = 5;

/// One sentence about one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Row of the flat view.
    pub row: u32,
    /// What it looks like.
    pub text: String,
}

/// The functions that lose most, then those whose work is uneven over the participants. Findings about one
/// function follow each other.
pub fn findings(score: &Score) -> Vec<Finding> {
    let growth = f64::from(score.at) / f64::from(score.base);
    let mut found: Vec<Finding> = score
        .flat
        .ranking()
        .into_iter()
        .filter(|r| r.judged() && r.exclusive.is_told_from_zero() && r.exclusive.excess >= WORTH_NAMING)
        .take(MOST)
        .map(|r| Finding { row: r.id, text: loss_text(r, score, growth) })
        .collect();
    let run = score.total().work_at;
    let mut uneven: Vec<(&ScoredRow, f64)> = score
        .flat
        .rows
        .iter()
        .filter(|r| r.is_function() && r.exclusive.work_at >= WORTH_BALANCING * run)
        .filter_map(|r| r.max_over_mean.filter(|ratio| *ratio >= UNEVEN).map(|ratio| (r, ratio)))
        .collect();
    uneven.sort_by(|(a, _), (b, _)| b.exclusive.work_at.total_cmp(&a.exclusive.work_at));
    for (row, ratio) in uneven.into_iter().take(MOST) {
        let text = format!(
            "is uneven: the busiest participant has {ratio:.2} times the mean of its {:.1} % of the {}",
            100.0 * row.exclusive.work_at / run,
            words(&score.metric).1
        );
        let place = found.iter().position(|f| f.row == row.id).map_or(found.len(), |p| p + 1);
        found.insert(place, Finding { row: row.id, text });
    }
    found
}

/// How a function spends a metric, and what it spends. Waiting is no work.
fn words(metric: &str) -> (&'static str, &'static str) {
    if metric == "cpu" { ("does", "work") } else { ("takes", "time") }
}

fn loss_text(row: &ScoredRow, score: &Score, growth: f64) -> String {
    let base = score.base;
    if row.class == Class::New {
        return format!("has no samples at {base}");
    }
    let ratio = row.exclusive.work_at / row.exclusive.work_base;
    let (does, work) = words(&score.metric);
    let total = format!("total {work} x{ratio:.2} for x{} processors", Trim(growth));
    match score.scaling {
        _ if !ratio.is_finite() => format!("has no samples of its own at {base}"),
        Scaling::Weak => format!("{does} more {work} on each processor than at {base} ({total})"),
        Scaling::Strong if (ratio / growth - 1.0).abs() <= SAME_GROWTH => {
            format!("{does} the same {work} again on every processor ({total})")
        }
        Scaling::Strong if ratio > growth => {
            format!("{does} more {work} on each processor than at {base} ({total})")
        }
        Scaling::Strong => format!("is shared in part only ({total})"),
    }
}

/// A number without needless decimals.
struct Trim(f64);

impl std::fmt::Display for Trim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.fract() == 0.0 { write!(f, "{:.0}", self.0) } else { write!(f, "{:.2}", self.0) }
    }
}
