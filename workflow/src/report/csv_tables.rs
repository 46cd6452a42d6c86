//! Tables of a score beside its views as CSV: the fields of the lists of the same names in JSON, one line each.

use falloff_postprocess::views::csv::quoted;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::Serialize;
use serde_json::{Result, Value};

use super::json::{self, RowStepJson};
use super::json_causes::{SubtreeJson, WaitingJson};
use super::numbers::listed;
use super::{json_bounds, json_causes, json_findings};
use crate::plan::RunKey;
use crate::results::SweepState;
use crate::scoring::Score;

/// What is said of the sweep as a whole, in one line: the fields of JSON and of its `health` that are no lists.
pub fn summary(sweep: &SweepState, score: &Score) -> Result<String> {
    // Lists are left out.
    table(&[json::document(sweep, score, None)])
}

/// All planned runs.
pub fn runs(sweep: &SweepState) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Row {
        run: String,
        processors: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        pair: Option<String>,
        repetition: u32,
        state: &'static str,
        reason: Option<String>,
        others_processors: Option<f64>,
    }
    let row = |key: RunKey| {
        let failed = sweep.failed.iter().find(|entry| entry.key == key);
        let disturbed = sweep.disturbed.iter().find(|(run, _)| *run == key);
        Row {
            run: key.to_string(),
            processors: key.processors(),
            pair: sweep.line.as_ref().map(|_| format!("{}x{}", key.scale, key.threads)),
            repetition: key.repetition,
            state: match failed {
                Some(_) => "failed",
                None if sweep.missing.contains(&key) => "missing",
                None => "good",
            },
            reason: failed.and_then(|entry| entry.reason.clone()),
            others_processors: disturbed.map(|(_, others)| *others),
        }
    };
    table(&sweep.plan.runs().into_iter().map(row).collect::<Vec<_>>())
}

/// The whole run at every count.
pub fn scales(sweep: &SweepState, score: &Score) -> Result<String> {
    table(&json::scales(sweep, score))
}

/// The parts of the excess.
pub fn causes(score: &Score) -> Result<String> {
    table(&json_causes::causes(score.analysis.as_ref(), 0))
}

/// Efficiencies at every count.
pub fn efficiencies(sweep: &SweepState, score: &Score) -> Result<String> {
    table(&json_causes::efficiencies(sweep, score.analysis.as_ref()))
}

/// What to look at.
pub fn findings(sweep: &SweepState, score: &Score) -> Result<String> {
    table(&json_findings::findings(sweep, score))
}

/// From perfect scaling to the work efficiency.
pub fn waterfall(score: &Score) -> Result<String> {
    table(&json_causes::waterfall(score.analysis.as_ref()))
}

/// What call paths take from the speed-up.
pub fn bounds(score: &Score) -> Result<String> {
    table(&json_bounds::bound_steps(score, usize::MAX))
}

/// Efficiencies of call paths.
pub fn paths(score: &Score) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Row<'a> {
        name: &'a str,
        #[serde(flatten)]
        path: SubtreeJson,
    }
    let name = |path: &SubtreeJson| &*score.context.rows[path.id as usize].name;
    let rows = json_causes::subtrees(score.analysis.as_ref()).into_iter();
    table(&rows.map(|path| Row { name: name(&path), path }).collect::<Vec<_>>())
}

/// Waiting in collective call paths.
pub fn waiting(score: &Score) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Row<'a> {
        name: &'a str,
        #[serde(flatten)]
        waiting: WaitingJson,
        last_participants: String,
    }
    let row = |waiting: WaitingJson| Row {
        name: &score.context.rows[waiting.id as usize].name,
        last_participants: listed(&waiting.last),
        waiting,
    };
    let rows = json_causes::waiting(score.analysis.as_ref(), score.total().work_at).into_iter();
    table(&rows.map(row).collect::<Vec<_>>())
}

