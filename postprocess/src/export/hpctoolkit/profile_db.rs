//! `profile.db`: the values of each part by context, and a summary of all parts.

use std::io;
use std::path::Path;

use super::by_context::{Block, ByContext};
use super::file::{DatabaseFile, Format};
use super::ids::{self, Id};
use super::section::Section;

const FORMAT: Format = Format { name: "profile.db", id: b"prof", footer: b"_prof.db", sections: 2 };
/// Bytes of the description of a part.
const INFO: u8 = 48;
/// Flag of the summary.
const SUMMARY: u32 = 1;

/// A value: context, number of the metric's value or statistic.
pub(super) type Value = (u32, u16, f64);

/// `profile.db` while parts are added.
pub(super) struct ProfileDb {
    file: DatabaseFile,
    parts: Vec<Block>,
    /// Ids of each part.
    ids: Vec<Vec<Id>>,
}

impl ProfileDb {
    pub fn create(dir: &Path) -> io::Result<ProfileDb> {
        Ok(ProfileDb { file: FORMAT.create(dir)?, parts: Vec::new(), ids: Vec::new() })
    }

    /// Adds a part. Values are sorted by context and number.
    pub fn add(&mut self, ids: &[Id], values: impl Iterator<Item = Value>) -> io::Result<()> {
        let block = self.block(values)?;
        self.parts.push(block);
        self.ids.push(ids.to_vec());
        Ok(())
    }

    /// The values of the parts so far by context.
    pub fn by_context(&mut self) -> io::Result<ByContext<'_>> {
        ByContext::new(self.file.written()?, &self.parts)
    }

    /// Adds the summary and completes the file.
    pub fn finish(mut self, summary: impl Iterator<Item = Value>) -> io::Result<()> {
        let summary = self.block(summary)?;
        let mut tuples = Section::from(self.file.here());
        let addresses: Vec<u64> = self.ids.iter().map(|ids| ids::write(ids, &mut tuples)).collect();
        let mut infos = Section::from(tuples.here());
        infos.u64(infos.base() + 16);
        infos.u32(self.parts.len() as u32 + 1);
        infos.u8(INFO);
        infos.align(8);
        describe(summary, 0, SUMMARY, &mut infos);
        for (block, address) in self.parts.iter().zip(addresses) {
            describe(*block, address, 0, &mut infos);
        }
        self.file.append(&tuples)?;
        self.file.append(&infos)?;
        self.file.finish(&[infos.extent(), tuples.extent()])
    }

    /// Values, then the index of contexts over them.
    fn block(&mut self, values: impl Iterator<Item = Value>) -> io::Result<Block> {
        let mut block = Section::from(self.file.here());
        let mut index: Vec<(u32, u64)> = Vec::new();
        let mut count = 0;
        for (context, number, value) in values {
            if index.last().is_none_or(|(last, _)| *last != context) {
                index.push((context, count));
            }
            block.u16(number);
            block.f64(value);
            count += 1;
        }
        block.align(4);
        let index_address = block.here();
        for (context, start) in &index {
            block.u32(*context);
            block.u64(*start);
        }
        self.file.append(&block)?;
        let contexts = index.len() as u32;
        Ok(Block { values: count, value_address: block.base(), contexts, index_address })
    }
}

/// Appends the description of a part with its ids' address and its flags.
fn describe(block: Block, ids: u64, flags: u32, section: &mut Section) {
    section.u64(block.values);
    section.u64(block.value_address);
    section.u32(block.contexts);
    section.u32(0);
    section.u64(block.index_address);
    section.u64(ids);
    section.u32(flags);
    section.u32(0);
}
