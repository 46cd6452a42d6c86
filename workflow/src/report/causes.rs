//! Why the run loses what it loses, in the text report: the excess by cause, and the efficiencies of every scale.

use super::functions::labelled;
use super::table::{Table, percent, with_width};
use super::text::{TextOptions, section};
use crate::causes::{Analysis, Cause, CauseLoss};
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
    section("WHY (parts of the excess %, which add up)", body, options)
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
    let mut headings = vec!["n", "parallel %", "= balance %", "x communication %", "computational %"];
    if counted {
        headings.extend(["= instructions %", "x per cycle %", "x frequency %"]);
    }
    let mut table = Table::new(&headings);
    for scale in &analysis.efficiencies {
        let e = &scale.efficiencies;
        let mut cells = vec![scale.scale.to_string()];
        cells.extend([e.parallel, e.load_balance, e.communication, e.computational].map(percent));
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
    section("EFFICIENCIES", body, options)
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
