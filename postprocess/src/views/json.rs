//! Views as JSON, schema `falloff.view` version 1.

use std::collections::BTreeMap;
use std::io;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Number;

use super::view::{Row, View};
use crate::database::{Database, Health, Metric};

/// Rows deeper than this have no `path`: it would make the document grow with the square of the depth.
const PATH_LEVELS: u32 = 512;

/// Writes one column of a view.
///
/// Fields of the document: `schema`, `version`, `view`, `metric`, `unit`, `run_id`, `command`, `health`, `left_out_ns`
/// (or `_count`; cost of threads that are left out), `warnings` and `rows`. Fields of a row: `id`, `parent`, `path`
/// (names from below the root; absent below level 512), `name`, `kind`, `module`, `file`, `line`, `call_line`,
/// `inclusive_ns` and `exclusive_ns` (or `_count`), `inclusive_percent` and `exclusive_percent` of the root's inclusive
/// value, and for each [`super::Ratio`] of the view whose denominator is not 0 in that row, `inclusive_` and
/// `exclusive_` with the ratio's field name. `health` has the fields of [`Health`] and, where CPU time was used,
/// `coverage_percent`, `unsampled_percent`, `handler_percent` and `reached_rate_hz`.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: impl io::Write,
    database: &Database,
    view: &View,
    column: usize,
    metric: &Metric,
) -> io::Result<()> {
    let provenance = database.provenance();
    let total = view.rows.first().and_then(|r| r.inclusive.get(column)).copied().unwrap_or(0.0);
    let document = Document {
        schema: "falloff.view",
        version: 1,
        view: view.kind.word(),
        metric: &metric.name,
        unit: metric.unit.word(),
        run_id: &provenance.run_id,
        command: &provenance.command,
        health: HealthObject::of(database.health()),
        left_out: BTreeMap::from([(format!("left_out_{}", metric.unit.suffix()), number(view.left_out))]),
        warnings: database.warnings(),
        rows: Rows { view, column, suffix: metric.unit.suffix(), total },
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    view: &'static str,
    metric: &'a str,
    unit: &'static str,
    run_id: &'a str,
    command: &'a [String],
    health: HealthObject,
    #[serde(flatten)]
    left_out: BTreeMap<String, Option<Number>>,
    warnings: &'a [String],
    rows: Rows<'a>,
}

/// The counts and what is derived from them.
#[derive(Serialize)]
struct HealthObject {
    #[serde(flatten)]
    counts: Health,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsampled_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handler_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached_rate_hz: Option<f64>,
}

impl HealthObject {
    fn of(counts: Health) -> HealthObject {
        let percent = |share: Option<f64>| share.map(|s| 100.0 * s);
        HealthObject {
            coverage_percent: percent(counts.coverage()),
            unsampled_percent: percent(counts.unsampled_share()),
            handler_percent: percent(counts.handler_share()),
            reached_rate_hz: counts.reached_rate_hz(),
            counts,
        }
    }
}

struct Rows<'a> {
    view: &'a View,
    column: usize,
    suffix: &'static str,
    total: f64,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.view.rows.iter().map(|row| OneRow { rows: self, row }))
    }
}

struct OneRow<'a> {
    rows: &'a Rows<'a>,
    row: &'a Row,
}

impl Serialize for OneRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneRow { rows, row } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("parent", &row.parent)?;
        if row.depth <= PATH_LEVELS {
            map.serialize_entry("path", &rows.view.path(row.id))?;
        }
        map.serialize_entry("name", &row.name)?;
        map.serialize_entry("kind", row.kind.word())?;
        map.serialize_entry("module", &row.module)?;
        map.serialize_entry("file", &row.file)?;
        map.serialize_entry("line", &row.line)?;
        map.serialize_entry("call_line", &row.call_line)?;
        for (what, values) in [("inclusive", &row.inclusive), ("exclusive", &row.exclusive)] {
            let value = values.get(rows.column).copied().unwrap_or(0.0);
            map.serialize_entry(&format!("{what}_{}", rows.suffix), &number(value))?;
            let percent = if rows.total == 0.0 { 0.0 } else { 100.0 * value / rows.total };
            map.serialize_entry(&format!("{what}_percent"), &percent)?;
            for columns in &rows.view.ratios {
                if let Some(ratio) = columns.of(values) {
                    map.serialize_entry(&format!("{what}_{}", columns.ratio.field), &ratio)?;
                }
            }
        }
        map.end()
    }
}

/// Whole numbers without a fraction.
fn number(value: f64) -> Option<Number> {
    let whole = value.fract() == 0.0 && value.abs() < 9.0e15;
    if whole { Some(Number::from(value as i64)) } else { Number::from_f64(value) }
}
