//! The linear form as lines of text and as a part of JSON.

use falloff_models::{Cost, Interval, Part, Scale};
use serde::Serialize;

use super::text::{OutlookOptions, banded};
use crate::outlook::LinearForm;
use crate::report::table::{Table, percent, seconds};
use crate::report::text::section;

/// Digits of a cost or a count behind the point.
const DIGITS: usize = 3;

/// What the terms cost, how they make up the measured times, and what they say of the targets.
pub(super) fn term_lines(
    form: Option<&LinearForm>,
    targets: &[Scale],
    options: &OutlookOptions,
) -> Vec<String> {
    let Some(form) = form else { return Vec::new() };
    let mut body = costs(form, options.width);
    body.push(String::new());
    body.extend(shares(form, targets));
    body.push(missed(form));
    for (target, prediction) in targets.iter().zip(&form.predictions) {
        body.push(String::new());
        body.extend(predicted(*target, prediction, options));
    }
    section("TERMS: SECONDS A PROCESSOR = SUM OF COST TIMES COUNT", body, options.paint)
}

fn costs(form: &LinearForm, width: usize) -> Vec<String> {
    let mut table = Table::new(&["term", "cost of one, s"]);
    for (term, cost) in form.terms.iter().zip(form.model.costs()) {
        let text = match cost {
            Cost::Given(cost) => format!("{cost:.DIGITS$e}, given"),
            Cost::Absent => "not seen".into(),
            Cost::Fitted(cost) => {
                format!("{:.DIGITS$e} ({:.DIGITS$e} to {:.DIGITS$e})", cost.value, cost.low, cost.high)
            }
        };
        table.row(vec![term.name().into(), text]);
    }
    table.with_last(width, "count", |row, _| form.terms[row].text().into()).lines()
}

/// Share of each term at every scale, measured or not.
fn shares(form: &LinearForm, targets: &[Scale]) -> Vec<String> {
    let mut headings: Vec<String> =
        ["N", "p", "measured s", "by the terms s", "error %"].map(str::to_owned).to_vec();
    headings.extend(form.terms.iter().map(|term| format!("{} %", term.name())));
    let mut table = Table::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    let mut row = |scale: Scale, measured: [String; 3], parts: &[Part]| {
        let mut cells = vec![scale.n.to_string(), scale.p.to_string()];
        cells.extend(measured);
        cells.extend(parts.iter().map(|part| percent(part.share)));
        table.row(cells);
    };
    for one in &form.measured {
        let said = seconds(one.parts.iter().map(|part| part.value).sum());
        row(one.scale, [seconds(one.seconds), said, percent(one.error)], &one.parts);
    }
    for (target, prediction) in targets.iter().zip(&form.predictions) {
        if let Ok((cost, parts)) = prediction {
            row(*target, ["-".into(), seconds(cost.value), "-".into()], parts);
        }
    }
    table.lines()
}

fn missed(form: &LinearForm) -> String {
    let worst = form.measured.iter().max_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
    let worst = worst.map_or(String::new(), |one| {
        format!(", by {} % at most, at {}", percent(one.error.abs()), one.scale)
    });
    format!("  the terms miss the measured times by {} % on average{worst}", percent(form.miss()))
}

fn predicted(
    target: Scale,
    prediction: &Result<(Interval, Vec<Part>), String>,
    options: &OutlookOptions,
) -> Vec<String> {
    let (cost, parts) = match prediction {
        Ok(said) => said,
        Err(reason) => {
            let line = format!("  NOT PREDICTED BY TERMS at {target}: {reason}");
            return vec![options.paint.yellow(&line)];
        }
    };
    let mut lines =
        vec![options.paint.bold(&format!("  PREDICTED BY TERMS at {target}: {} s", banded(cost)))];
    lines.extend(parts.iter().map(|part| {
        format!(
            "    {}: {} s; 1 % dearer makes {:.DIGITS$} % more of the whole, 1 µs dearer {} s",
            part.name,
            seconds(part.value),
            part.share,
            small_or_large(1e-6 * part.sensitivity)
        )
    }));
    lines
}

/// Seconds that may be anything between a microsecond and a day.
fn small_or_large(value: f64) -> String {
    if value.abs() < 1e-3 { format!("{value:.DIGITS$e}") } else { seconds(value) }
}

/// A linear form in JSON.
#[derive(Serialize)]
pub(super) struct FormJson<'a> {
    miss_percent: f64,
    terms: Vec<TermJson<'a>>,
    measured: Vec<ExplainedJson<'a>>,
    predictions: Vec<SaidJson<'a>>,
}

#[derive(Serialize)]
struct TermJson<'a> {
    name: &'a str,
    formula: &'a str,
    source: &'static str,
    cost_seconds: f64,
    low_seconds: f64,
    high_seconds: f64,
}

#[derive(Serialize)]
struct ExplainedJson<'a> {
    size: f64,
    processors: f64,
    seconds: f64,
    error_percent: f64,
    parts: Vec<TermPartJson<'a>>,
}

#[derive(Serialize)]
struct SaidJson<'a> {
    size: f64,
    processors: f64,
    seconds: Option<f64>,
    low_seconds: Option<f64>,
    high_seconds: Option<f64>,
    refusal: Option<&'a str>,
    parts: Vec<TermPartJson<'a>>,
}

#[derive(Serialize)]
struct TermPartJson<'a> {
    name: &'a str,
    seconds: f64,
    share_percent: f64,
    elasticity: f64,
    sensitivity: f64,
}

/// The form for JSON.
pub(super) fn form_json<'a>(form: &'a LinearForm, targets: &[Scale]) -> FormJson<'a> {
    let terms = form.terms.iter().zip(form.model.costs()).map(|(term, cost)| {
        let (source, cost) = match *cost {
            Cost::Given(cost) => ("given", Interval::exact(cost)),
            Cost::Fitted(cost) => ("fitted", cost),
            Cost::Absent => ("not seen", Interval::exact(0.0)),
        };
        TermJson {
            name: term.name(),
            formula: term.text(),
            source,
            cost_seconds: cost.value,
            low_seconds: cost.low,
            high_seconds: cost.high,
        }
    });
    let measured = form.measured.iter().map(|one| ExplainedJson {
        size: one.scale.n,
        processors: one.scale.p,
        seconds: one.seconds,
        error_percent: 100.0 * one.error,
        parts: parts_json(&one.parts),
    });
    let predictions = targets.iter().zip(&form.predictions).map(|(target, prediction)| {
        let said = prediction.as_ref().ok();
        SaidJson {
            size: target.n,
            processors: target.p,
            seconds: said.map(|(cost, _)| cost.value),
            low_seconds: said.map(|(cost, _)| cost.low),
            high_seconds: said.map(|(cost, _)| cost.high),
            refusal: prediction.as_ref().err().map(String::as_str),
            parts: said.map(|(_, parts)| parts_json(parts)).unwrap_or_default(),
        }
    });
    FormJson {
        miss_percent: 100.0 * form.miss(),
        terms: terms.collect(),
        measured: measured.collect(),
        predictions: predictions.collect(),
    }
}

fn parts_json(parts: &[Part]) -> Vec<TermPartJson<'_>> {
    let mut found = Vec::new();
    for Part { name, value, share, sensitivity } in parts {
        found.push(TermPartJson {
            name,
            seconds: *value,
            share_percent: 100.0 * share,
            elasticity: *share,
            sensitivity: *sensitivity,
        });
    }
    found
}
