//! Which function an address belongs to, from symbols and unwind entries.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::demangle::{Language, is_mangled, short};
use super::elf::{Elf, Symbol};
use super::plt::Plt;

/// Symbols before an address that are looked at for one that covers it.
const NESTED_SYMBOLS: usize = 64;
/// How far before a function without a name an exported one may be for its name to say where that is.
const NEAR: u64 = 64 << 10;
/// Names of one place that are compared.
const NAMES_COMPARED: usize = 1000;

/// Functions of a module by address.
pub(super) struct Bounds<'a> {
    /// Sorted by address, the best name of each place last.
    symbols: Vec<Symbol<'a>>,
    /// Sorted, disjoint in sound files.
    unwind: Vec<(u64, u64)>,
    code: Vec<(u64, u64)>,
    plt: Plt,
    entry: u64,
    /// Other functions that are the same code, by address and size.
    identical: RefCell<FxHashMap<(u64, u64), usize>>,
}

/// Name of the code where a program begins; it has a symbol only in files that are not stripped.
const ENTRY_NAME: &str = "_start";

/// The function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// A symbol covers it.
    Symbol {
        name: &'a str,
        /// Where it begins.
        start: u64,
        /// Whether other files may refer to it.
        external: bool,
        /// Other functions that are the same code: compilers and linkers fold identical ones.
        identical: usize,
    },
    /// A jump through the procedure linkage table to this function.
    Plt(String),
    /// A function without a name.
    Unnamed {
        /// Where it begins.
        start: u64,
        /// An exported function not far before it.
        after: Option<&'a str>,
    },
}

impl<'a> Place<'a> {
    /// Where the function begins, if that is known.
    pub fn start(&self) -> Option<u64> {
        match self {
            Place::Symbol { start, .. } | Place::Unnamed { start, .. } => Some(*start),
            Place::Plt(_) => None,
        }
    }
}

