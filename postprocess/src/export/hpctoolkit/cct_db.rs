//! `cct.db`: the values of each context by part.

use std::io;
use std::path::Path;

use super::cells::{Cell, Slot};
use super::file::{DatabaseFile, Format};
use super::section::Section;

const FORMAT: Format = Format { name: "cct.db", id: b"ctxt", footer: b"__ctx.db", sections: 1 };
/// Bytes of the description of a context.
const INFO: u8 = 32;

/// `cct.db` while contexts are added in order.
pub(super) struct CctDb {
    file: DatabaseFile,
    /// The array of descriptions.
    infos: Section,
    contexts: u32,
}

/// A value of a context: whose it is, the part's place among all profiles, where 0 is the summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PartValue {
    pub slot: Slot,
    pub profile: u32,
    pub value: f64,
}

impl CctDb {
    pub fn create(dir: &Path) -> io::Result<CctDb> {
        Ok(CctDb { file: FORMAT.create(dir)?, infos: Section::from(0), contexts: 0 })
    }

    /// Adds the next context. Values are sorted by slot and profile.
    pub fn add(&mut self, values: &[PartValue]) -> io::Result<()> {
        let mut block = Section::from(self.file.here());
        for value in values {
            block.u32(value.profile);
            block.f64(value.value);
        }
        let index_address = block.here();
        let mut start = 0;
        let slots = values.chunk_by(|a, b| a.slot == b.slot);
        let metrics = slots.clone().count() as u16;
        for of_slot in slots {
            block.u16(of_slot[0].slot.id());
            block.u64(start);
            start += of_slot.len() as u64;
        }
        self.infos.u64(values.len() as u64);
        self.infos.u64(block.base());
        self.infos.u16(metrics);
        self.infos.align(8);
        self.infos.u64(index_address);
        self.contexts += 1;
        self.file.append(&block)
    }

    /// Completes the file.
    pub fn finish(mut self) -> io::Result<()> {
        let mut section = Section::from(self.file.here());
        section.u64(section.base() + 16);
        section.u32(self.contexts);
        section.u8(INFO);
        section.align(8);
        section.append(&self.infos);
        self.file.append(&section)?;
        self.file.finish(&[section.extent()])
    }
}

/// Goes through the cells of all parts context by context.
pub(super) struct ByContext<'a> {
    parts: &'a [Vec<Cell>],
    /// How far each part is read.
    read: Vec<usize>,
}

impl<'a> ByContext<'a> {
    pub fn new(parts: &'a [Vec<Cell>]) -> ByContext<'a> {
        ByContext { parts, read: vec![0; parts.len()] }
    }

    /// The values of a context, which comes after those asked for before, sorted by slot and profile.
    pub fn next(&mut self, context: u32, values: &mut Vec<PartValue>) {
        values.clear();
        for ((cells, read), profile) in self.parts.iter().zip(&mut self.read).zip(1..) {
            let here = cells[*read..].iter().take_while(|cell| cell.node == context);
            values.extend(here.map(|cell| PartValue { slot: cell.slot, profile, value: cell.value }));
            *read += cells[*read..].iter().take_while(|cell| cell.node == context).count();
        }
        values.sort_by_key(|value| value.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::hpctoolkit::cells::Scope;

    #[test]
    fn contexts_get_the_values_of_all_parts() {
        let (point, execution) = (Slot::new(0, Scope::Point, 1), Slot::new(0, Scope::Execution, 1));
        let cell = |node, slot, value| Cell { node, slot, value };
        let parts = [
            vec![cell(0, execution, 3.0), cell(2, point, 1.0), cell(2, execution, 3.0)],
            vec![cell(0, execution, 5.0), cell(1, execution, 5.0)],
            vec![],
            vec![cell(2, execution, 7.0)],
        ];
        let mut by_context = ByContext::new(&parts);
        let mut of = |context| {
            let mut values = Vec::new();
            by_context.next(context, &mut values);
            values.iter().map(|v| (v.slot.id(), v.profile, v.value)).collect::<Vec<_>>()
        };
        assert_eq!(of(0), [(3, 1, 3.0), (3, 2, 5.0)]);
        assert_eq!(of(1), [(3, 2, 5.0)]);
        assert_eq!(of(2), [(0, 1, 1.0), (3, 1, 3.0), (3, 4, 7.0)]);
        assert_eq!(of(3), []);
    }
}
