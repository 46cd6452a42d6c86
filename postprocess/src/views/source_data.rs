//! A source file with the cost of its lines, for programs: JSON (schema `falloff.source` version 1) and CSV.
//! `docs/view.md` describes both.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::Value as Json;

use super::csv::line as csv_line;
use super::csv::quoted;
use super::derived::field;
use super::json::{Head, number};
use super::source::{LineCost, Source};
use super::source_text::SourceText;

/// Writes all lines with cost as JSON.
///
/// # Errors
/// Those of `out`.
pub fn json(out: impl io::Write, source: &Source, text: &SourceText) -> io::Result<()> {
    let lines = source.lines().iter().map(|cost| {
        let mut fields: BTreeMap<String, Json> = values(source, cost)
            .into_iter()
            .map(|(name, value)| (name, number(value).map_or(Json::Null, Json::Number)))
            .collect();
        fields.insert("line".into(), cost.line.into());
        fields.insert("text".into(), text.line(cost.line).map_or(Json::Null, Json::from));
        fields
    });
    let document = Document {
        schema: "falloff.source",
        version: 1,
        file: source.file(),
        readable: text.lines.is_some(),
        notes: &text.notes,
        of: Head::of(source.excerpt),
        lines: lines.collect(),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    file: &'a str,
    readable: bool,
    notes: &'a [String],
    #[serde(flatten)]
    of: Head<'a>,
    lines: Vec<BTreeMap<String, Json>>,
}

/// Writes all lines with cost as CSV.
///
/// # Errors
/// Those of `out`.
pub fn csv(mut out: impl io::Write, source: &Source, text: &SourceText) -> io::Result<()> {
    let nothing = vec![0.0; source.excerpt.metrics().len()];
    let none = LineCost { line: 0, exclusive: nothing.clone(), calls: nothing.clone(), inclusive: nothing };
    let names = values(source, &none).into_iter().map(|(name, _)| name);
    csv_line(&mut out, ["line".into(), "text".into()].into_iter().chain(names))?;
    for cost in source.lines() {
        let about = [cost.line.to_string(), quoted(text.line(cost.line).unwrap_or_default())];
        let values = values(source, cost).into_iter().map(|(_, value)| value.to_string());
        csv_line(&mut out, about.into_iter().chain(values))?;
    }
    Ok(())
}

/// Fields of a line with their values.
fn values(source: &Source, cost: &LineCost) -> Vec<(String, f64)> {
    let mut fields = Vec::new();
    for (metric, about) in source.excerpt.metrics().iter().enumerate() {
        let name = if metric == 0 { String::new() } else { format!("{}_", field(&about.name)) };
        for (what, values) in
            [("inclusive", &cost.inclusive), ("exclusive", &cost.exclusive), ("calls", &cost.calls)]
        {
            let value = values[metric];
            fields.push((format!("{what}_{name}{}", about.unit.suffix()), value));
            fields.push((format!("{what}_{name}percent"), source.percent(metric, value)));
        }
    }
    fields
}
