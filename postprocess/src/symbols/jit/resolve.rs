//! Names for the addresses of one process's generated code.

use std::path::PathBuf;

use super::code_map::{Code, CodeMap, Line};
use super::find::Here;
use super::{jitdump, perf_map};
use crate::database::{ModuleInfo, SymbolSource};
use crate::load::{Maker, Warnings};
use crate::open::OpenOptions;
use crate::symbols::resolved::{Function, ModuleSymbols, Resolved, ResolvedFrame};
use crate::symbols::source::SourcePaths;

/// Module of generated code that has a name.
const JIT: &str = "[jit]";

/// Resolves what the files of the process tell; the rest stays unnamed.
pub(in crate::symbols) fn resolve(
    path: &str,
    maker: &Maker,
    addresses: &[u64],
    options: &OpenOptions,
) -> ModuleSymbols {
    let nothing = ModuleInfo {
        path: path.to_owned(),
        build_id: String::new(),
        source: SymbolSource::Nothing,
        debug_file: None,
    };
    let mut symbols = ModuleSymbols::anonymous(JIT, nothing);
    if addresses.is_empty() {
        return symbols;
    }
    let mut paths = SourcePaths::new(&options.path_maps);
    let files = files(maker, &mut symbols.warnings);
    // The first file that gave names.
    let mut used = files.len();
    for address in addresses {
        let hit = (0..).zip(&files).find_map(|(at, file)| Some((at, file.map.find(*address)?)));
        if let Some((at, (code, offset))) = hit {
            symbols.insert(*address, resolved(code, offset, &mut paths));
            used = used.min(at);
        }
    }
    if let Some(file) = files.get(used) {
        symbols.info.path = JIT.into();
        symbols.info.source = file.source;
        symbols.info.debug_file = Some(file.path.to_string_lossy().into_owned());
    }
    symbols
}

/// A file that a process left about its code.
struct CodeFile {
    source: SymbolSource,
    path: PathBuf,
    map: CodeMap,
}

/// What there is, the one that tells most first.
fn files(maker: &Maker, warnings: &mut Warnings) -> Vec<CodeFile> {
    let here = Here::now();
    let mut files = Vec::new();
    if let Some((path, bytes)) = here.jitdump(maker) {
        match jitdump::parse(&bytes) {
            Some(map) => files.push(CodeFile { source: SymbolSource::Debug, path, map }),
            None => warnings.add(&path.to_string_lossy(), "left out: not a jitdump file"),
        }
    }
    if let Some((path, bytes)) = here.perf_map(maker) {
        files.push(CodeFile { source: SymbolSource::Symbols, path, map: perf_map::parse(&bytes) });
    }
    files
}

fn resolved(code: &Code, offset: u64, paths: &mut SourcePaths<'_>) -> Resolved {
    let mut file = |line: &Line| paths.path(&line.file);
    // The file of its first statement is the best that is known about its definition.
    let function = Function { name: code.name.clone(), file: code.lines.first().map(&mut file), line: None };
    let statement = code.line(offset);
    Resolved {
        start: None,
        frames: vec![ResolvedFrame::new(function, None)],
        file: statement.map(&mut file),
        line: statement.map(|l| l.line),
    }
}
