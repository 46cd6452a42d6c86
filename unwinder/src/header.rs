//! Signal context: yes
//!
//! `.eh_frame_hdr`: the sorted table that the linker makes of a module's frame descriptions.

use core::ops::Range;

use crate::error::TableError;
use crate::reader::{PointerBase, Reader};
use crate::section::Section;

/// `DW_EH_PE_datarel | DW_EH_PE_sdata4`, the only table encoding that can be searched and that linkers emit.
const SEARCHABLE: u8 = 0x3b;
/// Bytes of a table entry: start of the code and address of its description, both relative to the section.
const ENTRY: usize = 8;

/// A checked `.eh_frame_hdr`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    section: Section<'a>,
    frames_address: u64,
    table: usize,
    count: usize,
}

/// What the table says of an address: the description that may cover it, and where the next code with one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Address of the frame description entry; `None` before the first one.
    pub(crate) fde: Option<u64>,
    /// Start of the next described code; `None` after the last one.
    pub(crate) next_start: Option<u64>,
}

impl<'a> Header<'a> {
    /// Checks the fixed part of a `.eh_frame_hdr`.
    pub(crate) fn parse(section: Section<'a>) -> Result<Self, TableError> {
        let mut reader = Reader::new(section, 0);
        let base = PointerBase { bias: 0, data: Some(section.address()) };
        if reader.u8() != Some(1) {
            return Err(TableError::Version);
        }
        let [frames, count, table] = [reader.u8(), reader.u8(), reader.u8()];
        let frames_address = frames.and_then(|encoding| reader.pointer(encoding, base));
        let frames_address = frames_address.ok_or(TableError::Encoding)?;
        let count = count.and_then(|encoding| reader.pointer(encoding, base)).ok_or(TableError::Encoding)?;
        if table != Some(SEARCHABLE) {
            return Err(TableError::Encoding);
        }
        let table = reader.position();
        let room = section.bytes().len().saturating_sub(table) / ENTRY;
        match usize::try_from(count) {
            Ok(count) if count <= room => Ok(Self { section, frames_address, table, count }),
            _ => Err(TableError::OutOfBounds),
        }
    }

    /// The bytes.
    pub(crate) fn section(&self) -> Section<'a> {
        self.section
    }

    /// Address of `.eh_frame`.
    pub(crate) fn frames_address(&self) -> u64 {
        self.frames_address
    }

    /// Looks `pc` up by binary search.
    pub(crate) fn find(&self, pc: u64) -> Option<Candidate> {
        let mut range = Range { start: 0, end: self.count };
        while range.start < range.end {
            let middle = range.start + (range.end - range.start) / 2;
            if self.field(middle, 0)? <= pc {
                range.start = middle + 1;
            } else {
                range.end = middle;
            }
        }
        let fde = match range.start.checked_sub(1) {
            Some(index) => Some(self.field(index, 4)?),
            None => None,
        };
        let next_start = if range.start < self.count { Some(self.field(range.start, 0)?) } else { None };
        Some(Candidate { fde, next_start })
    }

    fn field(&self, index: usize, offset: usize) -> Option<u64> {
        let word = self.section.word_at(self.table + index * ENTRY + offset)?;
        Some(self.section.address().wrapping_add(i64::from(word as i32) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn header(count: u32, entries: &[(i32, i32)]) -> Vec<u8> {
        let mut bytes = std::vec![1, 0x1b, 0x03, 0x3b];
        bytes.extend(0x100i32.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        for (start, fde) in entries {
            bytes.extend(start.to_le_bytes());
            bytes.extend(fde.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn finds_neighbours() {
        let bytes = header(2, &[(-0x200, 0x10), (0x300, 0x20)]);
        let header = Header::parse(Section::new(0x1000, &bytes)).unwrap();
        assert_eq!(header.frames_address(), 0x1104);
        let find = |pc| header.find(pc).map(|found| (found.fde, found.next_start)).unwrap();
        assert_eq!(find(0xdff), (None, Some(0xe00)));
        assert_eq!(find(0xe00), (Some(0x1010), Some(0x1300)));
        assert_eq!(find(0x12ff), (Some(0x1010), Some(0x1300)));
        assert_eq!(find(0x1300), (Some(0x1020), None));
        assert_eq!(find(u64::MAX), (Some(0x1020), None));
    }

    #[test]
    fn empty_and_false_tables() {
        let bytes = header(0, &[]);
        let empty = Header::parse(Section::new(0x1000, &bytes)).unwrap();
        assert_eq!(empty.find(5), Some(Candidate { fde: None, next_start: None }));
        let parse = |bytes: &[u8]| Header::parse(Section::new(0x1000, bytes)).err();
        assert_eq!(parse(&header(3, &[(0, 0), (1, 1)])), Some(TableError::OutOfBounds));
        assert_eq!(parse(&[]), Some(TableError::Version));
        assert_eq!(parse(&[1]), Some(TableError::Encoding));
        let mut odd = header(0, &[]);
        odd[3] = 0x1b;
        assert_eq!(parse(&odd), Some(TableError::Encoding));
    }
}
