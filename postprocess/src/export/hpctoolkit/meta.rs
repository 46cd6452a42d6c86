//! `meta.db`: everything but values.

use std::io;
use std::path::Path;

use super::contents::Contents;
use super::file::Format;
use super::ids::KIND_NAMES;
use super::nodes::Nodes;
use super::section::Section;
use super::sources::SourcePath;
use super::tables::Tables;
use super::{context, metrics};

const FORMAT: Format = Format { name: "meta.db", id: b"meta", footer: b"_meta.db", sections: 8 };
/// hpcviewer keeps places within a section in numbers up to this.
const LARGEST_SECTION: u64 = i32::MAX as u64;

/// Writes the file. `modules` and `files` are the paths of those that the nodes name, in order.
pub(super) fn write(
    dir: &Path,
    contents: &Contents,
    nodes: &Nodes,
    modules: &[String],
    files: &[SourcePath],
) -> io::Result<()> {
    // hpcviewer remembers strings by their places within a section, for these three sections together: no string of one may
    // stand where another has one.
    let general = general(&contents.title, &contents.description);
    let kinds = kinds(general.here(), general.extent().0);
    let metrics = metrics::section(&contents.metrics, kinds.here(), kinds.extent().0);
    let tables = Tables::new(nodes, modules, files, metrics.here());
    let context = context::section(nodes, &tables);
    let Tables { strings, modules, files, functions, .. } = tables;
    let mut file = FORMAT.create(dir)?;
    for section in [&general, &kinds, &metrics, &strings, &modules, &files, &functions, &context] {
        if section.extent().0 > LARGEST_SECTION {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the tree is too large: a section of meta.db would have more than 2 GiB",
            ));
        }
        file.append(section)?;
    }
    let in_header = [general, kinds, metrics, context, strings, modules, files, functions];
    file.finish(&in_header.map(|section| section.extent()))
}

/// Title and description.
fn general(title: &str, description: &str) -> Section {
    let mut section = Section::from(FORMAT.contents());
    let start = section.here();
    section.u64(0);
    section.u64(0);
    let title = section.text(title);
    section.set_u64(start, title);
    let description = section.lines(description);
    section.set_u64(start + 8, description);
    section
}

/// Names of the kinds of ids; strings come at least `text` bytes behind the beginning.
fn kinds(from: u64, text: u64) -> Section {
    let mut section = Section::from(from);
    let array = section.base() + 16;
    section.u64(array);
    section.u8(KIND_NAMES.len() as u8);
    section.pad_to(16 + 8 * KIND_NAMES.len() as u64);
    section.pad_to(text);
    for (name, at) in KIND_NAMES.iter().zip((array..).step_by(8)) {
        let address = section.text(name);
        section.set_u64(at, address);
    }
    section
}
