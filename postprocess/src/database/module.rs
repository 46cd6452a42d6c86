//! A load module, and where its names came from.

use serde::{Deserialize, Serialize};

/// Where a module's names came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymbolSource {
    /// Debug information: functions, inlined functions and lines.
    Debug,
    /// A symbol table: functions only.
    Symbols,
    /// Unwind tables: where functions begin, no names.
    Bounds,
    /// Nothing: the file is missing, another one, or damaged.
    Nothing,
}

impl SymbolSource {
    /// The word that databases use.
    pub fn word(self) -> &'static str {
        match self {
            SymbolSource::Debug => "debug",
            SymbolSource::Symbols => "symbols",
            SymbolSource::Bounds => "bounds",
            SymbolSource::Nothing => "nothing",
        }
    }

    /// The source with this [`SymbolSource::word`].
    pub fn from_word(word: &str) -> Option<SymbolSource> {
        [SymbolSource::Debug, SymbolSource::Symbols, SymbolSource::Bounds, SymbolSource::Nothing]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// A load module that call paths go through.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleInfo {
    /// Path as the process had it.
    pub path: String,
    /// GNU build id, hexadecimal; empty if it has none.
    pub build_id: String,
    /// Where its names came from.
    pub source: SymbolSource,
    /// Separate file of debug information that was used.
    pub debug_file: Option<String>,
}

impl ModuleInfo {
    /// File name, as scopes name their modules.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