impl<'a> Bounds<'a> {
    /// Of the module itself and of files with more of its symbols, each with what its addresses lack of the module's.
    pub fn new(binary: &Elf<'a>, others: &[(&Elf<'a>, u64)]) -> Bounds<'a> {
        let mut symbols = binary.symbols();
        for (elf, shift) in others {
            let moved = |s: Symbol<'a>| Symbol { address: s.address.wrapping_add(*shift), ..s };
            symbols.extend(elf.symbols().into_iter().map(moved));
        }
        symbols.sort_unstable_by(|a, b| {
            // The shortest external name is the public one: `write` and not `__libc_write`, `MPI_Send` and not
            // `PMPI_Send`.
            let quality = |s: &Symbol| (s.label, !s.external, leading_underscores(s.name), s.name.len());
            (a.address, a.size > 0, quality(b), b.name).cmp(&(b.address, b.size > 0, quality(a), a.name))
        });
        symbols.dedup();
        Bounds {
            symbols,
            unwind: binary.unwind_ranges(),
            code: binary.code_ranges(),
            plt: Plt::new(binary),
            entry: binary.entry(),
            identical: RefCell::default(),
        }
    }

    pub fn has_symbols(&self) -> bool {
        !self.symbols.is_empty()
    }

    pub fn has_unwind_entries(&self) -> bool {
        !self.unwind.is_empty()
    }

    /// Names of all symbols.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.symbols.iter().map(|s| s.name)
    }

    pub fn find(&self, address: u64) -> Place<'a> {
        let entry = covering(&self.unwind, address);
        if let Some(symbol) = self.sized(address).or_else(|| self.unsized_or_short(address, entry)) {
            return self.place(symbol);
        }
        if let Some(name) = self.plt.name(address) {
            return Place::Plt(format!("{name}@plt"));
        }
        // A return address that nobody called from, as the C library makes for new contexts, is the start of a
        // function; one byte before it is what was recorded.
        let after = self.symbols.partition_point(|s| s.address <= address);
        if let Some(next) = self.symbols.get(after).filter(|s| entry.is_none() && s.address == address + 1) {
            return self.place(next);
        }
        match entry.map_or_else(|| self.gap_start(address), |(start, _)| start) {
            start if start == self.entry => {
                Place::Symbol { name: ENTRY_NAME, start, external: true, identical: 0 }
            }
            start => Place::Unnamed { start, after: self.exported_before(start) },
        }
    }

    /// The code that belongs together around an address: an unwind entry's, else a symbol's, else what lies between
    /// them.
    pub fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let symbol = || self.sized(address).map(|s| (s.address, s.address.saturating_add(s.size)));
        let gap = || {
            let (_, section_end) = covering(&self.code, address)?;
            let symbol = self.symbols.get(self.symbols.partition_point(|s| s.address <= address));
            let entry = self.unwind.get(self.unwind.partition_point(|r| r.0 <= address));
            let ends = [symbol.map(|s| s.address), entry.map(|r| r.0), Some(section_end)];
            Some((self.find(address).start()?, ends.into_iter().flatten().min()?))
        };
        covering(&self.unwind, address).or_else(symbol).or_else(gap)
    }

    fn place(&self, symbol: &Symbol<'a>) -> Place<'a> {
        Place::Symbol {
            name: symbol.name,
            start: symbol.address,
            external: symbol.external,
            identical: self.identical(symbol),
        }
    }

    /// Other functions at a symbol's place. Plain names of one place are one function with several names, as the C
    /// library has them; mangled ones are written as different functions in the source.
    fn identical(&self, symbol: &Symbol) -> usize {
        let first = self.symbols.partition_point(|s| s.address < symbol.address);
        let end = self.symbols.partition_point(|s| s.address <= symbol.address);
        if end - first < 2 || !is_mangled(symbol.name) {
            return 0;
        }
        let key = (symbol.address, symbol.size);
        if let Some(known) = self.identical.borrow().get(&key) {
            return *known;
        }
        let same = |s: &&Symbol| s.size == symbol.size && is_mangled(s.name);
        let names = self.symbols[first..end].iter().filter(same).take(NAMES_COMPARED);
        let names: BTreeSet<String> = names.map(|s| short(s.name, Language::Other)).collect();
        let others = names.len().saturating_sub(1);
        self.identical.borrow_mut().insert(key, others);
        others
    }

    fn exported_before(&self, address: u64) -> Option<&'a str> {
        let (section, _) = covering(&self.code, address)?;
        let nearest = self.below(address).take(NESTED_SYMBOLS).find(|s| s.external && !s.label)?;
        (nearest.address >= section.max(address.saturating_sub(NEAR))).then_some(nearest.name)
    }

    /// Symbols at or below the address, nearest first.
    fn below(&self, address: u64) -> impl Iterator<Item = &Symbol<'a>> {
        let end = self.symbols.partition_point(|s| s.address <= address);
        self.symbols[..end].iter().rev()
    }

    fn sized(&self, address: u64) -> Option<&Symbol<'a>> {
        let covers = |s: &&Symbol| address - s.address < s.size;
        self.below(address).take(NESTED_SYMBOLS).find(covers)
    }

    /// A symbol that does not say how far it reaches goes to the end of its unwind entry; one that says so and
    /// ends earlier does as well if both begin together. Code outside all entries belongs to the last symbol
    /// without size, unless an entry lies between.
    fn unsized_or_short(&self, address: u64, entry: Option<(u64, u64)>) -> Option<&Symbol<'a>> {
        let symbol = self.below(address).next()?;
        let reaches = match entry {
            Some((start, _)) => symbol.address == start || (symbol.size == 0 && symbol.address > start),
            None => {
                let last_entry_end = last_below(&self.unwind, address).map_or(0, |(_, end)| end);
                let section = covering(&self.code, address).map_or(address, |(start, _)| start);
                symbol.size == 0 && symbol.address >= last_entry_end.max(section)
            }
        };
        reaches.then_some(symbol)
    }

    /// Where code begins that neither symbols nor unwind entries cover: after the last of them. Where nothing is
    /// before it in its section, nothing is known, and the address itself is all that can be said.
    fn gap_start(&self, address: u64) -> u64 {
        let Some((section, _)) = covering(&self.code, address) else { return address };
        let symbol =
            self.below(address).map(|s| s.address.saturating_add(s.size)).find(|end| *end <= address);
        let entry = last_below(&self.unwind, address).map(|(_, end)| end);
        let before = symbol.max(entry).filter(|end| *end >= section);
        before.unwrap_or(address)
    }
}

/// Underscores that the C library puts before names that are not public.
pub(super) fn leading_underscores(name: &str) -> usize {
    // Mangled names begin with one by their nature.
    if name.starts_with("_Z") || name.starts_with("_R") {
        0
    } else {
        name.len() - name.trim_start_matches('_').len()
    }
}

/// Last range that begins at or below the address.
fn last_below(ranges: &[(u64, u64)], address: u64) -> Option<(u64, u64)> {
    ranges[..ranges.partition_point(|r| r.0 <= address)].last().copied()
}

