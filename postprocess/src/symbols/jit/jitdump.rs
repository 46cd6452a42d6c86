//! jitdump: a binary file of records about generated code, as the kernel's `jitdump-specification.txt` describes it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code_map::{Code, CodeMap, Line};

/// `JiTD` in the writer's byte order.
const MAGIC: u32 = 0x4A69_5444;
const VERSION: u32 = 1;
/// Bytes of the file's head that every version 1 has.
const HEAD: usize = 40;
/// Bytes of a record's head: id, length with the head, time.
const RECORD_HEAD: usize = 16;
/// A function was generated.
const LOAD: u32 = 0;
/// A function was moved.
const MOVE: u32 = 1;
/// Lines of the function that the next load describes.
const DEBUG_INFO: u32 = 2;
/// In place of a file's name: that of the entry before.
const SAME_FILE: &[u8] = b"\xff";

/// Functions of a jitdump file; what is damaged or cut off at its end is left out. `None` if it is none.
pub(super) fn parse(bytes: &[u8]) -> Option<CodeMap> {
    let big_endian = match bytes.first_chunk().copied()? {
        magic if u32::from_le_bytes(magic) == MAGIC => false,
        magic if u32::from_be_bytes(magic) == MAGIC => true,
        _ => return None,
    };
    let mut head = Reader { bytes: bytes.get(4..HEAD)?, big_endian };
    if head.u32()? != VERSION {
        return None;
    }
    let length = (head.u32()? as usize).max(HEAD);
    let mut file = Reader { bytes: bytes.get(length..)?, big_endian };
    let mut functions = Functions::default();
    while let Some((id, record)) = file.record() {
        // A record that ends too soon says nothing; the next one may.
        let _ = match id {
            LOAD => functions.load(record),
            MOVE => functions.relocate(record),
            DEBUG_INFO => functions.debug_info(record),
            _ => Some(()),
        };
    }
    Some(functions.map)
}

#[derive(Default)]
struct Functions {
    map: CodeMap,
    /// Lines of functions that are not loaded yet, by their address.
    lines: FxHashMap<u64, Vec<(u64, Arc<str>, u32)>>,
}

impl Functions {
    fn load(&mut self, mut record: Reader<'_>) -> Option<()> {
        let (_pid, _tid, _vma) = (record.u32()?, record.u32()?, record.u64()?);
        let (start, size, _index) = (record.u64()?, record.u64()?, record.u64()?);
        let name = String::from_utf8_lossy(record.text()?).into();
        let lines = self.lines.remove(&start).unwrap_or_default().into_iter();
        let line = |(address, file, line): (u64, Arc<str>, u32)| {
            Some(Line { offset: address.checked_sub(start)?, file, line })
        };
        let mut lines: Vec<Line> = lines.filter_map(line).collect();
        lines.sort_by_key(|l| l.offset);
        self.map.insert(start, size, Arc::new(Code { name, lines }));
        Some(())
    }

    fn relocate(&mut self, mut record: Reader<'_>) -> Option<()> {
        let (_pid, _tid, _vma) = (record.u32()?, record.u32()?, record.u64()?);
        let (from, to, size) = (record.u64()?, record.u64()?, record.u64()?);
        self.map.relocate(from, to, size);
        Some(())
    }

    fn debug_info(&mut self, mut record: Reader<'_>) -> Option<()> {
        let (start, count) = (record.u64()?, record.u64()?);
        let mut lines = Vec::new();
        let mut file: Arc<str> = "".into();
        for _ in 0..count {
            let Some((address, line, name)) = record.line() else { break };
            if name != SAME_FILE && name != file.as_bytes() {
                file = String::from_utf8_lossy(name).into();
            }
            lines.push((address, file.clone(), line));
        }
        self.lines.insert(start, lines);
        Some(())
    }
}

