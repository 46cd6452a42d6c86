//! Tables as parts of a database, checked.

use serde_json::{Value as Json, json};

use crate::database::table::Table;
use crate::database::v2::{checked, unit};
use crate::database::{Metric, Value};

pub(in crate::database) fn metrics(mut table: Table) -> Result<Vec<Metric>, String> {
    let (names, units) = (table.texts("name"), table.texts("unit"));
    names.iter().zip(&units).map(|(name, word)| Ok(Metric::new(unit(name, word)?, &**name))).collect()
}

/// Brings a manifest into the form of version 2: warnings were lines.
pub(in crate::database) fn manifest(json: &mut Json) {
    if let Some(Json::Array(warnings)) = json.get_mut("warnings") {
        warnings.iter_mut().for_each(|line| *line = json!({"text": line.take(), "about": []}));
    }
}

/// Checked as those of version 2.
pub(in crate::database) fn values(mut table: Table, bounds: [usize; 3]) -> Result<Vec<Value>, String> {
    let (context, location) = (table.u32s("context"), table.u32s("location"));
    let (metric, exclusive) = (table.u32s("metric"), table.u64s("exclusive"));
    let value = |i: usize| {
        let exclusive =
            i64::try_from(exclusive[i]).map_err(|_| format!("row {i} has a value beyond 2^63"))?;
        Ok(Value { context: context[i], location: location[i], metric: metric[i], exclusive })
    };
    let values = (0..context.len()).map(value).collect::<Result<_, String>>()?;
    checked(values, None, bounds)
}
