//! Unwind tables that the loader's headers do not lead to: `.debug_frame`, which is not mapped, and `.eh_frame`
//! without a search table. Both are found through the section headers of the file and indexed once, at load time.

use core::ffi::CStr;

use unwinder::{Format, IndexEntry, Section, Tables, index};

use crate::object::Object;
use crate::raw;

const PAGE: u64 = 4096;
const SHF_COMPRESSED: u64 = 1 << 11;
const SHT_NOBITS: u32 = 8;
/// Section headers that are looked at.
const SECTIONS_MAX: usize = 128;

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

/// Indexes what `object`, loaded from `path`, has beside a `.eh_frame_hdr`. Not in handlers.
pub fn build(path: &CStr, object: &Object) -> Option<FrameIndex> {
    let fd = raw::open(path, libc::O_RDONLY, 0).ok()?;
    let found = sections(fd).and_then(|sections| {
        let debug_frame = || build_from_file(fd, sections.debug_frame?, object);
        let eh_frame = || build_from_memory(sections.eh_frame?, object);
        debug_frame().or_else(|| if object.has_header { None } else { eh_frame() })
    });
    raw::close(fd);
    found
}

struct Sections {
    debug_frame: Option<libc::Elf64_Shdr>,
    eh_frame: Option<libc::Elf64_Shdr>,
}

fn sections(fd: i32) -> Option<Sections> {
    // SAFETY: for the four calls: plain C structures of integers, for which any bytes are valid.
    let header: libc::Elf64_Ehdr = unsafe { read(fd, 0) }?;
    let size = size_of::<libc::Elf64_Shdr>() as u64;
    if !header.e_ident.starts_with(b"\x7fELF") || u64::from(header.e_shentsize) != size {
        return None;
    }
    // SAFETY: as above.
    let at = |i: u64| unsafe { read::<libc::Elf64_Shdr>(fd, header.e_shoff.checked_add(i * size)?) };
    let names = at(header.e_shstrndx.into())?;
    let mut found = Sections { debug_frame: None, eh_frame: None };
    for i in 1..usize::from(header.e_shnum).min(SECTIONS_MAX) {
        let Some(section) = at(i as u64) else { break };
        if section.sh_type == SHT_NOBITS || section.sh_flags & SHF_COMPRESSED != 0 {
            continue;
        }
        // SAFETY: as above.
        match unsafe { read::<[u8; 13]>(fd, names.sh_offset.checked_add(section.sh_name.into())?) } {
            Some(name) if name == *b".debug_frame\0" => found.debug_frame = Some(section),
            Some(name) if name.starts_with(b".eh_frame\0") => found.eh_frame = Some(section),
            _ => {}
        }
    }
    Some(found)
}

/// # Safety
/// Any bytes are a valid `T`.
unsafe fn read<T>(fd: i32, offset: u64) -> Option<T> {
    let mut value = core::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: zeroed bytes of exactly this length.
    let bytes = unsafe { core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    (raw::pread(fd, bytes, offset).ok()? == size_of::<T>()).then_some(())?;
    // SAFETY: initialised, and any bytes are valid by contract.
    Some(unsafe { value.assume_init() })
}

/// Maps the section from the file; its addresses are those of the file, so the load bias is added.
fn build_from_file(fd: i32, section: libc::Elf64_Shdr, object: &Object) -> Option<FrameIndex> {
    let lead = section.sh_offset % PAGE;
    let length = usize::try_from(section.sh_size.checked_add(lead)?).ok().filter(|n| *n > lead as usize)?;
    let mapped = raw::map_file(fd, section.sh_offset - lead, length)?;
    // SAFETY: mapped for good; a file that shrinks while its program runs breaks the program itself as well.
    let section = unsafe { Section::from_mapped(mapped as u64 + lead, length - lead as usize) };
    index_of(section, Format::DebugFrame, object.bias)
}

/// Uses the section where the loader has put it.
fn build_from_memory(section: libc::Elf64_Shdr, object: &Object) -> Option<FrameIndex> {
    let start = object.bias.wrapping_add(section.sh_addr);
    let inside = object.module.start <= start && start.checked_add(section.sh_size)? <= object.module.end;
    // SAFETY: `.eh_frame` is an allocated section inside the object's mapped range.
    let section = inside.then(|| unsafe { Section::from_mapped(start, section.sh_size as usize) })?;
    index_of(section, Format::EhFrame, 0)
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
