//! Entrances for fuzzers into what reads symbols and debug information.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::debuginfod::Artifact;
use super::demangle::{Language, base_name, short, with_parameters};
use super::elf::{Elf, Files};
use super::names::Names;
use super::{Debuginfod, cache, jit, resolve_module};
use crate::database::SymbolSource;
use crate::isolate::isolate;
use crate::load::{Maker, ModuleKey, Origin};
use crate::open::OpenOptions;
use crate::structure::Code;

/// Addresses that are asked for in each range of code.
const PROBES: u64 = 24;
/// Ranges of code that are asked about.
const RANGES: usize = 8;

/// Resolves addresses all over a module's code, with debug files beside it. Gives a name for each, so that nothing is
/// left out unseen.
pub fn resolve(program: &Path) -> Vec<String> {
    let looked_into = isolate(|| {
        let files = Files::default();
        let elf = Elf::open(program, &files).ok()?;
        Some((elf.build_id().to_vec(), addresses(&elf)))
    });
    let Ok(Some((build_id, addresses))) = looked_into else { return Vec::new() };
    let path = program.to_string_lossy().into_owned();
    let key = ModuleKey { path, build_id, origin: Origin::File };
    let symbols = resolve_module(&key, &addresses, u64::MAX, &OpenOptions::default());
    let resolved = addresses.iter().filter_map(|address| symbols.resolve(*address));
    resolved.filter_map(|r| r.frames.last().map(|frame| frame.function.name.to_string())).collect()
}

/// Addresses in all ranges of code, and at the ends of memory.
fn addresses(elf: &Elf) -> Vec<u64> {
    let mut addresses = vec![0, 1, u64::MAX - 1, u64::MAX];
    for (start, end) in elf.code_ranges().into_iter().take(RANGES) {
        let step = (end.saturating_sub(start) / PROBES).max(1);
        addresses.extend((0..PROBES).map(|probe| start.saturating_add(probe * step)).filter(|a| *a < end));
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Finds the loops of some code of x86-64 that begins at an address, and whether it returns.
pub fn code(start: u64, bytes: &[u8]) {
    let memory = |address: u64, size: u64| {
        let at = usize::try_from(address.checked_sub(start)?).ok()?;
        bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
    };
    let never_returns = |target: u64| target % 16 == 7;
    let architecture = object::Architecture::X86_64;
    let code = Code { architecture, start, bytes, memory: &memory, never_returns: &never_returns };
    let _ = code.may_return();
    if let Some(loops) = code.loops() {
        for number in 0..loops.len() as u32 {
            assert!(loops.parent(number).is_none_or(|parent| parent < number), "loops are out of order");
            assert!(loops.own(number).count() > 0, "a loop without code");
        }
    }
}

/// Resolves addresses of code that process 1 made, whose `perf-1.map` and `jit-1.dump` are in a directory.
pub fn generated_code(dir: &Path, addresses: &[u64]) {
    let cwd = PathBuf::from("/nowhere");
    let maker = Maker { pid: 1, start_ns: u64::MAX, host: String::new(), cwd, dir: dir.to_owned() };
    let _ = jit::resolve("[anonymous]", &maker, addresses, &OpenOptions::default());
}

/// Shows names of the symbols of one module.
pub fn names(symbols: &[&str]) {
    let mut names = Names::new(symbols.iter().copied());
    for symbol in symbols {
        for language in [Language::Fortran, Language::Other, Language::Unknown] {
            let _ = (short(symbol, language), names.shown(symbol, language));
        }
        let _ = (with_parameters(symbol), base_name(symbol));
    }
}

/// Makes an entry of the symbol cache in a directory, for a module's file, with nothing in it.
pub fn make_cache_entry(dir: &Path, program: &Path) {
    with_cache_entry(dir, program, |entry| entry.store(SymbolSource::Debug, std::iter::empty()));
}

/// Loads the entry; the number of addresses that it holds if it is good.
pub fn load_cache_entry(dir: &Path, program: &Path) -> Option<usize> {
    with_cache_entry(dir, program, |entry| entry.load().map(|kept| kept.addresses.len())).flatten()
}

fn with_cache_entry<T>(dir: &Path, program: &Path, work: impl FnOnce(cache::Entry) -> T) -> Option<T> {
    let files = Files::default();
    let elf = Elf::open(program, &files).ok()?;
    cache::Entry::new(dir, "program", &[&elf], &[]).map(work)
}

/// Asks a debuginfod server for the debug file of a build.
///
/// # Errors
/// Why there is no answer.
pub fn ask_debuginfod(server: &str, cache: &Path, build_id: &[u8]) -> Result<Option<PathBuf>, String> {
    let client = Debuginfod {
        servers: vec![server.to_owned()],
        cache: cache.to_owned(),
        answer_within: Duration::from_secs(5),
        file_within: Duration::from_secs(5),
        max_bytes: 1 << 20,
    };
    client.find(build_id, Artifact::DebugInfo)
}
