//! The string table of `meta.db`, and tables of records that are written once each.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::section::Section;

/// Strings that are written once each.
#[derive(Debug)]
pub(super) struct Strings {
    section: Section,
    known: FxHashMap<String, u64>,
}

impl Strings {
    /// A table that begins at or behind this address.
    pub fn from(from: u64) -> Strings {
        Strings { section: Section::from(from), known: FxHashMap::default() }
    }

    /// The address of a string.
    pub fn address(&mut self, text: &str) -> u64 {
        if let Some(address) = self.known.get(text) {
            return *address;
        }
        let address = self.section.text(text);
        self.known.insert(text.to_owned(), address);
        address
    }

    /// All of them.
    pub fn into_section(self) -> Section {
        self.section
    }
}

/// Things in the order in which they were met, each once.
#[derive(Debug)]
pub(super) struct Table<T> {
    items: Vec<T>,
    places: FxHashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { items: Vec::new(), places: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    /// The place of an item.
    pub fn place(&mut self, item: T) -> u32 {
        *self.places.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            self.items.len() as u32 - 1
        })
    }

    /// All items.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_keeps_its_place() {
        let mut strings = Strings::from(8);
        assert_eq!((strings.address("a"), strings.address("bc"), strings.address("a")), (8, 10, 8));
        assert_eq!(strings.into_section().bytes(), b"a\0bc\0");
        let mut table = Table::default();
        assert_eq!((table.place("x"), table.place("y"), table.place("x")), (0, 1, 0));
        assert_eq!(table.items(), ["x", "y"]);
    }
}
