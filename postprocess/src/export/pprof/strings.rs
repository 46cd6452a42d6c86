//! The table of strings, to which everything refers by index.

use rustc_hash::FxHashMap;

/// Strings, each once; the first is empty.
pub(super) struct Strings {
    indices: FxHashMap<String, u64>,
    strings: Vec<String>,
}

impl Strings {
    /// The empty string alone.
    pub fn new() -> Strings {
        let mut strings = Strings { indices: FxHashMap::default(), strings: Vec::new() };
        strings.index("");
        strings
    }

    /// The index of a string.
    pub fn index(&mut self, string: &str) -> u64 {
        if let Some(index) = self.indices.get(string) {
            return *index;
        }
        let index = self.strings.len() as u64;
        self.indices.insert(string.to_owned(), index);
        self.strings.push(string.to_owned());
        index
    }

    /// All, in the order of their indices.
    pub fn all(&self) -> &[String] {
        &self.strings
    }
}
