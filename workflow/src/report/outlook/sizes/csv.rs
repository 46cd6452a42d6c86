//! The call paths of an outlook over problem sizes as CSV.

use super::super::json_part;
use super::json;
use crate::outlook::SizeOutlook;
use crate::report::csv_tables::table;

/// Call paths, one line for each target: the fields of the list of the same name in JSON.
pub fn paths(outlook: &SizeOutlook) -> serde_json::Result<String> {
    let rows = outlook.parts.iter().flat_map(|part| {
        let predictions = json::predictions(&part.surface.predictions, &outlook.targets);
        let about = json_part::standing(&part.standing);
        json_part::path_lines(about, &part.standing, &part.surface.model, predictions)
    });
    table(&rows.collect::<Vec<_>>())
}
