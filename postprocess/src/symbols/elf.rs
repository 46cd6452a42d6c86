//! ELF files: sections, links, symbols, ranges of unwind entries.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};
use object::{
    Architecture, CompressedData, CompressionFormat, Object, ObjectSection, ObjectSegment, ObjectSymbol,
    SectionFlags, SectionKind, SymbolFlags, SymbolKind,
};
use typed_arena::Arena;

use crate::map::Map;

/// Bytes that live as long as a module is being resolved.
#[derive(Default)]
pub(super) struct Files {
    maps: Arena<Map>,
    sections: Arena<Vec<u8>>,
}

impl Files {
    /// Keeps a mapped file.
    pub fn keep(&self, map: Map) -> &[u8] {
        self.maps.alloc(map)
    }

    /// Keeps bytes.
    pub fn keep_bytes(&self, bytes: Vec<u8>) -> &[u8] {
        self.sections.alloc(bytes)
    }
}

/// A parsed ELF file.
pub(super) struct Elf<'a> {
    pub path: PathBuf,
    pub object: object::File<'a>,
    files: &'a Files,
}

/// A named piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol<'a> {
    pub address: u64,
    /// 0 if the file does not say.
    pub size: u64,
    pub name: &'a str,
    /// Whether other files may refer to it.
    pub external: bool,
    /// A place in assembly code that nobody declared to be a function.
    pub label: bool,
    /// Code that chooses one of several functions when the program starts.
    pub indirect: bool,
}

/// How many times its size a compressed section may have: what deflate can reach, and more than debug information does.
/// Memory is taken for what the head of the section says before anything is read.
const EXPANSION_MAX: u64 = 1032;

fn is_plausible(section: &CompressedData) -> bool {
    let packed = section.data.len() as u64;
    section.format == CompressionFormat::None
        || section.uncompressed_size <= packed.saturating_mul(EXPANSION_MAX)
}

impl<'a> Elf<'a> {
    /// Maps and parses a file.
    pub fn open(path: &Path, files: &'a Files) -> Result<Elf<'a>, String> {
        let map = Map::open(path, u64::MAX).map_err(|e| e.to_string())?;
        Elf::parse(path, files.keep(map), files)
    }

    /// Parses bytes that `files` keeps.
    pub fn parse(path: &Path, bytes: &'a [u8], files: &'a Files) -> Result<Elf<'a>, String> {
        let object = object::File::parse(bytes).map_err(|e| format!("no ELF file that can be read: {e}"))?;
        Ok(Elf { path: path.to_owned(), object, files })
    }

