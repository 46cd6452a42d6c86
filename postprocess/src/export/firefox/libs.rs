//! Load modules.

use serde::Serialize;

use crate::database::{Database, ModuleInfo};

/// A load module.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib {
    arch: &'static str,
    name: String,
    path: String,
    debug_name: String,
    debug_path: String,
    breakpad_id: String,
    code_id: Option<String>,
}

impl Lib {
    /// The module of this file name.
    pub fn of(name: &str, database: &Database) -> Lib {
        let module = database.modules().iter().find(|module| module.file_name() == name);
        let path = module.map_or(name, |m| &m.path).to_owned();
        let build_id = module.map_or("", |m| &m.build_id);
        Lib {
            // The database does not say.
            arch: "",
            name: name.to_owned(),
            debug_name: name.to_owned(),
            debug_path: module
                .and_then(|m: &ModuleInfo| m.debug_file.clone())
                .unwrap_or_else(|| path.clone()),
            path,
            breakpad_id: breakpad_id(build_id).unwrap_or_default(),
            code_id: Some(build_id.to_owned()).filter(|id| !id.is_empty()),
        }
    }
}

/// The id by which symbol servers know a module: the first 16 bytes of its build id, filled up with zeros, as a GUID whose
/// first three fields are little-endian, and an age of 0. `None` if it has no build id.
fn breakpad_id(build_id: &str) -> Option<String> {
    let digits = build_id.get(..32).map_or_else(|| format!("{build_id:0<32}"), str::to_owned);
    let byte = |index: usize| digits.get(2 * index..2 * index + 2);
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let guid: Option<String> = order.into_iter().map(byte).collect();
    guid.filter(|_| !build_id.is_empty()).map(|guid| format!("{}0", guid.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_become_guids() {
        let id = breakpad_id("fc3ae54d3df274383256b9f6144f83f37510aabb");
        assert_eq!(id.as_deref(), Some("4DE53AFCF23D38743256B9F6144F83F30"));
        assert_eq!(breakpad_id("c0ffee").as_deref(), Some("00EEFFC00000000000000000000000000"));
        assert_eq!(breakpad_id(""), None);
    }
}