/// Takes fields off the front.
struct Reader<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*field)
    }

    fn u32(&mut self) -> Option<u32> {
        let field = self.array()?;
        Some(if self.big_endian { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) })
    }

    fn u64(&mut self) -> Option<u64> {
        let field = self.array()?;
        Some(if self.big_endian { u64::from_be_bytes(field) } else { u64::from_le_bytes(field) })
    }

    /// Bytes up to a zero byte.
    fn text(&mut self) -> Option<&'a [u8]> {
        let zero = self.bytes.iter().position(|b| *b == 0)?;
        let text = &self.bytes[..zero];
        self.bytes = &self.bytes[zero + 1..];
        Some(text)
    }

    /// Address, line and file name of an entry of debug information.
    fn line(&mut self) -> Option<(u64, u32, &'a [u8])> {
        let (address, line, _discriminator) = (self.u64()?, self.u32()?, self.u32()?);
        Some((address, line, self.text()?))
    }

    /// Id and body of the next record, if it is complete.
    fn record(&mut self) -> Option<(u32, Reader<'a>)> {
        let (id, length, _time) = (self.u32()?, self.u32()?, self.u64()?);
        let length = (length as usize).checked_sub(RECORD_HEAD)?;
        let (body, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some((id, Reader { bytes: body, big_endian: self.big_endian }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(id: u32, fields: &[&[u8]]) -> Vec<u8> {
        let body = fields.concat();
        let length = (RECORD_HEAD + body.len()) as u32;
        [&id.to_le_bytes()[..], &length.to_le_bytes(), &7u64.to_le_bytes(), &body].concat()
    }

    fn numbers(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    fn line(address: u64, line: u32, file: &[u8]) -> Vec<u8> {
        [&address.to_le_bytes()[..], &line.to_le_bytes(), &0u32.to_le_bytes(), file, b"\0"].concat()
    }

    /// Two functions at 0x1000 and 0x2000, the first with lines, the second moved to 0x3000.
    pub(in crate::symbols::jit) fn example() -> Vec<u8> {
        let ids = [5u32.to_le_bytes(), 5u32.to_le_bytes()].concat();
        let head = [MAGIC, VERSION, HEAD as u32, 62, 0, 5].map(u32::to_le_bytes).concat();
        let lines = [line(0x1000, 3, b"/src/a.lua"), line(0x1008, 4, SAME_FILE)].concat();
        [
            head,
            numbers(&[1, 0]),
            record(DEBUG_INFO, &[&numbers(&[0x1000, 2]), &lines]),
            record(LOAD, &[&ids, &numbers(&[0x1000, 0x1000, 16, 1]), b"alpha\0", &[0x90; 16]]),
            record(99, &[b"from a later version"]),
            record(LOAD, &[&ids, &numbers(&[0x2000, 0x2000, 16, 2]), b"beta\0", &[0x90; 16]]),
            record(MOVE, &[&ids, &numbers(&[0x3000, 0x2000, 0x3000, 16, 2])]),
        ]
        .concat()
    }

    #[test]
    fn functions_have_names_places_and_lines() {
        let map = parse(&example()).unwrap();
        let (alpha, offset) = map.find(0x1009).unwrap();
        assert_eq!((&*alpha.name, offset), ("alpha", 9));
        let line = |offset| alpha.line(offset).map(|l| (&*l.file, l.line));
        assert_eq!((line(7), line(8)), (Some(("/src/a.lua", 3)), Some(("/src/a.lua", 4))));
        assert!(map.find(0x2000).is_none());
        assert_eq!(&*map.find(0x300f).unwrap().0.name, "beta");
    }

    #[test]
    fn what_is_no_jitdump_is_told_from_a_short_one() {
        assert!(parse(b"").is_none());
        assert!(parse(b"7f0010 20 add\n").is_none());
        let bytes = example();
        for length in HEAD..bytes.len() {
            assert!(parse(&bytes[..length]).is_some(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            good_head in any::<bool>(),
        ) {
            if good_head {
                bytes.splice(..0, example()[..HEAD].iter().copied());
            }
            parse(&bytes);
        }

        #[test]
        fn damage_is_read_over(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9)) {
            let mut bytes = example();
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if let Some(map) = parse(&bytes) {
                map.find(0x1004);
            }
        }
    }
}
