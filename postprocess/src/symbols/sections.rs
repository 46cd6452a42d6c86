//! Loading the sections that frames are found with, and of `.debug_info` only the units that are needed.

use std::borrow::Cow;
use std::sync::Arc;

use gimli::{DebugInfo, DwarfPackage, DwarfSections, EndianSlice, RunTimeEndian, SectionId};

use super::elf::{Elf, Files};
use super::units::{Needed, Places, extract};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;

/// Sections that frames are found with, beside `.debug_info`.
const SECTIONS: [SectionId; 9] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// The debug information that covers the sorted addresses, with the file that it shares parts with.
pub(super) fn load<'a>(
    elf: &Elf<'a>,
    shared: Option<&Elf<'a>>,
    files: &'a Files,
    addresses: &[u64],
) -> Option<Dwarf<'a>> {
    let main_tables = tables(elf)?;
    let shared_tables = match shared {
        Some(shared) => Some(tables(shared)?),
        None => None,
    };
    let info = elf.section_data(SectionId::DebugInfo.name());
    let shared_info = shared.map(|shared| shared.section_data(SectionId::DebugInfo.name()));
    let needed = {
        let mut whole = with_info(&main_tables, DebugInfo::new(&info, elf.endian()));
        whole.sup = shared_tables
            .as_ref()
            .zip(shared_info.as_deref())
            .map(|(tables, info)| Arc::new(with_info(tables, DebugInfo::new(info, elf.endian()))));
        Needed::new(&whole, addresses)
    };
    let mut dwarf = with_info(&main_tables, keep(info, &needed.main, elf, files));
    dwarf.sup = shared_tables
        .zip(shared_info)
        .map(|(tables, info)| Arc::new(with_info(&tables, keep(info, &needed.shared, elf, files))));
    Some(dwarf)
}

/// The debug information of a split file.
pub(super) fn load_split<'a>(elf: &Elf<'a>) -> Option<Dwarf<'a>> {
    let empty = EndianSlice::new(&[], elf.endian());
    let section = |id: SectionId| id.dwo_name().map_or(empty, |name| elf.slice(name));
    gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(section(id))).ok()
}

/// A package of split units.
pub(super) fn load_package<'a>(elf: &Elf<'a>) -> Option<DwarfPackage<Slice<'a>>> {
    let empty = EndianSlice::new(&[], elf.endian());
    let section = |id: SectionId| id.dwo_name().map_or(empty, |name| elf.slice(name));
    DwarfPackage::load(|id| Ok::<_, gimli::Error>(section(id)), empty).ok()
}

fn tables<'a>(elf: &Elf<'a>) -> Option<DwarfSections<Slice<'a>>> {
    let empty = EndianSlice::new(&[], elf.endian());
    let section = |id: SectionId| if SECTIONS.contains(&id) { elf.slice(id.name()) } else { empty };
    DwarfSections::load(|id| Ok::<_, gimli::Error>(section(id))).ok()
}

fn with_info<'b>(tables: &DwarfSections<Slice<'b>>, info: DebugInfo<Slice<'b>>) -> Dwarf<'b> {
    let mut dwarf = tables.borrow(|section| *section);
    dwarf.debug_info = info;
    dwarf
}

/// Keeps the needed units. A section that was decompressed is given back.
fn keep<'a>(section: Cow<'a, [u8]>, units: &Places, elf: &Elf, files: &'a Files) -> DebugInfo<Slice<'a>> {
    let bytes = match (extract(&section, units, elf.endian()), section) {
        (Some(kept), _) | (None, Cow::Owned(kept)) => files.keep_bytes(kept),
        (None, Cow::Borrowed(section)) => section,
    };
    DebugInfo::new(bytes, elf.endian())
}
