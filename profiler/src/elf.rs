//! What kind of executable a file is, as far as that decides whether a preload reaches it.

use std::fs;
use std::io::Read;
use std::path::Path;

use object::elf::{self, FileHeader64, PT_INTERP};
use object::read::StringTable;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, ReadCache};

/// Loaders of C libraries that the sampler does not know: Android's, uClibc's.
const OTHER_LOADERS: [&str; 2] = ["linker64", "ld-uClibc"];

/// Kind of an executable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Loaded by the loader of glibc or musl, this architecture: can be measured.
    Dynamic,
    /// No loader is asked for.
    Static,
    /// Loaded by another C library's loader, of this path.
    OtherLibrary(String),
    /// Built by Go's compiler.
    Go,
    /// For another machine or word size.
    OtherMachine,
    /// A script with this interpreter.
    Script(String),
    /// Something that the system may know how to run.
    Unknown,
}

impl Kind {
    /// Looks into a file.
    pub(crate) fn of(path: &Path) -> std::io::Result<Kind> {
        let mut file = fs::File::open(path)?;
        let mut start = Vec::new();
        file.by_ref().take(256).read_to_end(&mut start)?;
        if let Some(line) = start.strip_prefix(b"#!") {
            let line =
                String::from_utf8_lossy(line.split(|b| *b == b'\n').next().unwrap_or(&[])).into_owned();
            return Ok(Kind::Script(line.split_whitespace().next().unwrap_or("").to_owned()));
        }
        if !start.starts_with(&elf::ELFMAG) {
            return Ok(Kind::Unknown);
        }
        Ok(of_elf(file).unwrap_or(Kind::OtherMachine))
    }
}

fn of_elf(file: fs::File) -> Option<Kind> {
    let cache = ReadCache::new(file);
    let header = FileHeader64::<Endianness>::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let native = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };
    if header.e_machine(endian) != native {
        return None;
    }
    let interpreter = header
        .program_headers(endian, &cache)
        .ok()?
        .iter()
        .find(|h| h.p_type(endian) == PT_INTERP)
        .and_then(|h| h.data(endian, &cache).ok())
        .map(|path| String::from_utf8_lossy(path.split(|b| *b == 0).next().unwrap_or(&[])).into_owned());
    let built_by_go =
        has_section(header, endian, &cache, &[b".go.buildinfo", b".note.go.buildid"]).unwrap_or(false);
    Some(match interpreter {
        _ if built_by_go => Kind::Go,
        None => Kind::Static,
        Some(loader) if OTHER_LOADERS.iter().any(|name| loader.contains(name)) => Kind::OtherLibrary(loader),
        Some(_) => Kind::Dynamic,
    })
}

/// Whether a file has a section of one of these names. The names are read at once: by the table's own strings each takes a read.
fn has_section(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    cache: &ReadCache<fs::File>,
    wanted: &[&[u8]],
) -> object::read::Result<bool> {
    let sections = header.sections(endian, cache)?;
    let bytes = sections.section(header.section_strings_index(endian, cache)?)?.data(endian, cache)?;
    let names = StringTable::new(bytes, 0, bytes.len() as u64);
    Ok(sections.iter().any(|section| section.name(endian, names).is_ok_and(|name| wanted.contains(&name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        fs::write(&script, "#! /bin/sh -e\n").unwrap();
        assert_eq!(Kind::of(&script).unwrap(), Kind::Script("/bin/sh".into()));
        fs::write(&script, "").unwrap();
        assert_eq!(Kind::of(&script).unwrap(), Kind::Unknown);
        fs::write(&script, b"\x7fELF and nothing more").unwrap();
        assert_eq!(Kind::of(&script).unwrap(), Kind::OtherMachine);
        assert_eq!(Kind::of(Path::new("/proc/self/exe")).unwrap(), Kind::Dynamic);
        assert!(Kind::of(Path::new("/nowhere")).is_err());
    }
}
