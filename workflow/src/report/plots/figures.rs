//! What the figures of a sweep show.

use std::collections::BTreeMap;

use super::axes::Caption;
use super::lines::{Point, efficiency, speedup};
use super::stacks::{Stack, excess};
use crate::Result;
use crate::bounds::BoundsOf;
use crate::causes::Cause;
use crate::report::names::shorten;
use crate::results::{Choice, Results};
use crate::scoring::{Repeated, Scaling, Score, Uncertainty};

/// Characters of the line below a heading.
const ROOM: usize = 100;

/// File names and contents of the figures: `speedup.svg`, `efficiency.svg` and, where causes are known, `causes.svg`.
///
/// Speed-up is by the wall time of the whole job against the base of `score`, as if the base were ideal: base · T(base) / T(n)
/// under strong scaling, n · T(base) / T(n) under weak scaling, with an interval by Welch's test of the logarithms.
///
/// # Errors
/// Those of scoring the other counts as `choice` has it.
pub fn figures(results: &Results, score: &Score, choice: &Choice) -> Result<Vec<(&'static str, String)>> {
    let program = results.state.plan.program.join(" ");
    let below = |what: &str| format!("{}: {what}", shorten(&program, ROOM.saturating_sub(what.len())));
    let (pairs, base) = (&results.state.pairs(), results.state.name(score.base));
    let walls = wall_times(results);
    let wall = walls.get(&score.base).map_or_else(Vec::new, |of_base| {
        walls
            .iter()
            .map(|(scale, times)| faster(score, (score.base, of_base), (*scale, times)))
            .collect::<Vec<_>>()
    });
    let label = format!("speed-up, with {} at n = {base}", score.base);
    let mut figures = vec![
        ("speedup.svg", speedup(Caption { below: &below("wall time"), pairs }, &label, &wall)),
        ("efficiency.svg", {
            let per_processor = |p: &Point| {
                let share = 100.0 / f64::from(p.scale);
                Point { value: share * p.value, interval: (share * p.interval.0, share * p.interval.1), ..*p }
            };
            let wall: Vec<Point> = wall.iter().map(per_processor).collect();
            efficiency(
                Caption { below: &below(&format!("against n = {base}, metric {}", score.metric)), pairs },
                &work(score),
                &wall,
            )
        }),
    ];
    let stacks = stacks(results, score, choice)?;
    if !stacks.is_empty() {
        let titles = Cause::ALL.map(Cause::short);
        let what = format!("against n = {base}, metric {}", score.metric);
        figures.push(("causes.svg", excess(Caption { below: &below(&what), pairs }, &titles, &stacks)));
    }
    Ok(figures)
}

/// Wall times of the good runs by processor count, seconds.
fn wall_times(results: &Results) -> BTreeMap<u32, Vec<f64>> {
    let mut times: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in results.runs.iter().filter(|run| run.wall_seconds > 0.0) {
        times.entry(run.scale).or_default().push(run.wall_seconds);
    }
    times
}

fn faster(score: &Score, (base, base_times): (u32, &[f64]), (scale, times): (u32, &[f64])) -> Point {
    let logarithms = |times: &[f64]| {
        let logarithms: Vec<f64> = times.iter().map(|t| t.ln()).collect();
        Repeated::new(&logarithms, 0.0, 0.0)
    };
    let (before, after) = (logarithms(base_times), logarithms(times));
    let ideal = f64::from(if score.scaling == Scaling::Weak { scale } else { base });
    let value = ideal * (before.mean - after.mean).exp();
    let width = if scale == base { 0.0 } else { Uncertainty::of(&before, &after, 1.0).half_width() };
    Point { scale, value, interval: (value * (-width).exp(), value * width.exp()) }
}

fn work(score: &Score) -> Vec<Point> {
    let point = |s: &crate::scoring::ScaleSummary| {
        let (value, width) = (100.0 * (1.0 - s.against_base.excess), 100.0 * s.against_base.half_width);
        Point { scale: s.scale, value, interval: (value - width, value + width) }
    };
    score.scales.iter().map(point).collect()
}

/// The excess by cause at every count above the base.
fn stacks(results: &Results, score: &Score, choice: &Choice) -> Result<Vec<Stack>> {
    let mut stacks = Vec::new();
    for scale in score.scales.iter().map(|s| s.scale).filter(|scale| *scale > score.base) {
        let choice = Choice {
            base: Some(score.base),
            at: Some(scale),
            callers: false,
            steps: false,
            bounds: BoundsOf::Nothing,
            network: false,
            ..choice.clone()
        };
        let other = results.score(&choice)?;
        let Some(analysis) = &other.analysis else { continue };
        let part = |cause: Cause| {
            let found = analysis.causes.iter().find(|c| c.cause == cause);
            100.0 * found.map_or(0.0, |c| c.loss.excess)
        };
        let total = other.total();
        stacks.push(Stack {
            scale,
            parts: Cause::ALL.map(part).to_vec(),
            total: 100.0 * total.excess,
            half_width: 100.0 * total.half_width,
        });
    }
    Ok(stacks)
}
