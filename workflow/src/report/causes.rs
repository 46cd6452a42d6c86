//! Why the run loses what it loses, in the text report: the excess by cause, waiting, and efficiencies.

use super::functions::labelled;
use super::numbers::listed;
use super::table::{Table, percent, with_width};
use super::text::{TextOptions, section};
use crate::causes::{Analysis, Cause, CauseLoss, Charge, Disturbance, Waiting};
use crate::scoring::Score;

/// Smallest part of the run that a cause is listed for, as a fraction.
const LISTED: f64 = 0.001;
/// Places named for each cause.
const PLACES: usize = 2;
/// Smallest part of a cause's excess for which a place is named.
const WORTH_NAMING: f64 = 0.1;

/// The parts of the excess; they sum to it.
pub(super) fn cause_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let Some(analysis) = &score.analysis else { return Vec::new() };
    let (listed, rest): (Vec<&CauseLoss>, Vec<&CauseLoss>) =
        analysis.causes.iter().partition(|c| c.loss.excess.abs() >= LISTED);
    let mut body = Vec::new();
    for cause in listed {
        let loss = &cause.loss;
        let line = format!("  {}  {}", with_width(loss.excess, loss.half_width), cause.cause.title());
        body.push(match loss.excess {
            _ if !loss.is_told_from_zero() => options.paint.dim(&line),
            x if x < 0.0 => options.paint.green(&line),
            _ => line,
        });
        body.extend(place_lines(score, cause, options));
    }
    let rest: f64 = rest.iter().map(|c| c.loss.excess).sum();
    let total = score.total();
    body.push(format!("  {:>5}          everything else", percent(rest)));
    body.push(format!(
        "  {}  together: the excess of the whole run",
        with_width(total.excess, total.half_width)
    ));
    body.extend(analysis.disturbances.iter().map(|d| disturbance(score, d)));
    let title = match analysis.charge {
        Charge::Place => "WHY (parts of the excess %, which add up)",
        Charge::Cause => {
            "WHY (parts of the excess %, which add up; waiting at the work that makes the others wait)"
        }
    };
    section(title, body, options.paint)
}

/// Events beside the excess: they have no time of their own.
fn disturbance(score: &Score, events: &Disturbance) -> String {
    let place = events
        .place
        .map(|place| format!(", most of the growth in {}", score.context.rows[place as usize].name));
    format!(
        "                 {}: {:.0} at {}, {:.0} at {}{}",
        events.name,
        events.base,
        score.base,
        events.at,
        score.at,
        place.unwrap_or_default()
    )
}

fn place_lines(score: &Score, cause: &CauseLoss, options: &TextOptions) -> Vec<String> {
    let worth = |(_, part): &&(u32, f64)| *part >= LISTED && *part >= WORTH_NAMING * cause.loss.excess;
    let line = |(place, part): &(u32, f64)| {
        let row = &score.context.rows[*place as usize];
        let room = options.width.saturating_sub(30);
        let caller = row.parent.map(|p| &score.context.rows[p as usize]).filter(|p| p.parent.is_some());
        let from = match (cause.cause, caller) {
            (Cause::ComputeGrowth | Cause::Replicated, _) | (_, None) => String::new(),
            (_, Some(caller)) => format!(" in {}", labelled(caller, room / 2)),
        };
        options.paint.dim(&format!(
            "         {:>5}  {}{from}",
            percent(*part),
            labelled(row, room - room / 2)
        ))
    };
    cause.places.iter().filter(worth).take(PLACES).map(line).collect()
}

/// Efficiencies of every scale, and the identity that ties them to the excess.
pub(super) fn efficiency_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let Some(analysis) = &score.analysis else { return Vec::new() };
    let counted = analysis.efficiencies.iter().all(|e| e.efficiencies.counted.is_some());
    let split = analysis.efficiencies.iter().all(|e| e.efficiencies.network.is_some());
    let mut headings = vec!["n", "parallel %", "= balance %", "x communication %"];
    if split {
        headings.extend(["= serialisation %", "x transfer %"]);
    }
    headings.push("computational %");
    if counted {
        headings.extend(["= instructions %", "x per cycle %", "x frequency %"]);
    }
    let mut table = Table::new(&headings);
    for scale in &analysis.efficiencies {
        let e = &scale.efficiencies;
        let mut cells = vec![scale.scale.to_string()];
        cells.extend([e.parallel, e.load_balance, e.communication].map(percent));
        cells.extend(
            e.network.iter().filter(|_| split).flat_map(|n| [n.serialisation, n.transfer].map(percent)),
        );
        cells.push(percent(e.computational));
        cells.extend(
            e.counted
                .iter()
                .filter(|_| counted)
                .flat_map(|c| [c.instructions, c.per_cycle, c.frequency].map(percent)),
        );
        table.row(cells);
    }
    let mut body = table.lines();
    body.extend(identity(score, analysis));
    let mut lines = section("EFFICIENCIES", body, options.paint);
    lines.extend(waterfall(score, analysis, options));
    lines.extend(hot_path(score, analysis, options));
    lines
}

