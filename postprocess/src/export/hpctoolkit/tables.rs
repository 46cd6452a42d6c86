//! The parts of `meta.db` that contexts refer to: strings, modules, files, functions.

use super::nodes::{NodeKind, Nodes};
use super::section::Section;
use super::sources::SourcePath;
use super::strings::Strings;

/// Bytes of a section's header.
const HEADER: u64 = 16;
/// Bytes of the description of a module, a file, and a function.
const MODULE: u16 = 16;
const FILE: u16 = 16;
const FUNCTION: u16 = 40;

/// Flag of a file that was copied into the database.
const COPIED: u32 = 1;

/// The sections, one behind the other.
pub(super) struct Tables {
    pub strings: Section,
    pub modules: Section,
    pub files: Section,
    pub functions: Section,
    /// For each node that is an entry point, in order, the address of its name.
    pub entry_names: Vec<u64>,
}

impl Tables {
    pub fn new(nodes: &Nodes, modules: &[String], files: &[SourcePath], from: u64) -> Tables {
        let mut strings = Strings::from(from);
        let module_names: Vec<u64> = modules.iter().map(|path| strings.address(path)).collect();
        let file_names: Vec<u64> = files.iter().map(|file| strings.address(&file.path)).collect();
        let function_names: Vec<u64> =
            nodes.functions.items().iter().map(|function| strings.address(&function.name)).collect();
        let entry_names = nodes
            .all()
            .iter()
            .filter_map(|node| match node.kind {
                NodeKind::Entry(entry) => Some(strings.address(entry.label())),
                _ => None,
            })
            .collect();
        let strings = strings.into_section();

        let mut modules = table(strings.here(), module_names.len(), MODULE);
        for name in module_names {
            modules.u64(0);
            modules.u64(name);
        }
        let mut files_section = table(modules.here(), files.len(), FILE);
        for (name, file) in file_names.into_iter().zip(files) {
            files_section.u32(if file.copied { COPIED } else { 0 });
            files_section.align(8);
            files_section.u64(name);
        }
        let mut functions = table(files_section.here(), function_names.len(), FUNCTION);
        for (name, function) in function_names.into_iter().zip(nodes.functions.items()) {
            functions.u64(name);
            functions.u64(function.module.map_or(0, |module| record(&modules, module, MODULE)));
            functions.u64(0);
            functions.u64(function.file.map_or(0, |file| record(&files_section, file, FILE)));
            functions.u32(function.line);
            functions.u32(0);
        }
        Tables { strings, modules, files: files_section, functions, entry_names }
    }

    /// The address of a file's description.
    pub fn file(&self, file: u32) -> u64 {
        record(&self.files, file, FILE)
    }

    /// The address of a function's description.
    pub fn function(&self, function: u32) -> u64 {
        record(&self.functions, function, FUNCTION)
    }
}

/// A section with its header, and no records yet.
fn table(from: u64, records: usize, size: u16) -> Section {
    let mut section = Section::from(from);
    section.u64(section.base() + HEADER);
    section.u32(records as u32);
    section.u16(size);
    section.align(8);
    section
}

fn record(table: &Section, place: u32, size: u16) -> u64 {
    table.base() + HEADER + u64::from(place) * u64::from(size)
}
