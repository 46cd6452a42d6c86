//! Views as JSON, schema `falloff.view` version 1; `docs/view.md` describes it.

use std::collections::BTreeMap;
use std::io;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Number;

use super::column::{Column, Content};
use super::excerpt::Excerpt;
use super::sheet::{Cell, Sheet};
use super::shown::{HOT_SHARE, Shown};
use super::view::{Row, ViewKind};
use crate::database::{Health, Operation};

/// Rows deeper than this have no `path`: it would make the document grow with the square of the depth.
const PATH_LEVELS: u32 = 512;

/// Writes a view.
///
/// # Errors
/// Those of `out`.
pub fn write(out: impl io::Write, shown: &Shown) -> io::Result<()> {
    let sheet = shown.sheet;
    let hot_path = (sheet.view.kind == ViewKind::Context)
        .then(|| sheet.view.hot_path(0, shown.options.hot_path.unwrap_or(HOT_SHARE)));
    let document = Document {
        schema: "falloff.view",
        version: 1,
        view: sheet.view.kind.word(),
        of: Head::of(sheet.excerpt),
        derived: sheet
            .excerpt
            .derived()
            .iter()
            .map(|column| {
                let derived = column.derived();
                DerivedObject { name: derived.name(), formula: derived.text(), field: derived.field() }
            })
            .collect(),
        groups: sheet.spread.as_ref().map(|spread| spread.labels.as_slice()),
        hot_path,
        rows: Rows(shown),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    view: &'static str,
    #[serde(flatten)]
    of: Head<'a>,
    derived: Vec<DerivedObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hot_path: Option<Vec<u32>>,
    rows: Rows<'a>,
}

/// What is shown, of which run, and what is left out of it.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    metric: &'a str,
    unit: &'static str,
    metrics: Vec<MetricObject<'a>>,
    run_id: &'a str,
    command: &'a [String],
    health: HealthObject,
    #[serde(flatten)]
    left_out: BTreeMap<String, Option<Number>>,
    filters: Vec<FilterObject<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    history: &'a [Operation],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct MetricObject<'a> {
    name: &'a str,
    unit: &'static str,
    #[serde(flatten)]
    total: BTreeMap<String, Option<Number>>,
}

#[derive(Serialize)]
struct FilterObject<'a> {
    option: &'static str,
    value: &'a str,
    left_percent: f64,
}

#[derive(Serialize)]
struct DerivedObject<'a> {
    name: &'a str,
    formula: &'a str,
    field: &'a str,
}

impl<'a> Head<'a> {
    pub fn of(excerpt: &'a Excerpt) -> Head<'a> {
        let database = excerpt.database();
        let metric = excerpt.metrics()[0];
        let metrics = excerpt.metrics().iter().zip(excerpt.columns()).map(|(metric, column)| MetricObject {
            name: &metric.name,
            unit: metric.unit.word(),
            total: BTreeMap::from([(
                format!("total_{}", metric.unit.suffix()),
                number(column.iter().sum::<f64>()),
            )]),
        });
        let filters = excerpt.steps().iter().map(|step| FilterObject {
            option: step.option,
            value: &step.value,
            left_percent: step.left_percent,
        });
        Head {
            metric: &metric.name,
            unit: metric.unit.word(),
            metrics: metrics.collect(),
            run_id: &database.provenance().run_id,
            command: &database.provenance().command,
            health: HealthObject::of(database.health()),
            left_out: BTreeMap::from([(
                format!("left_out_{}", metric.unit.suffix()),
                number(excerpt.left_out()),
            )]),
            filters: filters.collect(),
            history: &database.provenance().history,
            warnings: database.warnings(),
        }
    }
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

struct Rows<'a>(&'a Shown<'a>);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shown { sheet, rows, .. } = self.0;
        serializer.collect_seq(rows.iter().map(|row| OneRow { sheet, row: &sheet.view.rows[*row as usize] }))
    }
}

struct OneRow<'a> {
    sheet: &'a Sheet<'a>,
    row: &'a Row,
}

impl Serialize for OneRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneRow { sheet, row } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("parent", &row.parent)?;
        if row.depth <= PATH_LEVELS {
            map.serialize_entry("path", &sheet.view.path(row.id))?;
        }
        map.serialize_entry("name", &row.name)?;
        map.serialize_entry("kind", row.kind.word())?;
        map.serialize_entry("module", &row.module)?;
        map.serialize_entry("file", &row.file)?;
        map.serialize_entry("line", &row.line)?;
        map.serialize_entry("call_line", &row.call_line)?;
        for column in sheet.columns.iter().filter(|c| !matches!(c.content, Content::Group(_))) {
            match (sheet.cell(row, column), column.content) {
                (
                    Cell::Number(value),
                    Content::Percent(_) | Content::ImbalancePercent | Content::Derived(_),
                ) => {
                    map.serialize_entry(&column.field, &value)?;
                }
                (Cell::Number(value), _) => map.serialize_entry(&column.field, &number(value))?,
                (Cell::Text(text), _) => map.serialize_entry(&column.field, text)?,
                (Cell::Nothing, _) => {}
            }
        }
        for side in [true, false] {
            let groups: Vec<Option<Number>> = sheet
                .columns
                .iter()
                .filter(|c| c.inclusive == side && matches!(c.content, Content::Group(_)))
                .map(|column| group_value(sheet, row, column))
                .collect();
            if !groups.is_empty() {
                let unit = sheet.excerpt.metrics()[0].unit.suffix();
                let side = if side { "inclusive" } else { "exclusive" };
                map.serialize_entry(&format!("{side}_by_group_{unit}"), &groups)?;
            }
        }
        map.end()
    }
}

fn group_value(sheet: &Sheet, row: &Row, column: &Column) -> Option<Number> {
    match sheet.cell(row, column) {
        Cell::Number(value) => number(value),
        Cell::Text(_) | Cell::Nothing => None,
    }
}

/// Whole numbers without a fraction.
pub(crate) fn number(value: f64) -> Option<Number> {
    let whole = value.fract() == 0.0 && value.abs() < 9.0e15;
    if whole { Some(Number::from(value as i64)) } else { Number::from_f64(value) }
}