/// From perfect scaling to the work efficiency: the steps add up.
fn waterfall(score: &Score, analysis: &Analysis, options: &TextOptions) -> Vec<String> {
    let mut table = Table::new(&["points", "left %", "from perfect scaling"]);
    for step in &analysis.waterfall {
        table.row(vec![percent(step.change), percent(step.left), step.factor.title().into()]);
    }
    let total = score.total().excess;
    table.row(vec![percent(-total), percent(1.0 - total), "together: the work efficiency".into()]);
    section("WATERFALL (percent points)", table.lines(), options.paint)
}

/// Efficiencies of the call paths of the hot path that have enough work.
fn hot_path(score: &Score, analysis: &Analysis, options: &TextOptions) -> Vec<String> {
    let of = |row: &u32| analysis.subtrees.iter().find(|subtree| subtree.context == *row);
    let listed: Vec<_> = score.context.hot_path.iter().filter_map(of).collect();
    if listed.is_empty() {
        return Vec::new();
    }
    let mut table =
        Table::new(&["share %", "parallel %", "= balance %", "x communication %", "computational %"]);
    for subtree in &listed {
        let e = &subtree.efficiencies;
        table.row(
            [subtree.share, e.parallel, e.load_balance, e.communication, e.computational].map(percent).into(),
        );
    }
    let name = |row: usize, room: usize| labelled(&score.context.rows[listed[row].context as usize], room);
    section(
        "EFFICIENCIES OF THE HOT PATH",
        table.with_last(options.width, "call path", name).lines(),
        options.paint,
    )
}

/// Call paths of collective operations that are listed.
const MEETINGS: usize = 6;

/// What is waited in collective call paths.
pub(super) fn waiting_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let Some(analysis) = &score.analysis else { return Vec::new() };
    let whole = score.total().work_at;
    let worth = |waiting: &&Waiting| waiting.high >= LISTED * whole;
    let listed: Vec<&Waiting> = analysis.waiting.iter().filter(worth).take(MEETINGS).collect();
    if listed.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&["at least %", "at most %", "last"]);
    for waiting in &listed {
        let last = if waiting.is_persistent() { last(analysis, waiting) } else { "by turns".into() };
        table.row(vec![percent(waiting.low() / whole), percent(waiting.high / whole), last]);
    }
    let place = |row: usize, room: usize| {
        let row = &score.context.rows[listed[row].place as usize];
        let caller = row.parent.map(|p| &score.context.rows[p as usize]).filter(|p| p.parent.is_some());
        let from = caller.map_or(String::new(), |caller| format!(" in {}", labelled(caller, room / 2)));
        format!("{}{from}", labelled(row, room - room / 2))
    };
    let title = format!("WAITING IN COLLECTIVES (at {}, % of the run)", score.at);
    section(&title, table.with_last(options.width, "where", place).lines(), options.paint)
}

/// Those who come last.
fn last(analysis: &Analysis, waiting: &Waiting) -> String {
    listed(
        &waiting
            .last
            .iter()
            .filter_map(|who| analysis.numbers.get(*who as usize).copied())
            .collect::<Vec<_>>(),
    )
}

/// 1 − X = parallel(q) · computational / parallel(p), in numbers.
fn identity(score: &Score, analysis: &Analysis) -> Option<String> {
    let at = analysis.at(score.at)?;
    Some(format!(
        "  work efficiency {} % = {} % parallel at {} x {} % computational / {} % parallel at {}",
        percent(1.0 - score.total().excess),
        percent(at.parallel),
        score.at,
        percent(at.computational),
        percent(analysis.parallel_base),
        score.base
    ))
}
