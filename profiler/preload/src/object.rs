//! Signal context: yes. What a loaded object's program headers say: ranges, unwind tables, build id.

use core::mem::MaybeUninit;
use core::ops::Range;

use falloff_format::records;
use unwinder::{Module, Section, Tables};

use crate::build_id::BuildId;
use crate::real;

const PT_GNU_EH_FRAME: u32 = libc::PT_GNU_EH_FRAME;
/// Readable segments that are looked at; linkers make four or five.
const SEGMENTS_MAX: usize = 8;

/// A loaded object.
#[derive(Clone, Copy)]
pub struct Object {
    /// Run-time address minus ELF virtual address.
    pub bias: u64,
    /// Code, tables; the `id` is set by the module list.
    pub module: Module<'static>,
    /// Its build id.
    pub build_id: BuildId,
    /// `MODULE_…` flags of the record.
    pub flags: u32,
    /// Whether its tables can be searched without an index of our own.
    pub has_header: bool,
}

impl Object {
    /// Reads the program headers of an object that is mapped with this bias into `room`.
    ///
    /// # Safety
    /// The object's segments are mapped as the headers say, and stay so as long as the result is used.
    pub unsafe fn new<'r>(
        bias: u64,
        headers: &[libc::Elf64_Phdr],
        room: &'r mut MaybeUninit<Object>,
    ) -> Option<&'r mut Object> {
        let address = |h: &libc::Elf64_Phdr| {
            bias.wrapping_add(h.p_vaddr)..bias.wrapping_add(h.p_vaddr).wrapping_add(h.p_memsz)
        };
        let loads = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_memsz > 0);
        let start = loads().map(|h| address(h).start).min()?;
        let end = loads().map(|h| address(h).end).max()?;
        let readable = loads().filter(|h| h.p_flags & libc::PF_R != 0);
        let mut segments: [Range<u64>; SEGMENTS_MAX] = [const { 0..0 }; SEGMENTS_MAX];
        for (segment, header) in segments.iter_mut().zip(readable.clone()) {
            // Bytes past the file's part of a segment are no tables and no code.
            *segment = address(header).start..address(header).start.wrapping_add(header.p_filesz);
        }
        let contained =
            |range: &Range<u64>| segments.iter().any(|s| s.start <= range.start && range.end <= s.end);
        // SAFETY: only ranges inside readable segments are made into bytes.
        let bytes = |range: Range<u64>| unsafe {
            if contained(&range) {
                Section::from_mapped(range.start, (range.end - range.start) as usize)
            } else {
                Section::default()
            }
        };
        let code = readable.clone().find(|h| h.p_flags & libc::PF_X != 0).map(|h| {
            let begin = address(h).start;
            bytes(begin..begin.wrapping_add(h.p_filesz))
        });
        let header =
            headers.iter().find(|h| h.p_type == PT_GNU_EH_FRAME).map(&address).filter(|r| contained(r));
        // SAFETY: the header and the segments are mapped and stay so by contract.
        let tables = header.and_then(|h| unsafe { Tables::from_mapped_header(h, &segments) }.ok());
        let build_id = headers
            .iter()
            .filter(|h| h.p_type == libc::PT_NOTE)
            .find_map(|h| BuildId::in_notes(bytes(address(h)).bytes()))
            .unwrap_or(BuildId::NONE);
        let entry = loads().find(|h| h.p_offset == 0).and_then(|h| {
            let elf_header = bytes(address(h).start..address(h).start + size_of::<libc::Elf64_Ehdr>() as u64);
            let at = core::mem::offset_of!(libc::Elf64_Ehdr, e_entry);
            let word = elf_header.bytes().get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_ne_bytes(word)).filter(|e| *e != 0).map(|e| bias.wrapping_add(e))
        });
        let flags = flags(start, end);
        let module = Module {
            start,
            end,
            id: 0,
            entry: entry.unwrap_or(0),
            is_loader: flags & records::MODULE_LOADER != 0,
            code: code.unwrap_or_default(),
            tables: tables.unwrap_or(Tables::NONE),
            closed: false,
        };
        Some(room.write(Object { bias, module, build_id, flags, has_header: tables.is_some() }))
    }

    /// Reads the headers that lie at the start of a mapped object, as all linkers place them.
    ///
    /// # Safety
    /// `start` is the first address of a mapped object whose first page is readable, with this bias.
    pub unsafe fn at(start: u64, bias: u64, room: &mut MaybeUninit<Object>) -> Option<&mut Object> {
        const PAGE: u64 = 4096;
        // SAFETY: in the first page, which is readable.
        let header = unsafe { &*(start as *const libc::Elf64_Ehdr) };
        let size = u64::from(header.e_phnum) * size_of::<libc::Elf64_Phdr>() as u64;
        let sane = header.e_ident.starts_with(b"\x7fELF")
            && usize::from(header.e_phentsize) == size_of::<libc::Elf64_Phdr>()
            && header.e_phoff.checked_add(size).is_some_and(|end| end <= PAGE)
            && header.e_phoff.is_multiple_of(8);
        // SAFETY: the whole table lies in the first page.
        let headers = sane.then(|| unsafe {
            core::slice::from_raw_parts(
                (start + header.e_phoff) as *const libc::Elf64_Phdr,
                header.e_phnum.into(),
            )
        })?;
        // SAFETY: passed on.
        unsafe { Object::new(bias, headers, room) }
    }

    /// Whether this is the same object at the same place.
    pub fn same_load(&self, other: &Object) -> bool {
        self.bias == other.bias
            && self.module.start == other.module.start
            && self.module.end == other.module.end
            && self.build_id == other.build_id
    }
}

fn flags(start: u64, end: u64) -> u32 {
    let places = real::places();
    let holds = |address: u64| address != 0 && start <= address && address < end;
    [
        (places.program, records::MODULE_EXECUTABLE),
        (places.loader, records::MODULE_LOADER),
        (places.vdso, records::MODULE_VDSO),
        (places.sampler, records::MODULE_SAMPLER),
    ]
    .into_iter()
    .fold(0, |flags, (address, flag)| if holds(address) { flags | flag } else { flags })
}
