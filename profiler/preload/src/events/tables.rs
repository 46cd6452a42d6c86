//! The tables through which objects call functions of MPI that not every library has. Such names are not exported: programs
//! look whether they are there (mpi4py does), and would call what does not exist. When MPI has begun, it is known which there
//! are, and the tables of those who call them are made to lead here.

use core::ffi::{c_int, c_void};

use super::functions;
use crate::text::c_bytes;
use crate::{cpu, raw};

const PAGE: usize = 4096;

/// Lets all objects that are loaded call the entries of functions that the library has.
pub fn fill() {
    // SAFETY: the callback gets what the loader says.
    unsafe { libc::dl_iterate_phdr(Some(look), core::ptr::null_mut()) };
}

/// What the dynamic section of an object says of its tables.
#[derive(Default)]
struct Dynamic {
    symbols: usize,
    names: usize,
    /// Relocations of data and of functions: where, and how many bytes.
    relocations: [(usize, usize); 2],
}

/// An entry of a dynamic section.
#[repr(C)]
struct Tag {
    tag: i64,
    value: usize,
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: what the loader passes; the program headers of a loaded object are mapped.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr as usize, core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
    };
    let segment = |kind| headers.iter().find(|h| h.p_type == kind);
    let Some(place) = segment(libc::PT_DYNAMIC) else { return 0 };
    // SAFETY: the dynamic section of a loaded object ends in a null entry.
    let dynamic = unsafe { Dynamic::read(base, base + place.p_vaddr as usize) };
    let sealed = segment(libc::PT_GNU_RELRO).map_or(0..0, |h| {
        let start = base + h.p_vaddr as usize;
        start..start + h.p_memsz as usize
    });
    for (start, length) in dynamic.relocations {
        for at in 0..length / size_of::<libc::Elf64_Rela>() {
            // SAFETY: a relocation of a loaded object.
            let relocation = unsafe { &*(start as *const libc::Elf64_Rela).add(at) };
            if !cpu::SYMBOL_RELOCATIONS.contains(&(relocation.r_info as u32)) {
                continue;
            }
            // SAFETY: the symbol that the relocation names, and its name.
            let name = unsafe {
                let symbol =
                    &*(dynamic.symbols as *const libc::Elf64_Sym).add((relocation.r_info >> 32) as usize);
                c_bytes((dynamic.names + symbol.st_name as usize) as *const _)
            };
            let index = functions::index(name).filter(|index| !functions::is_exported(*index));
            if let Some(index) = index {
                // SAFETY: the place of an address in a loaded object.
                unsafe { lead(base + relocation.r_offset as usize, index, &sealed) };
            }
        }
    }
    0
}

/// Lets a table's word lead to an entry, unless the library lacks the function.
///
/// # Safety
/// The word is the address of a function of that name, or will be found to be; within `sealed` it is mapped for reading only.
unsafe fn lead(word: usize, index: usize, sealed: &core::ops::Range<usize>) {
    let Some(entry) = functions::real(index).and_then(|_| functions::entry(index)) else { return };
    let page = (word / PAGE * PAGE) as *mut u8;
    let is_sealed = sealed.contains(&word);
    if is_sealed && raw::protect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE).is_err() {
        return;
    }
    // SAFETY: by contract, and writable now; words of tables are aligned.
    unsafe { (word as *mut usize).write_volatile(entry as usize) };
    if is_sealed {
        let _ = raw::protect(page, PAGE, libc::PROT_READ);
    }
}

impl Dynamic {
    /// # Safety
    /// `at` is the dynamic section of a loaded object.
    unsafe fn read(base: usize, at: usize) -> Dynamic {
        let (mut found, mut at) = (Dynamic::default(), at as *const Tag);
        // Loaders write addresses over offsets where the section is writable.
        let address = |value: usize| if value < base { base + value } else { value };
        loop {
            // SAFETY: by contract, not yet behind its null entry.
            let Tag { tag, value } = unsafe { at.read() };
            match tag {
                DT_NULL => return found,
                DT_SYMTAB => found.symbols = address(value),
                DT_STRTAB => found.names = address(value),
                DT_RELA => found.relocations[0].0 = address(value),
                DT_RELASZ => found.relocations[0].1 = value,
                DT_JMPREL => found.relocations[1].0 = address(value),
                DT_PLTRELSZ => found.relocations[1].1 = value,
                _ => {}
            }
            at = at.wrapping_add(1);
        }
    }
}

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;
