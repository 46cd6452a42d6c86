//! Shown names of one module's functions, with parameters only where they are needed to tell two apart.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::demangle::{Language, is_cpp, short, with_parameters};
use super::render::LONG;

/// Neighbours in the sorted symbol table that are compared.
const NEIGHBOURS: usize = 16;

/// Shown names by symbol.
pub(super) struct Names<'a> {
    /// C++ symbols, sorted. Overloads of one function differ only at the end, so they are neighbours.
    cpp: Vec<&'a str>,
    shown: FxHashMap<(String, bool), Arc<str>>,
}

impl<'a> Names<'a> {
    /// Of a module with these symbols.
    pub fn new(symbols: impl Iterator<Item = &'a str>) -> Names<'a> {
        let mut cpp: Vec<&str> = symbols.filter(|name| is_cpp(name) && name.len() <= LONG).collect();
        cpp.sort_unstable();
        cpp.dedup();
        Names { cpp, shown: FxHashMap::default() }
    }

    /// The name to show for a symbol.
    pub fn shown(&mut self, symbol: &str, language: Language) -> Arc<str> {
        let key = (symbol.to_owned(), language == Language::Fortran);
        if let Some(known) = self.shown.get(&key) {
            return known.clone();
        }
        let name: Arc<str> = self.make(symbol, language).into();
        self.shown.insert(key, name.clone());
        name
    }

    fn make(&self, symbol: &str, language: Language) -> String {
        let name = short(symbol, language);
        match with_parameters(symbol) {
            Some(full) if self.is_overloaded(symbol, &name, &full) => full,
            _ => name,
        }
    }

    /// Whether another function of the module has the same short name.
    fn is_overloaded(&self, symbol: &str, name: &str, full: &str) -> bool {
        let other = |candidate: &&str| {
            short(candidate, Language::Other) == name && with_parameters(candidate).is_some_and(|f| f != full)
        };
        let near = |symbol: &str| {
            let at = self.cpp.partition_point(|s| *s < symbol);
            let same = |s: &&&str| short(s, Language::Other) == name;
            let before = self.cpp[..at].iter().rev().take(NEIGHBOURS).take_while(same);
            let after = self.cpp[at..].iter().take(NEIGHBOURS).take_while(same);
            before.chain(after).any(other)
        };
        near(symbol) || const_twin(symbol).is_some_and(|twin| near(&twin))
    }
}

/// The `const` form of a member function's symbol, or the other way round: these are no neighbours.
fn const_twin(symbol: &str) -> Option<String> {
    match symbol.strip_prefix("_ZNK") {
        Some(rest) => Some(format!("_ZN{rest}")),
        None => symbol.strip_prefix("_ZN").map(|rest| format!("_ZNK{rest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_kept_only_for_overloads() {
        let symbols = [
            "_Z4openPKci",
            "_Z4openi",
            "_Z5closei",
            "_ZN1a3getEv",
            "_ZNK1a3getEv",
            "_ZN1bC1Ei",
            "_ZN1bC2Ei",
            "_Z3runv",
            "_Z3runv.part.0",
        ];
        let mut names = Names::new(symbols.into_iter());
        let mut shown = |s: &str| names.shown(s, Language::Other).to_string();
        assert_eq!(shown("_Z4openi"), "open(int)");
        assert_eq!(shown("_Z4openPKci"), "open(char const*, int)");
        assert_eq!(shown("_Z5closei"), "close");
        assert_eq!(shown("_ZN1a3getEv"), "a::get()");
        assert_eq!(shown("_ZNK1a3getEv"), "a::get() const");
        assert_eq!(shown("_ZN1bC1Ei"), "b::b");
        assert_eq!(shown("_Z3runv.part.0"), "run");
    }
}
