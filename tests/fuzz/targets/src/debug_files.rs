//! Modules and their debug files, in all the forms that these come in.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use falloff_postprocess::entrances;

use crate::edits::{Editable, edited};
use crate::input::Input;
use crate::scratch::{Scratch, list, source};

/// The module of each set of files.
const PROGRAM: &str = "program";
/// The debug file that a module names with its checksum.
const LINKED: &str = "program.debug";
/// In place of the number of a set: the input itself is the module.
const RAW: u8 = 0xff;

/// Sets of files that belong together, the module first.
struct Sets(Vec<Vec<Editable>>);

impl Sets {
    fn new(kind: &str) -> Sets {
        Sets(list(&source("seeds").join(kind)).iter().map(|dir| files(dir)).collect())
    }

    /// Resolves a module of which an input edits the files.
    fn resolve(&self, input: &[u8]) {
        let mut input = Input(input);
        let scratch = Scratch::new();
        match input.byte() {
            RAW => drop(scratch.write(PROGRAM, input.0)),
            number => {
                let set = &self.0[usize::from(number) % self.0.len()];
                let mut all = edited(set, &mut input);
                mend_checksum(set, &mut all);
                set.iter().zip(&all).for_each(|(file, bytes)| drop(scratch.write(&file.name, bytes)));
            }
        }
        let _ = entrances::resolve(&scratch.path().join(PROGRAM));
    }
}

fn files(dir: &Path) -> Vec<Editable> {
    let read = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Editable::elf(name, fs::read(path).expect("failed to read a seed"))
    };
    let mut files: Vec<Editable> = list(dir).iter().map(|path| read(path)).collect();
    files.sort_by_key(|file| file.name != PROGRAM);
    files
}

/// The link to a debug file ends with the checksum of that file as it is now, unless the link itself was edited.
fn mend_checksum(set: &[Editable], all: &mut [Vec<u8>]) {
    let Some(linked) = set.iter().position(|file| file.name == LINKED) else { return };
    let checksum = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let (was, is) = (checksum(&set[linked].bytes), checksum(&all[linked]));
    let program = &mut all[0];
    if let Some(at) = program.windows(4).position(|window| window == was) {
        program[at..at + 4].copy_from_slice(&is);
    }
}

/// A module with its debug information.
pub(crate) fn elf(input: &[u8]) {
    static SETS: LazyLock<Sets> = LazyLock::new(|| Sets::new("elf"));
    SETS.resolve(input);
}

/// A module whose debug information is in split units or packages of them.
pub(crate) fn split(input: &[u8]) {
    static SETS: LazyLock<Sets> = LazyLock::new(|| Sets::new("split"));
    SETS.resolve(input);
}

/// A module with a debug file, one that shares parts with others, or a packed symbol table.
pub(crate) fn linked(input: &[u8]) {
    static SETS: LazyLock<Sets> = LazyLock::new(|| Sets::new("linked"));
    SETS.resolve(input);
}