    /// The GNU build id; empty if there is none.
    pub fn build_id(&self) -> &'a [u8] {
        self.object.build_id().ok().flatten().unwrap_or_default()
    }

    pub fn endian(&self) -> RunTimeEndian {
        if self.object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
    }

    /// A section's bytes, decompressed; empty if it is absent or damaged.
    pub fn section_data(&self, name: &str) -> Cow<'a, [u8]> {
        let section = self.object.section_by_name(name).and_then(|s| s.compressed_data().ok());
        let data = section.filter(is_plausible).and_then(|section| section.decompress().ok());
        data.unwrap_or(Cow::Borrowed(&[]))
    }

    /// The same, kept as long as the file.
    pub fn section(&self, name: &str) -> &'a [u8] {
        match self.section_data(name) {
            Cow::Borrowed(bytes) => bytes,
            Cow::Owned(bytes) => self.files.keep_bytes(bytes),
        }
    }

    pub fn slice(&self, name: &str) -> EndianSlice<'a, RunTimeEndian> {
        EndianSlice::new(self.section(name), self.endian())
    }

    pub fn has_debug_info(&self) -> bool {
        self.object
            .section_by_name(".debug_info")
            .is_some_and(|s| s.size() > 0 && s.kind() != SectionKind::UninitializedData)
    }

    /// Kind of processor.
    pub fn architecture(&self) -> Architecture {
        self.object.architecture()
    }

    /// Where the program begins, or the dynamic loader.
    pub fn entry(&self) -> u64 {
        self.object.entry()
    }

    /// Bytes that the file puts at an address, exactly so many.
    pub fn memory(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        self.object.segments().find_map(|segment| segment.data_range(address, size).ok().flatten())
    }

    /// Where `.text` lies. A library that was moved by prelinking differs in it from its debug file.
    pub fn text_address(&self) -> Option<u64> {
        self.object.section_by_name(".text").map(|section| section.address())
    }

    /// Name and id of the file that this debug file shares parts with.
    pub fn shared_link(&self) -> Option<(&'a [u8], &'a [u8])> {
        let link = self.object.gnu_debugaltlink().ok().flatten();
        link.or_else(|| self.supplement(false))
    }

    /// The id under which debug files know this file as the one that they share parts with.
    pub fn shared_id(&self) -> &'a [u8] {
        self.supplement(true).map_or(self.build_id(), |(_, id)| id)
    }

    /// `.debug_sup` of DWARF 5: version, whether this is the shared file, its name, the length of its id and the id.
    fn supplement(&self, shared: bool) -> Option<(&'a [u8], &'a [u8])> {
        let section = self.section(".debug_sup");
        let (head, rest) = section.split_at_checked(3)?;
        let end = rest.iter().position(|b| *b == 0)?;
        let (name, id) = (&rest[..end], &rest[end + 1..]);
        let mut id = EndianSlice::new(id, self.endian());
        let length = usize::try_from(gimli::Reader::read_uleb128(&mut id).ok()?).ok()?;
        (head[2] == u8::from(shared)).then(|| id.slice().get(..length).map(|id| (name, id)))?
    }

    /// Executable sections as address ranges, sorted.
    pub fn code_ranges(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = self
            .object
            .sections()
            .filter(|s| match s.flags() {
                SectionFlags::Elf { sh_flags } => sh_flags & u64::from(object::elf::SHF_EXECINSTR) != 0,
                _ => s.kind() == SectionKind::Text,
            })
            .map(|s| (s.address(), s.address().saturating_add(s.size())))
            .collect();
        ranges.sort_unstable();
        ranges
    }

    /// Functions and labels of both symbol tables, in no order.
    pub fn symbols(&self) -> Vec<Symbol<'a>> {
        let code = self.code_ranges();
        let all = self.object.symbols().chain(self.object.dynamic_symbols());
        all.filter_map(|symbol| {
            let indirect = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. }
                if st_info & 0xf == object::elf::STT_GNU_IFUNC);
            let label = match symbol.kind() {
                SymbolKind::Text => false,
                _ if indirect => false,
                SymbolKind::Unknown => true,
                _ => return None,
            };
            let (address, name) = (symbol.address(), symbol.name().ok()?);
            let is_code = || code.iter().any(|(start, end)| (*start..*end).contains(&address));
            if symbol.is_undefined()
                || name.is_empty()
                || (label && (name.starts_with(['.', '$']) || !is_code()))
            {
                return None;
            }
            // In a table for version symbols, `name@VERSION`.
            let name = name.split('@').next().unwrap_or(name);
            let external = symbol.is_global() || symbol.is_weak();
            Some(Symbol { address, size: symbol.size(), name, external, label, indirect })
        })
        .collect()
    }

    /// Address ranges of the entries of `.eh_frame`, sorted.
    pub fn unwind_ranges(&self) -> Vec<(u64, u64)> {
        let address = |name: &str| self.object.section_by_name(name).map_or(0, |s| s.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut section = EhFrame::new(self.section(".eh_frame"), self.endian());
        section.set_address_size(if self.object.is_64() { 8 } else { 4 });
        let mut ranges = Vec::new();
        let mut entries = section.entries(&bases);
        // A damaged entry ends the walk; what came before it is good.
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            if let Ok(fde) = partial.parse(EhFrame::cie_from_offset)
                && fde.len() > 0
            {
                ranges.push((fde.initial_address(), fde.initial_address().saturating_add(fde.len())));
            }
        }
        ranges.sort_unstable();
        ranges
    }
}
