//! What walking and naming need of an executable file: its code, its unwind tables, its build id.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use falloff_format::records::MODULE_VDSO;
use object::elf::{PF_X, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object as _, ObjectSection, ReadCache, ReadRef, SectionFlags};
use unwinder::Format;

/// Name that the kernel gives to the code that it lends to every process.
const VDSO: &[u8] = b"[vdso]";

/// Bytes with their ELF virtual address.
#[derive(Debug)]
pub(super) struct Piece {
    pub address: u64,
    pub bytes: Vec<u8>,
}

/// An executable segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub offset: u64,
    pub code: Piece,
}

/// A file.
#[derive(Debug)]
pub(super) struct Object {
    pub path: Vec<u8>,
    pub build_id: Vec<u8>,
    /// Flags of its module in a measurement.
    pub flags: u32,
    /// Virtual address of its entry point, 0 if it has none.
    pub entry: u64,
    pub segments: Vec<Segment>,
    /// `.eh_frame` and `.debug_frame`, as far as there are.
    pub frames: Vec<(Format, Piece)>,
}

impl Object {
    /// Reads what was mapped as `path` at `mapped_ns` since 1970. A file that has changed since is another one, and one
    /// that cannot be read has nothing but its path.
    pub(super) fn read(path: &[u8], mapped_ns: u64) -> Object {
        let found = if path == VDSO {
            vdso()
        } else {
            unchanged(path, mapped_ns).and_then(|file| parse(&ReadCache::new(file)))
        };
        let flags = if path == VDSO { MODULE_VDSO } else { 0 };
        let object = found.unwrap_or(Object {
            path: Vec::new(),
            build_id: Vec::new(),
            flags,
            entry: 0,
            segments: Vec::new(),
            frames: Vec::new(),
        });
        Object { path: path.to_vec(), flags, ..object }
    }
}

/// The file, if it is a regular one that has not changed since.
fn unchanged(path: &[u8], since_ns: u64) -> Option<File> {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let found = file.metadata().ok()?;
    let changed_ns = i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
    (found.is_file() && changed_ns <= i128::from(since_ns)).then_some(file)
}

/// This process's own, which is that of all.
fn vdso() -> Option<Object> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    parse(bytes.as_slice())
}

fn parse<'d, R: ReadRef<'d>>(data: R) -> Option<Object> {
    let file = ElfFile64::<Endianness, R>::parse(data).ok()?;
    let endian = file.endian();
    let executable = |h: &&object::elf::ProgramHeader64<Endianness>| {
        h.p_type(endian) == PT_LOAD && h.p_flags(endian) & PF_X != 0
    };
    let headers = file.elf_header().program_headers(endian, data).ok()?.iter().filter(executable);
    let segments = headers.filter_map(|header| {
        let code = Piece { address: header.p_vaddr(endian), bytes: header.data(endian, data).ok()?.to_vec() };
        Some(Segment { offset: header.p_offset(endian), code })
    });
    let frames = [(Format::EhFrame, ".eh_frame"), (Format::DebugFrame, ".debug_frame")];
    let frames = frames.into_iter().filter_map(|(format, name)| {
        let section = file.section_by_name(name).filter(|s| !is_compressed(s.flags()))?;
        let bytes = section.data().ok().filter(|bytes| !bytes.is_empty())?.to_vec();
        Some((format, Piece { address: section.address(), bytes }))
    });
    Some(Object {
        path: Vec::new(),
        build_id: file.build_id().ok().flatten().unwrap_or(&[]).to_vec(),
        flags: 0,
        entry: file.entry(),
        segments: segments.collect(),
        frames: frames.collect(),
    })
}

fn is_compressed(flags: SectionFlags) -> bool {
    matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(object::elf::SHF_COMPRESSED) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_and_the_vdso() {
        let path = std::env::current_exe().unwrap().into_os_string().into_encoded_bytes();
        let object = Object::read(&path, u64::MAX / 2);
        assert!(!object.segments.is_empty() && object.entry != 0);
        assert_eq!(object.frames[0].0, Format::EhFrame);
        assert!(Object::read(&path, 0).segments.is_empty(), "changed since 1970");
        let vdso = Object::read(VDSO, 0);
        assert!(!vdso.frames.is_empty() && vdso.flags == MODULE_VDSO);
        assert!(Object::read(b"/nowhere", 0).frames.is_empty());
    }
}
