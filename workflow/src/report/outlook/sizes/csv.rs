//! The call paths of an outlook over problem sizes as CSV.

use serde::Serialize;

use super::json::{self, AboutJson, PredictionJson};
use crate::outlook::SizeOutlook;
use crate::report::csv_tables::table;

/// Call paths, one line for each target: the fields of the list of the same name in JSON.
pub fn paths(outlook: &SizeOutlook) -> serde_json::Result<String> {
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
        let model = part.surface.model.as_ref();
        let names: Vec<&str> = part.place.iter().flat_map(|place| &place.path).map(|name| &**name).collect();
        let predictions = json::predictions(&part.surface.predictions, &outlook.targets);
        predictions.into_iter().zip(&part.shares).map(move |(prediction, share)| Row {
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
