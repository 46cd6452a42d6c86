//! A difference as JSON, schema `falloff.diff` version 1.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use super::difference::{Change, Difference, Presence};
use super::operand::Operand;
use crate::database::{InputCost, Level, Metric};
use crate::views::json::number;

/// Writes what was matched, the totals, and every function whose own cost is not the same, as `docs/algebra.md` tells.
/// Threads that the program did not start count only if `helpers` is set.
///
/// # Errors
/// Those of `out`.
pub fn json(difference: &Difference, metric: &Metric, helpers: bool, out: impl io::Write) -> io::Result<()> {
    let changes = difference.changes(&metric.name, helpers);
    let suffix = metric.unit.suffix();
    let [a_cost, b_cost] = difference.costs(&metric.name);
    let sum = |of: fn(&Change) -> f64| changes.iter().map(of).sum::<f64>();
    let (a, b) = (sum(|c| c.a), sum(|c| c.b));
    let history = difference.database.provenance().history.last();
    let newer = difference.newer().map(|o| if o.name == difference.a.name { "a" } else { "b" });
    let document = Document {
        schema: "falloff.diff",
        version: 1,
        metric: &metric.name,
        unit: metric.unit.word(),
        a: side(difference.a, a_cost, a, suffix),
        b: side(difference.b, b_cost, b, suffix),
        newer,
        arguments: history.map_or(&[], |o| &o.arguments),
        warnings: difference.database.warnings(),
        change: fields(suffix, a - b, b),
        functions: changes.iter().filter(|c| c.change() != 0.0).map(|c| function(c, b, suffix)).collect(),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    metric: &'a str,
    unit: &'static str,
    a: Side<'a>,
    b: Side<'a>,
    /// The side whose run began later.
    newer: Option<&'static str>,
    arguments: &'a [String],
    warnings: &'a [String],
    #[serde(flatten)]
    change: Map<String, Value>,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    run_id: &'a str,
    command: &'a [String],
    matched_percent: BTreeMap<Level, f64>,
    unmatched_percent: Option<f64>,
    #[serde(flatten)]
    total: Map<String, Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    module: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    /// `both`, `a` or `b`.
    present: &'static str,
    #[serde(flatten)]
    values: Map<String, Value>,
}

fn side<'a>(operand: Operand<'a>, cost: Option<&InputCost>, total: f64, suffix: &str) -> Side<'a> {
    let provenance = operand.database.provenance();
    let shares = |cost: &InputCost| Level::ALL.map(|level| (level, cost.matched_percent(level))).into();
    Side {
        name: operand.name,
        run_id: &provenance.run_id,
        command: &provenance.command,
        matched_percent: cost.map(shares).unwrap_or_default(),
        unmatched_percent: cost.map(InputCost::unmatched_percent),
        total: Map::from_iter([(format!("total_{suffix}"), whole(total))]),
    }
}

/// A change with its share of the second database's total.
fn fields(suffix: &str, change: f64, total: f64) -> Map<String, Value> {
    let percent = if total == 0.0 { Value::Null } else { (100.0 * change / total).into() };
    Map::from_iter([(format!("change_{suffix}"), whole(change)), ("change_percent_of_b".into(), percent)])
}

/// Whole numbers without a fraction.
fn whole(value: f64) -> Value {
    number(value).map_or(Value::Null, Value::Number)
}

fn function<'a>(change: &'a Change, total: f64, suffix: &str) -> Function<'a> {
    let mut values = fields(suffix, change.change(), total);
    values.insert(format!("a_{suffix}"), whole(change.a));
    values.insert(format!("b_{suffix}"), whole(change.b));
    Function {
        name: &change.name,
        module: change.module.as_deref(),
        file: change.file.as_deref(),
        line: change.line,
        present: match change.presence {
            Presence::Both => "both",
            Presence::OnlyA => "a",
            Presence::OnlyB => "b",
        },
        values,
    }
}
