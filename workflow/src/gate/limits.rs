//! How much growth is put up with.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::{Error, Result};

/// Growth from which a change is a regression, as fractions of the base's whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Of the whole run and of call paths that have none of their own.
    pub run: f64,
    /// Of functions, by name: their call paths with all that they call.
    pub functions: BTreeMap<String, f64>,
}

/// The file: percents.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    run: Option<f64>,
    #[serde(default)]
    functions: BTreeMap<String, f64>,
}

impl Limits {
    /// The default, percent of the run.
    pub const DEFAULT_PERCENT: f64 = 3.0;

    /// The same for everything, percent of the run.
    pub fn of_percent(percent: f64) -> Limits {
        Limits { run: percent / 100.0, functions: BTreeMap::new() }
    }

    /// Reads limits from a TOML file: `run = 3.0` and a table `[functions]` of names and percents. What it does not say is
    /// taken from `otherwise`.
    pub fn read(path: &Path, otherwise: Limits) -> Result<Limits> {
        let text = fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        let malformed = |reason: String| Error::Usage {
            action: "read limits",
            reason: format!("`{}`: {}", path.display(), reason.trim_end()),
            hint: "write percents: `run = 3.0`, and below `[functions]` lines such as `solve = 1.0`".into(),
        };
        let file: LimitsFile = toml::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        let all = file.run.iter().chain(file.functions.values());
        if all.clone().any(|percent| !(*percent > 0.0 && *percent <= 100.0)) {
            return Err(malformed("limits are percents above 0 and up to 100".into()));
        }
        Ok(Limits {
            run: file.run.map_or(otherwise.run, |percent| percent / 100.0),
            functions: file.functions.into_iter().map(|(name, percent)| (name, percent / 100.0)).collect(),
        })
    }

    /// The limit of a call path that ends in this function.
    pub fn of(&self, function: &str) -> f64 {
        self.functions.get(function).copied().unwrap_or(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("limits.toml");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            Limits::read(&path, Limits::of_percent(3.0))
        };
        let limits = read("run = 5\n[functions]\nsolve = 1.5\n").unwrap();
        assert_eq!((limits.run, limits.of("solve"), limits.of("main")), (0.05, 0.015, 0.05));
        assert_eq!(read("").unwrap(), Limits::of_percent(3.0));
        for wrong in ["run = -1", "runs = 1", "run = 'x'", "[functions]\nf = 0"] {
            assert!(matches!(read(wrong), Err(Error::Usage { .. })), "{wrong}");
        }
    }
}
