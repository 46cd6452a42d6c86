//! Which function an address belongs to, from symbols and unwind entries.

use super::elf::{Elf, Symbol};
use super::plt::Plt;

/// Symbols before an address that are looked at for one that covers it.
const NESTED_SYMBOLS: usize = 64;

/// Functions of a module by address.
pub(super) struct Bounds<'a> {
    /// Sorted by address, the best name of each place last.
    symbols: Vec<Symbol<'a>>,
    /// Sorted, disjoint in sound files.
    unwind: Vec<(u64, u64)>,
    code: Vec<(u64, u64)>,
    plt: Plt,
    entry: u64,
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
    },
    /// A jump through the procedure linkage table to this function.
    Plt(String),
    /// A function without a name that begins here.
    Unnamed(u64),
}

impl<'a> Place<'a> {
    fn of(symbol: &Symbol<'a>) -> Place<'a> {
        Place::Symbol { name: symbol.name, start: symbol.address, external: symbol.external }
    }

    /// Where the function begins, if that is known.
    pub fn start(&self) -> Option<u64> {
        match self {
            Place::Symbol { start, .. } | Place::Unnamed(start) => Some(*start),
            Place::Plt(_) => None,
        }
    }
}

impl<'a> Bounds<'a> {
    /// Of the module itself and its separate debug file.
    pub fn new(binary: &Elf<'a>, debug: Option<&Elf<'a>>) -> Bounds<'a> {
        let mut symbols = binary.symbols();
        symbols.extend(debug.into_iter().flat_map(Elf::symbols));
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
            return Place::of(symbol);
        }
        if let Some(name) = self.plt.name(address) {
            return Place::Plt(format!("{name}@plt"));
        }
        // A return address that nobody called from, as the C library makes for new contexts, is the start of a
        // function; one byte before it is what was recorded.
        let after = self.symbols.partition_point(|s| s.address <= address);
        if let Some(next) = self.symbols.get(after).filter(|s| entry.is_none() && s.address == address + 1) {
            return Place::of(next);
        }
        match entry.map_or_else(|| self.gap_start(address), |(start, _)| start) {
            start if start == self.entry => Place::Symbol { name: ENTRY_NAME, start, external: true },
            start => Place::Unnamed(start),
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

fn leading_underscores(name: &str) -> usize {
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
        });
        Bounds {
            symbols: symbols.collect(),
            unwind: unwind.to_vec(),
            code: vec![(0x100, 0x1000)],
            plt: Plt::default(),
            entry: 0x200,
        }
    }

    fn named(name: &'static str, start: u64) -> Place<'static> {
        Place::Symbol { name, start, external: true }
    }

    #[test]
    fn a_made_up_return_address_is_the_function_behind_it() {
        let b =
            bounds(&[(0x100, 0x20, "a"), (0x130, 0x20, "start_context")], &[(0x100, 0x120), (0x130, 0x150)]);
        assert_eq!(b.find(0x12f), named("start_context", 0x130));
        assert_eq!(b.find(0x12e), Place::Unnamed(0x120));
        assert_eq!(b.find(0x11f), named("a", 0x100));
    }

    #[test]
    fn a_symbol_is_not_stretched_over_an_unnamed_neighbour() {
        let b = bounds(&[(0x100, 0x20, "a")], &[(0x100, 0x120), (0x120, 0x180)]);
        assert_eq!(b.find(0x11f), named("a", 0x100));
        assert_eq!(b.find(0x120), Place::Unnamed(0x120));
        assert_eq!(b.find(0x17f), Place::Unnamed(0x120));
        assert_eq!(b.find(0x180), Place::Unnamed(0x180));
        assert_eq!(b.find(0x190), Place::Unnamed(0x180));
        assert_eq!(b.find(0x50), Place::Unnamed(0x50));
    }

    #[test]
    fn a_symbol_without_size_reaches_the_end_of_its_entry() {
        let b = bounds(&[(0x100, 0, "start")], &[(0x100, 0x140), (0x140, 0x150)]);
        assert_eq!(b.find(0x13f), named("start", 0x100));
        assert_eq!(b.find(0x140), Place::Unnamed(0x140));
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
}
