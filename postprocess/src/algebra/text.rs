//! A difference as text for people.

use std::fmt::Write;

use super::difference::{Change, Difference, Presence};
use crate::database::{Level, Metric, Operation, Unit};
use crate::views::cut;

/// Changes of each direction that are shown.
const SHOWN: usize = 10;
/// Smaller changes are not shown, percent of the second database's total.
const SMALLEST_PERCENT: f64 = 0.1;
/// Longer names are cut, characters.
const NAME_WIDTH: usize = 80;

/// What was matched, what the totals are, and the functions with the largest changes both ways. Threads that the program
/// did not start count only if `helpers` is set.
pub fn text(difference: &Difference, metric: &Metric, helpers: bool) -> String {
    let changes = difference.changes(&metric.name, helpers);
    let mut text = matched(difference, metric);
    text += &sides(difference);
    let sum = |of: fn(&Change) -> f64| changes.iter().map(of).sum::<f64>();
    let (a, b) = (sum(|c| c.a), sum(|c| c.b));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: A {}, B {}, A - B {:+} ({} of B); {}",
        metric.name,
        Amount(metric.unit, a),
        Amount(metric.unit, b),
        Amount(metric.unit, a - b),
        percent(a - b, b),
        repetitions(difference),
    );
    for warning in difference.database.warnings() {
        let _ = writeln!(text, "warning: {warning}");
    }
    let large = |c: &&Change| b == 0.0 || 100.0 * (c.change() / b).abs() >= SMALLEST_PERCENT;
    let more: Vec<&Change> = changes.iter().filter(|c| c.change() > 0.0).filter(large).take(SHOWN).collect();
    let less: Vec<&Change> =
        changes.iter().rev().filter(|c| c.change() < 0.0).filter(large).take(SHOWN).collect();
    for (heading, rows) in [("MORE IN A", &more), ("LESS IN A", &less)] {
        if !rows.is_empty() {
            text += &table(heading, rows, metric, b);
        }
    }
    let hidden = changes.iter().filter(|c| c.change() != 0.0).count() - more.len() - less.len();
    if hidden > 0 {
        let shown: f64 = more.iter().chain(&less).map(|c| c.change()).sum();
        let rest = a - b - shown;
        let _ = writeln!(
            text,
            "\nsmaller changes that are not shown: {hidden}, together {:+}",
            Amount(metric.unit, rest)
        );
    }
    if more.is_empty() && less.is_empty() {
        text += "no function's own cost differs\n";
    }
    text
}

fn matched(difference: &Difference, metric: &Metric) -> String {
    let costs = difference.costs(&metric.name);
    let mut text =
        format!("{:<46} {:>7} {:>7}\n", format!("MATCHED, share of {}", metric.name), "A %", "B %");
    let mut row = |words: &str, shares: [Option<f64>; 2]| {
        let [a, b] = shares.map(|share| share.map_or_else(|| "-".into(), |s| format!("{s:.2}")));
        let _ = writeln!(text, "  {words:<44} {a:>7} {b:>7}");
    };
    for level in Level::ALL {
        let shares = costs.map(|c| c.map(|c| c.matched_percent(level)));
        if shares.iter().flatten().any(|share| *share > 0.0) {
            row(level.words(), shares);
        }
    }
    row("unmatched", costs.map(|c| c.map(|c| c.unmatched_percent())));
    text.push('\n');
    text
}

fn sides(difference: &Difference) -> String {
    let newer = difference.newer().map(|o| o.name);
    let mut text = String::new();
    for (letter, operand) in [("A", difference.a), ("B", difference.b)] {
        let newer = if newer == Some(operand.name) { ", the newer run" } else { "" };
        let command = operand.database.provenance().command.join(" ");
        let command = if command.is_empty() { command } else { format!(": {}", cut(&command, NAME_WIDTH)) };
        let _ = writeln!(text, "{letter} {}{newer}{command}", operand.name);
    }
    for argument in last(difference).map_or(&[][..], |o| &o.arguments) {
        let _ = writeln!(text, "{argument}");
    }
    text
}

fn last<'a>(difference: &'a Difference) -> Option<&'a Operation> {
    difference.database.provenance().history.last()
}

/// How many runs are behind each side.
fn repetitions(difference: &Difference) -> String {
    let runs = [difference.a, difference.b].map(|operand| {
        let mean = operand.database.provenance().history.last().filter(|o| o.operator == "mean");
        mean.map_or(1, |o| o.inputs.len())
    });
    match runs {
        [1, 1] => "n=1 each, so without an interval".into(),
        [a, b] => format!("means of n={a} and n={b}, without an interval"),
    }
}

fn table(heading: &str, rows: &[&Change], metric: &Metric, total: f64) -> String {
    let unit = if metric.unit == Unit::Nanoseconds { " s" } else { "" };
    let mut text = format!(
        "\n{heading}\n{:>13} {:>9} {:>12} {:>12}  function\n",
        format!("A - B{unit}"),
        "% of B",
        format!("A{unit}"),
        format!("B{unit}")
    );
    for row in rows {
        let number = |value: f64| Amount(metric.unit, value).number();
        let change = row.change();
        let sign = if change > 0.0 { "+" } else { "" };
        let _ = writeln!(
            text,
            "{:>13} {:>9} {:>12} {:>12}  {}{}",
            format!("{sign}{}", number(change)),
            percent(change, total).trim_end_matches(" %"),
            number(row.a),
            number(row.b),
            label(row),
            match row.presence {
                Presence::Both => "",
                Presence::OnlyA => " (only in A)",
                Presence::OnlyB => " (only in B)",
            }
        );
    }
    text
}

fn label(row: &Change) -> String {
    let name = cut(&row.name, NAME_WIDTH);
    let file = row.file.as_deref().map(|f| f.rsplit('/').next().unwrap_or(f));
    match (file, row.line, row.module.as_deref()) {
        (Some(file), Some(line), _) => format!("{name} at {file}:{line}"),
        (Some(file), None, _) => format!("{name} at {file}"),
        (None, _, Some(module)) if !row.name.starts_with(module) => format!("{name} [{module}]"),
        _ => name,
    }
}

fn percent(part: f64, total: f64) -> String {
    if total == 0.0 { "-".into() } else { format!("{:+.1} %", 100.0 * part / total) }
}

/// A value in its unit.
struct Amount(Unit, f64);

impl Amount {
    fn number(&self) -> String {
        match self.0 {
            Unit::Nanoseconds => format!("{:.3}", self.1 * 1e-9),
            Unit::Count => format!("{:.0}", self.1),
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if f.sign_plus() && self.1 >= 0.0 { "+" } else { "" };
        let unit = if self.0 == Unit::Nanoseconds { " s" } else { "" };
        write!(f, "{sign}{}{unit}", self.number())
    }
}
