//! Signal context: yes
//!
//! A cursor over the bytes of a section: integers, LEB128 and encoded pointers (`DW_EH_PE_*`), all bounds-checked.

use crate::section::Section;

/// `DW_EH_PE_omit`: no pointer is stored.
pub(crate) const OMIT: u8 = 0xff;
const FORMAT: u8 = 0x0f;
const APPLICATION: u8 = 0x70;
const INDIRECT: u8 = 0x80;
const PC_RELATIVE: u8 = 0x10;
const DATA_RELATIVE: u8 = 0x30;
/// Bytes in the longest LEB128 that a 64-bit value can need.
const LEB_LIMIT: u32 = 10;

/// What encoded pointers are relative to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointerBase {
    /// Added to absolute pointers: the load bias of tables that nobody relocated.
    pub(crate) bias: u64,
    /// Added to data-relative pointers: the address of `.eh_frame_hdr`, if there is one.
    pub(crate) data: Option<u64>,
}

/// A position in a section; every read advances it or yields `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    section: Section<'a>,
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// Reads `section` from byte `at` up to its end.
    pub(crate) fn new(section: Section<'a>, at: usize) -> Self {
        Self { section, at, end: section.bytes().len() }
    }

    /// Forbids reading at or beyond byte `end` of the section.
    pub(crate) fn limit(&mut self, end: usize) -> Option<()> {
        if end > self.end || end < self.at {
            return None;
        }
        self.end = end;
        Some(())
    }

    /// Byte offset of the next read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// First byte offset that may not be read.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Whether everything has been read.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// Moves to byte `offset`.
    pub(crate) fn seek(&mut self, offset: usize) -> Option<()> {
        if offset > self.end {
            return None;
        }
        self.at = offset;
        Some(())
    }

    /// Steps over `count` bytes and yields them.
    pub(crate) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        if end > self.end {
            return None;
        }
        let bytes = self.section.bytes().get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N as u64)?.try_into().ok()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        if self.at >= self.end {
            return None;
        }
        let byte = *self.section.bytes().get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    /// An unsigned LEB128; `None` if it is longer than 64 bits can need.
    #[inline]
    pub(crate) fn uleb(&mut self) -> Option<u64> {
        let first = self.u8()?;
        if first & 0x80 == 0 {
            return Some(u64::from(first));
        }
        self.long_uleb(u64::from(first & 0x7f))
    }

    /// The rest of an unsigned LEB128 of more than one byte.
    fn long_uleb(&mut self, first: u64) -> Option<u64> {
        let mut value = first;
        for group in 1..LEB_LIMIT {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(group * 7);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed LEB128; `None` if it is longer than 64 bits can need.
    pub(crate) fn sleb(&mut self) -> Option<i64> {
        let mut value = 0u64;
        for group in 0..LEB_LIMIT {
            let byte = self.u8()?;
            let shift = group * 7;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                if byte & 0x40 != 0 && shift + 7 < 64 {
                    value |= u64::MAX << (shift + 7);
                }
                return Some(value as i64);
            }
        }
        None
    }

    /// A register number that fits a column.
    pub(crate) fn register(&mut self) -> Option<u16> {
        u16::try_from(self.uleb()?).ok()
    }

    /// The bytes of a zero-terminated string, at most eight of them.
    pub(crate) fn short_string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        for _ in 0..=8 {
            if self.u8()? == 0 {
                return self.section.bytes().get(start..self.at - 1);
            }
        }
        None
    }

    /// The value part of an encoded pointer, sign-extended, without what it is relative to.
    pub(crate) fn encoded_value(&mut self, encoding: u8) -> Option<u64> {
        match encoding & FORMAT {
            0x00 | 0x04 | 0x0c => self.u64(),
            0x01 => self.uleb(),
            0x02 => self.u16().map(u64::from),
            0x03 => self.u32().map(u64::from),
            0x09 => self.sleb().map(|value| value as u64),
            0x0a => self.u16().map(|value| i64::from(value as i16) as u64),
            0x0b => self.u32().map(|value| i64::from(value as i32) as u64),
            _ => None,
        }
    }

    /// An encoded pointer; `None` for indirect pointers and for bases that code addresses do not use.
    pub(crate) fn pointer(&mut self, encoding: u8, base: PointerBase) -> Option<u64> {
        if encoding == OMIT || encoding & INDIRECT != 0 {
            return None;
        }
        let here = self.section.address().wrapping_add(self.at as u64);
        let value = self.encoded_value(encoding)?;
        match encoding & APPLICATION {
            0 => Some(value.wrapping_add(base.bias)),
            PC_RELATIVE => Some(value.wrapping_add(here)),
            DATA_RELATIVE => Some(value.wrapping_add(base.data?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &[u8]) -> Reader<'_> {
        Reader::new(Section::new(0x1000, bytes), 0)
    }

    #[test]
    fn leb128() {
        assert_eq!(reader(&[0xe5, 0x8e, 0x26]).uleb(), Some(624_485));
        assert_eq!(reader(&[0xc0, 0xbb, 0x78]).sleb(), Some(-123_456));
        assert_eq!(reader(&[0x7f]).sleb(), Some(-1));
        assert_eq!(reader(&[0x80; 20]).uleb(), None);
        assert_eq!(reader(&[0xff; 20]).sleb(), None);
        assert_eq!(reader(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).uleb(), Some(u64::MAX));
        assert_eq!(reader(&[0x80]).uleb(), None);
    }

    #[test]
    fn pointers() {
        let base = PointerBase { bias: 0x10, data: Some(0x4000) };
        assert_eq!(reader(&[8, 0, 0, 0, 0, 0, 0, 0]).pointer(0x00, base), Some(0x18));
        assert_eq!(reader(&[0xfc, 0xff, 0xff, 0xff]).pointer(0x1b, base), Some(0xffc));
        assert_eq!(reader(&[0xfc, 0xff, 0xff, 0xff]).pointer(0x3b, base), Some(0x3ffc));
        assert_eq!(reader(&[0xfc, 0xff, 0xff, 0xff]).pointer(0x03, base), Some(0x1_0000_000c));
        assert_eq!(reader(&[0xfe, 0xff]).pointer(0x1a, base), Some(0xffe));
        assert_eq!(reader(&[1, 0]).pointer(0x12, base), Some(0x1001));
        assert_eq!(reader(&[1]).pointer(0x11, base), Some(0x1001));
        assert_eq!(reader(&[0x7f]).pointer(0x19, base), Some(0xfff));
        assert_eq!(reader(&[0; 8]).pointer(0x9b, base), None, "indirect");
        assert_eq!(reader(&[0; 8]).pointer(0x50, base), None, "aligned");
        assert_eq!(reader(&[0; 8]).pointer(OMIT, base), None);
        assert_eq!(reader(&[0; 4]).pointer(0x3b, PointerBase::default()), None, "no data base");
    }

    #[test]
    fn limits() {
        let mut reader = reader(&[1, 2, 3]);
        assert_eq!(reader.limit(4), None);
        assert_eq!(reader.limit(2), Some(()));
        assert_eq!(reader.u16(), Some(0x201));
        assert!(reader.is_empty());
        assert_eq!(reader.u8(), None);
        assert_eq!(reader.take(u64::MAX), None);
        assert_eq!(reader.seek(3), None);
    }
}