fn covering(ranges: &[(u64, u64)], address: u64) -> Option<(u64, u64)> {
    last_below(ranges, address).filter(|r| address < r.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(symbols: &[(u64, u64, &'static str)], unwind: &[(u64, u64)]) -> Bounds<'static> {
        let symbols = symbols.iter().map(|(address, size, name)| Symbol {
            address: *address,
            size: *size,
            name,
            external: true,
            label: false,
            indirect: false,
        });
        Bounds {
            symbols: symbols.collect(),
            unwind: unwind.to_vec(),
            code: vec![(0x100, 0x1000)],
            plt: Plt::default(),
            entry: 0x200,
            identical: RefCell::default(),
        }
    }

    fn named(name: &'static str, start: u64) -> Place<'static> {
        Place::Symbol { name, start, external: true, identical: 0 }
    }

    fn unnamed(start: u64) -> Place<'static> {
        Place::Unnamed { start, after: None }
    }

    fn after(start: u64, name: &'static str) -> Place<'static> {
        Place::Unnamed { start, after: Some(name) }
    }

    #[test]
    fn a_made_up_return_address_is_the_function_behind_it() {
        let b =
            bounds(&[(0x100, 0x20, "a"), (0x130, 0x20, "start_context")], &[(0x100, 0x120), (0x130, 0x150)]);
        assert_eq!(b.find(0x12f), named("start_context", 0x130));
        assert_eq!(b.find(0x12e), after(0x120, "a"));
        assert_eq!(b.find(0x11f), named("a", 0x100));
    }

    #[test]
    fn a_symbol_is_not_stretched_over_an_unnamed_neighbour() {
        let b = bounds(&[(0x100, 0x20, "a")], &[(0x100, 0x120), (0x120, 0x180)]);
        assert_eq!(b.find(0x11f), named("a", 0x100));
        assert_eq!(b.find(0x120), after(0x120, "a"));
        assert_eq!(b.find(0x17f), after(0x120, "a"));
        assert_eq!(b.find(0x180), after(0x180, "a"));
        assert_eq!(b.find(0x190), after(0x180, "a"));
        assert_eq!(b.find(0x50), unnamed(0x50));
    }

    #[test]
    fn a_symbol_without_size_reaches_the_end_of_its_entry() {
        let b = bounds(&[(0x100, 0, "start")], &[(0x100, 0x140), (0x140, 0x150)]);
        assert_eq!(b.find(0x13f), named("start", 0x100));
        assert_eq!(b.find(0x140), after(0x140, "start"));
    }

    #[test]
    fn the_program_begins_at_its_entry() {
        let b = bounds(&[], &[(0x200, 0x230)]);
        assert_eq!(b.find(0x225), named("_start", 0x200));
    }

    #[test]
    fn without_entries_the_next_symbol_is_the_end() {
        let b = bounds(&[(0x100, 0, "one"), (0x140, 0, "two")], &[]);
        assert_eq!(b.find(0x13f), named("one", 0x100));
        assert_eq!(b.find(0x140), named("two", 0x140));
    }

    #[test]
    fn the_innermost_of_nested_symbols_is_taken() {
        let b = bounds(&[(0x100, 0x100, "outer"), (0x120, 0x10, "inner")], &[]);
        assert_eq!(b.find(0x125), named("inner", 0x120));
        assert_eq!(b.find(0x135), named("outer", 0x100));
    }

    #[test]
    fn code_belongs_together_as_the_unwind_entry_says() {
        let b = bounds(&[(0x100, 0x10, "a"), (0x110, 0x30, "b"), (0x200, 0, "c")], &[(0x100, 0x120)]);
        assert_eq!(b.extent(0x118), Some((0x100, 0x120)));
        assert_eq!(b.extent(0x130), Some((0x110, 0x140)));
        assert_eq!(b.extent(0x180), Some((0x140, 0x200)));
        assert_eq!(b.extent(0x300), Some((0x200, 0x1000)));
        assert_eq!(b.extent(0x2000), None);
    }

    #[test]
    fn an_exported_name_is_a_hint_only_nearby() {
        let mut b =
            bounds(&[(0x100, 0x20, "a")], &[(0x100, 0x120), (0x10_100, 0x10_200), (0x10_101, 0x10_200)]);
        b.code = vec![(0x100, 0x20_000)];
        assert_eq!(b.find(0x10_100), after(0x10_100, "a"));
        assert_eq!(b.find(0x10_150), unnamed(0x10_101));
        b.code = vec![(0x100, 0x200), (0x300, 0x20_000)];
        assert_eq!(b.find(0x10_100), unnamed(0x10_100));
    }

    #[test]
    fn identical_functions_are_counted() {
        let identical = |names: &[&'static str]| {
            let symbols: Vec<_> = names.iter().map(|name| (0x100, 0x20, *name)).collect();
            match bounds(&symbols, &[]).find(0x110) {
                Place::Symbol { identical, .. } => identical,
                place => panic!("{place:?}"),
            }
        };
        assert_eq!(identical(&["_Z3addi", "_Z3subi", "_Z3muli"]), 2);
        // One function: constructors for whole and for base objects; names of the C library.
        assert_eq!(identical(&["_ZN1aC1Ev", "_ZN1aC2Ev"]), 0);
        assert_eq!(identical(&["write", "__write", "__libc_write"]), 0);
        assert_eq!(identical(&["_Z3addi", "add"]), 0);
    }
}