/// Contexts that have a part in each cause.
pub fn places(score: &Score) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Place<'a> {
        cause: &'static str,
        id: u32,
        name: &'a str,
        excess_percent: f64,
    }
    let causes = score.analysis.iter().flat_map(|analysis| &analysis.causes);
    let places = causes.flat_map(|cause| {
        cause.places.iter().map(|(id, part)| Place {
            cause: cause.cause.word(),
            id: *id,
            name: &score.context.rows[*id as usize].name,
            excess_percent: json::percent(*part),
        })
    });
    table(&places.collect::<Vec<_>>())
}

/// Every row of the context view from count to count.
pub fn steps(score: &Score) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Row<'a> {
        id: u32,
        parent: Option<u32>,
        name: &'a str,
        #[serde(flatten)]
        step: RowStepJson,
    }
    let of_row = |row| score.steps.iter().map(move |step| (row, step));
    let rows: Vec<Row> = score
        .context
        .rows
        .iter()
        .flat_map(of_row)
        .map(|(row, step)| Row {
            id: row.id,
            parent: row.parent,
            name: &row.name,
            step: json::row_step(step, row.id),
        })
        .collect();
    table(&rows)
}

/// One line for each row; lists are left out, and the fields of an object have its name in front. Empty without rows.
pub(super) fn table<T: Serialize>(rows: &[T]) -> Result<String> {
    let rows = rows.iter().map(flat).collect::<Result<Vec<Vec<(String, Value)>>>>()?;
    let columns = in_order(&rows);
    // What is an object in some rows is null in others.
    let is_object =
        |name: &str| columns.iter().any(|c| c.strip_prefix(name).is_some_and(|rest| rest.starts_with('_')));
    let null =
        |name: &str| rows.iter().flatten().filter(|(n, _)| n == name).all(|(_, value)| value.is_null());
    let columns: Vec<&str> =
        columns.iter().copied().filter(|name| !(is_object(name) && null(name))).collect();
    let cell = |row: &[(String, Value)], name: &str| {
        row.iter().find(|(n, _)| n == name).map_or(String::new(), |(_, value)| text(value))
    };
    let heading = Some(columns.join(",")).filter(|text| !text.is_empty());
    let lines =
        rows.iter().map(|row| columns.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(","));
    Ok(heading.into_iter().chain(lines).map(|line| line + "\n").collect())
}

/// The names of all fields. One that only later rows have stands behind the one that is before it there: what is null in the first
/// row and an object in others keeps its place.
fn in_order(rows: &[Vec<(String, Value)>]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        let mut place = 0;
        for (name, _) in row {
            match columns.iter().position(|column| column == name) {
                Some(known) => place = known + 1,
                None => {
                    columns.insert(place, name);
                    place += 1;
                }
            }
        }
    }
    columns
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// The fields of a row in their order.
fn flat<T: Serialize>(row: &T) -> Result<Vec<(String, Value)>> {
    let Fields(fields) = serde_json::from_str(&serde_json::to_string(row)?)?;
    let mut flat = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(_) => {}
            Value::Object(inner) => {
                let inner = inner.into_iter().filter(|(_, value)| !value.is_array());
                flat.extend(inner.map(|(n, v)| (format!("{name}_{n}"), v)));
            }
            value => flat.push((name, value)),
        }
    }
    Ok(flat)
}

/// An object whose fields stay in order.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Fields, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_row_lacks_keeps_its_place() {
        #[derive(serde::Serialize)]
        struct Row {
            a: u32,
            bound: Option<Bound>,
            z: u32,
        }
        #[derive(serde::Serialize)]
        struct Bound {
            high: u32,
            low: u32,
        }
        let rows = [None, Some(Bound { high: 2, low: 1 })].map(|bound| Row { a: 0, bound, z: 9 });
        assert_eq!(table(&rows).unwrap(), "a,bound_high,bound_low,z\n0,,,9\n0,2,1,9\n");
    }
}
