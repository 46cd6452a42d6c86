//! Unwind tables that the loader's headers do not lead to: `.debug_frame`, which is not mapped, and `.eh_frame`
//! without a search table. Both are found through the section headers of the file and indexed once, at load time.

use core::ffi::CStr;

use unwinder::{Format, IndexEntry, Section, Tables, index};

use crate::object::Object;
use crate::raw;

const PAGE: u64 = 4096;
const SHF_COMPRESSED: u64 = 1 << 11;
const SHT_NOBITS: u32 = 8;
/// Section headers that a file may have to be looked at.
const SECTIONS_MAX: usize = 256;
/// Bytes for them and their names.
const ROOM: usize = 32 << 10;

/// An index of frame descriptions and what they cover.
#[derive(Clone, Copy)]
pub struct FrameIndex {
    /// Sorted by address.
    pub entries: &'static [IndexEntry],
    /// The tables that use them.
    pub tables: Tables<'static>,
}

impl FrameIndex {
    /// Whether a description covers `pc`.
    pub fn covers(&self, pc: u64) -> bool {
        let after = self.entries.partition_point(|e| e.start <= pc);
        after.checked_sub(1).and_then(|i| self.entries.get(i)).is_some_and(|e| pc < e.end)
    }
}

/// Indexes of one object: of `.eh_frame`, if no header leads to it, and of `.debug_frame`.
pub type FrameIndices = [Option<FrameIndex>; 2];

/// Memory for section headers, mapped once: unmapping it for each object costs a program with threads more than the look.
pub struct Scratch(*mut u8);

impl Scratch {
    /// Nothing mapped yet.
    pub const NONE: Scratch = Scratch(core::ptr::null_mut());

    fn bytes(&mut self) -> Option<&mut [u8]> {
        if self.0.is_null() {
            self.0 = raw::map_private(ROOM)?;
        }
        // SAFETY: mapped with this length, never unmapped, and reached through `&mut self` only.
        Some(unsafe { core::slice::from_raw_parts_mut(self.0, ROOM) })
    }
}

/// Indexes what `object`, loaded from `path`, has beside a `.eh_frame_hdr`. Not in handlers.
pub fn build(path: &CStr, object: &Object, scratch: &mut Scratch) -> FrameIndices {
    let Ok(fd) = raw::open(path, libc::O_RDONLY, 0) else { return [None; 2] };
    let found = scratch.bytes().and_then(|bytes| sections(fd, bytes)).map_or([None; 2], |sections| {
        let eh_frame = sections.eh_frame.filter(|_| !object.has_header);
        [
            eh_frame.and_then(|section| build_from(fd, section, Format::EhFrame, object)),
            sections.debug_frame.and_then(|section| build_from(fd, section, Format::DebugFrame, object)),
        ]
    });
    raw::close(fd);
    found
}

struct Sections {
    debug_frame: Option<libc::Elf64_Shdr>,
    eh_frame: Option<libc::Elf64_Shdr>,
}

/// Reads the section headers and their names: three reads a file.
fn sections(fd: i32, buffer: &mut [u8]) -> Option<Sections> {
    let (table, names) = buffer.split_at_mut_checked(SECTIONS_MAX * size_of::<libc::Elf64_Shdr>())?;
    let filled = raw::pread(fd, table.get_mut(..size_of::<libc::Elf64_Ehdr>())?, 0).ok()?;
    // SAFETY: a C structure of integers at the start of a page, for which any bytes are valid.
    let header = unsafe { table.as_ptr().cast::<libc::Elf64_Ehdr>().read() };
    let sane = filled == size_of::<libc::Elf64_Ehdr>()
        && header.e_ident.starts_with(b"\x7fELF")
        && usize::from(header.e_shentsize) == size_of::<libc::Elf64_Shdr>()
        && usize::from(header.e_shnum) <= SECTIONS_MAX;
    let length = usize::from(header.e_shnum) * size_of::<libc::Elf64_Shdr>();
    if !sane || raw::pread(fd, table.get_mut(..length)?, header.e_shoff).ok()? != length {
        return None;
    }
    // SAFETY: as above, `e_shnum` of them, which were read.
    let table = unsafe {
        core::slice::from_raw_parts(table.as_ptr().cast::<libc::Elf64_Shdr>(), header.e_shnum.into())
    };
    let strings = table.get(usize::from(header.e_shstrndx))?;
    let length = usize::try_from(strings.sh_size).ok()?.min(names.len());
    let filled = raw::pread(fd, names.get_mut(..length)?, strings.sh_offset).ok()?;
    let named = |wanted: &[u8]| {
        let usable = |s: &&libc::Elf64_Shdr| s.sh_type != SHT_NOBITS && s.sh_flags & SHF_COMPRESSED == 0;
        let name = |s: &libc::Elf64_Shdr| {
            names.get(s.sh_name as usize..filled).is_some_and(|n| n.starts_with(wanted))
        };
        table.iter().filter(usable).find(|s| name(s)).copied()
    };
    Some(Sections { debug_frame: named(b".debug_frame\0"), eh_frame: named(b".eh_frame\0") })
}

/// Maps the section from the file, so that it outlives the object. Addresses in `.debug_frame` are those of the file, so the
/// load bias is added; those in `.eh_frame` are relative to where the loader has put the section.
fn build_from(fd: i32, section: libc::Elf64_Shdr, format: Format, object: &Object) -> Option<FrameIndex> {
    let lead = section.sh_offset % PAGE;
    let length = usize::try_from(section.sh_size.checked_add(lead)?).ok().filter(|n| *n > lead as usize)?;
    let mapped = raw::map_file(fd, section.sh_offset - lead, length)?;
    // SAFETY: mapped for good; a file that shrinks while its program runs breaks the program itself as well.
    let found = unsafe { Section::from_mapped(mapped as u64 + lead, length - lead as usize) };
    match format {
        Format::DebugFrame => index_of(found, format, object.bias),
        Format::EhFrame => {
            index_of(Section::new(object.bias.wrapping_add(section.sh_addr), found.bytes()), format, 0)
        }
    }
}

fn index_of(section: Section<'static>, format: Format, bias: u64) -> Option<FrameIndex> {
    let room = index::count(section, format).ok().filter(|n| *n > 0)?;
    let memory = raw::map_private(room * size_of::<IndexEntry>())?.cast::<IndexEntry>();
    // SAFETY: zeroed memory of this length, aligned to a page, never unmapped; zero is a valid entry.
    let entries: &'static mut [IndexEntry] = unsafe { core::slice::from_raw_parts_mut(memory, room) };
    let filled = index::build(section, format, bias, entries).ok()?;
    let entries: &'static [IndexEntry] = entries;
    let entries = entries.get(..filled)?;
    Some(FrameIndex { entries, tables: Tables::from_index(entries, section, format, bias) })
}
