//! What the launcher wrote about a run, read leniently: it helps, but nothing depends on it.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// File name in a run directory.
const FILE: &str = "run.json";
/// Its `schema`.
const SCHEMA: &str = "falloff.run";

/// Contents of `run.json`; all empty if it is absent or damaged.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RunInfo {
    pub run_id: String,
    pub command: Vec<String>,
    pub created: String,
    /// All of it, as it is.
    pub json: Json,
}

impl RunInfo {
    /// Reads the file of a run directory.
    pub fn read(dir: &Path) -> RunInfo {
        let json = fs::read(dir.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        json.filter(|json: &Json| json["schema"] == SCHEMA).map(RunInfo::of).unwrap_or_default()
    }

    fn of(json: Json) -> RunInfo {
        let text = |key: &str| match &json[key] {
            Json::String(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let command = json["command"].as_array().map(Vec::as_slice).unwrap_or_default();
        let command = command.iter().filter_map(|a| a.as_str().map(str::to_owned)).collect();
        RunInfo { run_id: text("run_id"), command, created: text("created"), json }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_may_be_missing() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs::write(dir.path().join(FILE), text).unwrap();
            RunInfo::read(dir.path())
        };
        assert_eq!(RunInfo::read(dir.path()), RunInfo::default());
        assert_eq!(read("{"), RunInfo::default());
        assert_eq!(read(r#"{"schema":"other","run_id":"x"}"#), RunInfo::default());
        let info = read(r#"{"schema":"falloff.run","run_id":"x","command":["a",1,"b"],"created":5}"#);
        assert_eq!((info.run_id.as_str(), info.created.as_str()), ("x", "5"));
        assert_eq!(info.command, ["a", "b"]);
    }
}
