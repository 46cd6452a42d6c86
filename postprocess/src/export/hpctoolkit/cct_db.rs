//! `cct.db`: the values of each context by part.

use std::io;
use std::path::Path;

use super::by_context::PartValue;
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
