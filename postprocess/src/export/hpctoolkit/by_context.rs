//! The values of all parts context by context, read back from `profile.db`.
//!
//! Each part's values are sorted by context, so all parts are read side by side from their beginnings: what is in memory does
//! not grow with the values.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::cells::Slot;

/// Records that are read at a time.
const BATCH: u64 = 256;

/// A value of a context: which one it is, and the part's place among all profiles, where 0 is the summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PartValue {
    pub slot: Slot,
    pub profile: u32,
    pub value: f64,
}

/// Where the values of a part and the index of contexts over them are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub values: u64,
    pub value_address: u64,
    pub contexts: u32,
    pub index_address: u64,
}

/// Bytes of a value: number, value.
const VALUE: usize = 10;
/// Bytes of an entry of the index: context, place of its first value.
const ENTRY: usize = 12;

/// Goes through the contexts.
pub(super) struct ByContext<'a> {
    file: &'a File,
    parts: Vec<Part>,
}

/// How far a part is read.
struct Part {
    values: Records<VALUE>,
    index: Records<ENTRY>,
    count: u64,
    /// The values up to this place are read.
    read: u64,
    /// The context whose values come next.
    next: Option<u32>,
}

impl<'a> ByContext<'a> {
    /// The blocks of the parts, in the order of the profiles.
    pub fn new(file: &'a File, blocks: &[Block]) -> io::Result<ByContext<'a>> {
        let part = |block: &Block| {
            let mut index = Records::new(block.index_address, u64::from(block.contexts));
            let next = index.next(file)?.map(|entry| entry_of(entry).0);
            let values = Records::new(block.value_address, block.values);
            Ok(Part { values, index, count: block.values, read: 0, next })
        };
        Ok(ByContext { file, parts: blocks.iter().map(part).collect::<io::Result<_>>()? })
    }

    /// Puts the values of a context, which comes after those asked for before, into `found`, sorted by slot and profile.
    pub fn next(&mut self, context: u32, found: &mut Vec<PartValue>) -> io::Result<()> {
        found.clear();
        for (part, profile) in self.parts.iter_mut().zip(1..).filter(|(part, _)| part.next == Some(context)) {
            let following = part.index.next(self.file)?.map(entry_of);
            let end = following.map_or(part.count, |(_, start)| start);
            for _ in part.read..end {
                if let Some([a, b, value @ ..]) = part.values.next(self.file)? {
                    let slot = Slot::of_id(u16::from_le_bytes([a, b]));
                    found.push(PartValue { slot, profile, value: f64::from_le_bytes(value) });
                }
            }
            (part.read, part.next) = (end, following.map(|(context, _)| context));
        }
        found.sort_by_key(|value| value.slot);
        Ok(())
    }
}

/// Context and place of its first value.
fn entry_of(entry: [u8; ENTRY]) -> (u32, u64) {
    let [a, b, c, d, start @ ..] = entry;
    (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(start))
}

/// Records of one size, one behind the other.
struct Records<const SIZE: usize> {
    /// Where what is not in the buffer begins, and how many records that are.
    address: u64,
    left: u64,
    buffer: Vec<u8>,
    used: usize,
}

impl<const SIZE: usize> Records<SIZE> {
    fn new(address: u64, count: u64) -> Records<SIZE> {
        Records { address, left: count, buffer: Vec::new(), used: 0 }
    }

    fn next(&mut self, file: &File) -> io::Result<Option<[u8; SIZE]>> {
        if self.used == self.buffer.len() && self.left > 0 {
            let count = self.left.min(BATCH);
            self.buffer.resize(count as usize * SIZE, 0);
            file.read_exact_at(&mut self.buffer, self.address)?;
            self.address += self.buffer.len() as u64;
            self.left -= count;
            self.used = 0;
        }
        let record = self.buffer[self.used..].first_chunk().copied();
        self.used = (self.used + SIZE).min(self.buffer.len());
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use crate::export::hpctoolkit::profile_db::ProfileDb;

    #[test]
    fn contexts_get_the_values_of_all_parts() {
        let dir = tempfile::tempdir().unwrap();
        let mut written = ProfileDb::create(dir.path()).unwrap();
        // Contexts of which more values are read than at a time.
        let long: Vec<(u32, u16, f64)> =
            (0..1000).map(|i| (3 + i / 2, (i % 2) as u16, f64::from(i))).collect();
        let parts = [
            vec![(0, 3, 3.0), (2, 0, 1.0), (2, 3, 3.0)],
            vec![(0, 3, 5.0), (1, 3, 5.0)],
            vec![],
            [vec![(2, 3, 7.0)], long].concat(),
        ];
        parts.iter().for_each(|part| written.add(&[], part.iter().copied()).unwrap());
        let mut by_context = written.by_context().unwrap();
        let mut of = |context| {
            let mut values = Vec::new();
            by_context.next(context, &mut values).unwrap();
            values.iter().map(|v| (v.slot.id(), v.profile, v.value)).collect::<Vec<_>>()
        };
        assert_eq!(of(0), [(3, 1, 3.0), (3, 2, 5.0)]);
        assert_eq!(of(1), [(3, 2, 5.0)]);
        assert_eq!(of(2), [(0, 1, 1.0), (3, 1, 3.0), (3, 4, 7.0)]);
        for context in 3..503 {
            let first = f64::from(2 * (context - 3));
            assert_eq!(of(context), [(0, 4, first), (1, 4, first + 1.0)]);
        }
        assert_eq!(of(503), []);
    }
}
