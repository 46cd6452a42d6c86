//! What code a process has mapped, and the walk over its stacks.

use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use falloff_format::Frame as FormatFrame;
use unwinder::{
    CACHE_LENGTH, Cache, End, Frame, IndexEntry, Module, Modules, Native, Section, StackCopy, Tables, index,
    walk,
};

use super::object::Object;
use super::record::{Mapped, Sample};
use super::registers::registers;
use super::ring::page_size;

/// Index of the module that stands for code of no file, whose addresses are those of the process.
pub(super) const ANONYMOUS: u16 = 1;

/// Executable memory that holds a file.
#[derive(Debug)]
pub(super) struct Mapping {
    pub object: Object,
    /// Index of the module in the measurement.
    pub index: u16,
    pub start: u64,
    pub end: u64,
    /// Address in the process minus virtual address of the file.
    pub bias: u64,
    /// Sorted frame descriptions of each of the object's tables.
    indices: Vec<Vec<IndexEntry>>,
}

impl Mapping {
    /// What a file at this place is.
    pub(super) fn new(object: Object, mapped: &Mapped, index: u16) -> Mapping {
        let page = page_size() as u64;
        let holds = |s: &&super::object::Segment| {
            s.offset / page * page <= mapped.offset && mapped.offset < s.offset + s.code.bytes.len() as u64
        };
        let bias = object.segments.iter().find(holds).map_or(mapped.start, |segment| {
            mapped
                .start
                .wrapping_sub(mapped.offset)
                .wrapping_add(segment.offset)
                .wrapping_sub(segment.code.address)
        });
        let indices = (0..object.frames.len()).map(|table| entries(&object, table, bias)).collect();
        Mapping { object, index, start: mapped.start, end: mapped.end, bias, indices }
    }

    /// The module as the walk sees it from `pc`.
    fn module(&self, pc: u64) -> Module<'_> {
        let covers = |entries: &[IndexEntry]| {
            let after = entries.partition_point(|e| e.start <= pc);
            after.checked_sub(1).and_then(|i| entries.get(i)).is_some_and(|e| pc < e.end)
        };
        let tables = || self.object.frames.iter().zip(&self.indices);
        let table = tables().find(|(_, entries)| covers(entries)).or_else(|| tables().next());
        let code = self.object.segments.iter().map(|s| section(&s.code, self.bias));
        Module {
            start: self.start,
            end: self.end,
            id: u32::from(self.index),
            entry: if self.object.entry == 0 { 0 } else { self.bias.wrapping_add(self.object.entry) },
            is_loader: false,
            code: code.into_iter().find(|c| c.address() <= pc && pc < c.end()).unwrap_or_default(),
            tables: table.map_or(Tables::NONE, |((format, frames), entries)| {
                Tables::from_index(entries, section(frames, self.bias), *format, self.bias)
            }),
            closed: false,
        }
    }
}

/// The index of one table; empty if it cannot be read.
fn entries(object: &Object, table: usize, bias: u64) -> Vec<IndexEntry> {
    let Some((format, piece)) = object.frames.get(table) else { return Vec::new() };
    let section = section(piece, bias);
    let mut entries = vec![IndexEntry::default(); index::count(section, *format).unwrap_or(0)];
    let filled = index::build(section, *format, bias, &mut entries).unwrap_or(0);
    entries.truncate(filled);
    entries
}

fn section(piece: &super::object::Piece, bias: u64) -> Section<'_> {
    Section::new(bias.wrapping_add(piece.address), &piece.bytes)
}

/// The code of a process. A copy is that of a forked child.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// By address, none over another.
    mappings: Vec<Rc<Mapping>>,
    /// Rules that walks over just these mappings have found.
    cache: Rc<[AtomicU64]>,
}

impl Space {
    /// Nothing.
    pub(super) fn new() -> Space {
        Space { mappings: Vec::new(), cache: fresh_cache() }
    }

    /// Puts a mapping over what was there.
    pub(super) fn map(&mut self, mapping: Rc<Mapping>) {
        self.clear(mapping.start, mapping.end);
        let place = self.mappings.partition_point(|m| m.start < mapping.start);
        self.mappings.insert(place, mapping);
    }

    /// Nothing of a file is in this range any more.
    pub(super) fn clear(&mut self, start: u64, end: u64) {
        self.mappings.retain(|m| m.end <= start || end <= m.start);
        self.cache = fresh_cache();
    }

    fn at(&self, pc: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|m| m.start <= pc);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (pc < mapping.end).then_some(mapping)
    }

    /// Walks the stack of a sample into `frames`; gives the path, innermost frame first, and why it ended. `None` if it was not
    /// in user mode at all.
    pub(super) fn walk<'f>(&self, sample: &Sample, frames: &'f mut [Frame]) -> Option<(&'f [Frame], End)> {
        let registers = registers(sample.registers.as_ref()?);
        let sp = registers.get(<Native as unwinder::Arch>::SP)?;
        let cache = Cache::new(&self.cache)?;
        let mut stack = StackCopy::new(sp, &sample.stack);
        let walked = walk::<Native, _, _>(&registers, self, &cache, &mut stack, frames);
        Some((frames.get(..walked.depth)?, walked.end))
    }

    /// A walked frame as the measurement file names it.
    pub(super) fn frame(&self, frame: &Frame) -> FormatFrame {
        match self.at(frame.pc) {
            Some(mapping) => FormatFrame::new(mapping.index, frame.pc.wrapping_sub(mapping.bias)),
            None => FormatFrame::new(ANONYMOUS, frame.pc),
        }
    }
}

impl Modules for Space {
    fn find(&self, pc: u64) -> Option<Module<'_>> {
        self.at(pc).map(|mapping| mapping.module(pc))
    }
}

fn fresh_cache() -> Rc<[AtomicU64]> {
    (0..CACHE_LENGTH).map(|_| AtomicU64::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(index: u16, start: u64, end: u64) -> Rc<Mapping> {
        let mapped = Mapped { start, end, offset: 0, path: b"/nowhere".to_vec() };
        Rc::new(Mapping::new(Object::read(&mapped.path, 0), &mapped, index))
    }

    #[test]
    fn later_mappings_replace_earlier_ones() {
        let mut space = Space::new();
        space.map(mapping(2, 0x1000, 0x3000));
        space.map(mapping(3, 0x5000, 0x6000));
        let index = |space: &Space, pc| space.at(pc).map(|m| m.index);
        assert_eq!(
            [index(&space, 0xfff), index(&space, 0x2fff), index(&space, 0x5000)],
            [None, Some(2), Some(3)]
        );
        space.map(mapping(4, 0x2000, 0x4000));
        assert_eq!(
            [index(&space, 0x1000), index(&space, 0x2000), index(&space, 0x5fff)],
            [None, Some(4), Some(3)]
        );
        space.clear(0, u64::MAX);
        assert_eq!(space.frame(&Frame { pc: 0x5000, module: 0 }), FormatFrame::new(ANONYMOUS, 0x5000));
    }
}
