//! Generated code by address.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A function that was generated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub name: Arc<str>,
    /// Statements by offset from the function's start, ascending.
    pub lines: Vec<Line>,
}

/// A statement that begins at an offset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub offset: u64,
    pub file: Arc<str>,
    pub line: u32,
}

impl Code {
    /// The statement at an offset.
    pub fn line(&self, offset: u64) -> Option<&Line> {
        self.lines[..self.lines.partition_point(|l| l.offset <= offset)].last()
    }
}

/// A range of memory, by its start.
#[derive(Clone, Debug)]
struct Range {
    end: u64,
    /// Where the function began; the start of the range unless its beginning was replaced.
    origin: u64,
    code: Arc<Code>,
}

/// Functions by address. Memory may be used again: what comes later replaces what was there.
#[derive(Debug, Default)]
pub(super) struct CodeMap(BTreeMap<u64, Range>);

impl CodeMap {
    /// Puts a function at an address. Nothing happens if it is empty or runs over the end of memory.
    pub fn insert(&mut self, start: u64, size: u64, code: Arc<Code>) {
        let Some(end) = start.checked_add(size).filter(|end| *end > start) else { return };
        self.clear(start, end);
        self.0.insert(start, Range { end, origin: start, code });
    }

    /// Moves the function that begins at `from`, if there is one.
    pub fn relocate(&mut self, from: u64, to: u64, size: u64) {
        let Some(range) = self.0.get(&from).filter(|r| r.origin == from) else { return };
        let (end, code) = (range.end, range.code.clone());
        self.clear(from, end);
        self.insert(to, size, code);
    }

    /// The function at an address, and the offset in it.
    pub fn find(&self, address: u64) -> Option<(&Code, u64)> {
        let (_, range) = self.0.range(..=address).next_back()?;
        (address < range.end).then(|| (&*range.code, address - range.origin))
    }

    /// Frees a range; what reaches over its ends is cut.
    fn clear(&mut self, start: u64, end: u64) {
        if let Some((_, before)) = self.0.range_mut(..start).next_back()
            && before.end > start
        {
            let rest = before.clone();
            before.end = start;
            if rest.end > end {
                self.0.insert(end, rest);
            }
        }
        while let Some((&at, _)) = self.0.range(start..end).next() {
            let Some(range) = self.0.remove(&at) else { break };
            if range.end > end {
                self.0.insert(end, range);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(name: &str) -> Arc<Code> {
        Arc::new(Code { name: name.into(), lines: Vec::new() })
    }

    fn found(map: &CodeMap, address: u64) -> Option<(String, u64)> {
        map.find(address).map(|(code, offset)| (code.name.to_string(), offset))
    }

    #[test]
    fn later_code_replaces_what_was_there() {
        let mut map = CodeMap::default();
        map.insert(100, 100, code("a"));
        map.insert(140, 20, code("b"));
        let at =
            |map: &CodeMap, address| found(map, address).map(|(name, offset)| format!("{name}+{offset}"));
        assert_eq!(at(&map, 99), None);
        assert_eq!(at(&map, 139).as_deref(), Some("a+39"));
        assert_eq!(at(&map, 140).as_deref(), Some("b+0"));
        assert_eq!(at(&map, 160).as_deref(), Some("a+60"));
        assert_eq!(at(&map, 200), None);
        map.relocate(140, 1000, 20);
        assert_eq!((at(&map, 140), at(&map, 1019).as_deref()), (None, Some("b+19")));
        map.insert(u64::MAX, 2, code("c"));
        assert_eq!(at(&map, u64::MAX), None);
    }

    proptest! {
        #[test]
        fn the_last_function_put_at_an_address_is_found(
            functions in prop::collection::vec((0u64..60, 0u64..30), 0..20),
        ) {
            let mut map = CodeMap::default();
            for (index, (start, size)) in functions.iter().enumerate() {
                map.insert(*start, *size, code(&index.to_string()));
            }
            for address in 0..100 {
                let last = functions.iter().rposition(|(s, n)| (*s..s + n).contains(&address));
                let expected = last.map(|i| (i.to_string(), address - functions[i].0));
                prop_assert_eq!(found(&map, address), expected);
            }
        }
    }
}
