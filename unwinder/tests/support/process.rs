//! The modules, stacks and symbols of this process.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::{fs, slice};

use object::{Object, ObjectSymbol};
use unwinder::{Memory, Module, Section, Tables};

/// A loaded object.
pub struct Loaded {
    /// Its file; empty for the kernel's.
    pub path: String,
    /// What is added to the file's addresses.
    pub bias: u64,
    /// Code, `.eh_frame_hdr`.
    pub code: Range<u64>,
    pub header: Range<u64>,
    pub module: Module<'static>,
}

/// All loaded objects, sorted by address.
pub fn loaded() -> Vec<Loaded> {
    let mut objects: Vec<Loaded> = Vec::new();
    // SAFETY: the callback gets the vector that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut objects).cast()) };
    objects.sort_by_key(|object| object.module.start);
    for (id, object) in (0..).zip(&mut objects) {
        object.module.id = id;
    }
    objects
}

/// Their modules.
pub fn modules(objects: &[Loaded]) -> Vec<Module<'static>> {
    objects.iter().map(|object| object.module).collect()
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description with that many program headers, and `loaded` passes its vector.
    let (info, headers, objects) = unsafe {
        let info = &*info;
        let headers = slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, headers, &mut *data.cast::<Vec<Loaded>>())
    };
    let bias = info.dlpi_addr;
    let range = |header: &libc::Elf64_Phdr| bias + header.p_vaddr..bias + header.p_vaddr + header.p_memsz;
    let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let readable: Vec<_> =
        loads.clone().filter(|header| header.p_flags & libc::PF_R != 0).map(range).collect();
    let code = loads.clone().find(|header| header.p_flags & libc::PF_X != 0).map(range);
    let header = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME).map(range);
    if let (Some(code), Some(header)) = (code, header) {
        // SAFETY: the test unloads nothing; names are zero-terminated.
        let (name, tables) = unsafe {
            (CStr::from_ptr(info.dlpi_name), Tables::from_mapped_header(header.clone(), &readable).unwrap())
        };
        let mut path = name.to_string_lossy().into_owned();
        if objects.is_empty() && path.is_empty() {
            path = std::env::current_exe().unwrap().to_string_lossy().into_owned();
        }
        // SAFETY: a loaded segment.
        let bytes = unsafe { Section::from_mapped(code.start, (code.end - code.start) as usize) };
        let is_loader = path.contains("ld-linux");
        let module =
            Module { start: code.start, end: code.end, is_loader, code: bytes, tables, ..Module::default() };
        objects.push(Loaded { path, bias, code, header, module });
    }
    0
}

/// The mapped stretch of memory that `address` lies in.
pub fn mapping(address: u64) -> Range<u64> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let parse = |text: &str| u64::from_str_radix(text, 16).unwrap();
    maps.lines()
        .filter_map(|line| line.split_whitespace().next()?.split_once('-'))
        .map(|(start, end)| parse(start)..parse(end))
        .find(|range| range.contains(&address))
        .unwrap()
}

/// This process's memory between two addresses.
pub struct Live(pub Range<u64>);

impl Memory for Live {
    fn read(&mut self, address: u64) -> Option<u64> {
        if address < self.0.start || address.checked_add(8)? > self.0.end {
            return None;
        }
        // SAFETY: the range is a mapped stack, and no word of it crosses its end.
        Some(unsafe { (address as usize as *const u64).read_unaligned() })
    }
}

/// Function symbols of the test program.
pub struct Symbols(Vec<(u64, u64, String)>);

impl Symbols {
    /// Reads them.
    pub fn load(objects: &[Loaded]) -> Self {
        let path = std::env::current_exe().unwrap();
        let data = fs::read(&path).unwrap();
        let own = objects.iter().find(|object| object.path == path.to_string_lossy()).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let symbols = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        Self(
            symbols
                .map(|symbol| (symbol.address() + own.bias, symbol.size(), symbol.name().unwrap().into()))
                .collect(),
        )
    }

    /// The name of the function at `pc`, mangled.
    pub fn name(&self, pc: u64) -> Option<&str> {
        let found = self.0.iter().find(|(start, size, _)| *start <= pc && pc < start + size);
        found.map(|(_, _, name)| &**name)
    }
}
