//! The small symbol table that some distributions leave in stripped files (`.gnu_debugdata`), compressed with xz.

use std::io::Read;

use lzma_rust2::XzReader;

use super::elf::{Elf, Files};

/// Largest table that is unpacked; those of distributions are below a few megabytes.
const BYTES_MAX: u64 = 256 << 20;

/// The file inside a file.
pub(super) fn inner<'a>(binary: &Elf<'a>, files: &'a Files) -> Option<Elf<'a>> {
    let packed = binary.section(".gnu_debugdata");
    if packed.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    XzReader::new(packed, true).take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Elf::parse(&binary.path, files.keep_bytes(bytes), files).ok()
}
