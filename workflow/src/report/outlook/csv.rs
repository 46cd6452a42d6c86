//! Tables of an outlook as CSV: the fields of the lists of the same names in JSON, one line each.

use serde::Serialize;

use super::json::{self, AboutJson, PredictionJson};
use crate::outlook::Outlook;
use crate::report::csv_tables::table;

/// Call paths, one line for each target.
pub fn paths(outlook: &Outlook) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        about: AboutJson<'a>,
        path: String,
        formula: Option<String>,
        smape_percent: Option<f64>,
        no_model: Option<&'a str>,
        prediction: PredictionJson,
        prediction_share_percent: Option<f64>,
    }
    let rows = outlook.parts.iter().flat_map(|part| {
        let model = part.forecast.model.as_ref();
        let names: Vec<&str> = part.place.iter().flat_map(|place| &place.path).map(|name| &**name).collect();
        json::predictions(&part.forecast).into_iter().zip(&part.shares).map(move |(prediction, share)| Row {
            about: json::about(part),
            path: names.join(" > "),
            formula: model.ok().map(ToString::to_string),
            smape_percent: model.ok().map(|model| model.smape()),
            no_model: model.err().map(String::as_str),
            prediction,
            prediction_share_percent: share.map(|share| 100.0 * share),
        })
    });
    table(&rows.collect::<Vec<_>>())
}

/// What the laws of the whole run say.
pub fn laws(outlook: &Outlook) -> serde_json::Result<String> {
    table(&json::laws(outlook))
}

/// Data that do not fit together.
pub fn notes(outlook: &Outlook) -> serde_json::Result<String> {
    table(&json::notes(outlook))
}
