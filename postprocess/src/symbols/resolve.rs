//! Resolving all addresses of a module: debug information first, symbols next, bounds of functions last.

use std::sync::Arc;

use super::bounds::{Bounds, Place};
use super::cache::Entry;
use super::debug_files::{Search, hex};
use super::debugdata;
use super::demangle::{Language, is_mangled};
use super::dwarf::{Dwarf, RawFrame};
use super::elf::{Elf, Files};
use super::jit;
use super::loops::Loops;
use super::names::Names;
use super::resolved::{Function, ModuleSymbols, Resolved, ResolvedFrame, ResolvedLoop, unnamed};
use super::source::SourcePaths;
use crate::database::{ModuleInfo, SymbolSource};
use crate::isolate::isolate;
use crate::load::{ModuleKey, Origin, Warnings};
use crate::open::OpenOptions;

/// Main program of a Fortran source, for the linker.
const FORTRAN_MAIN: &str = "MAIN__";

/// Resolves the addresses of one module, which was first measured at `since_ns` (nanoseconds since 1970). What cannot be
/// resolved is `module+0x…`, with one warning for each reason.
pub(crate) fn resolve_module(
    key: &ModuleKey,
    addresses: &[u64],
    since_ns: u64,
    options: &OpenOptions,
) -> ModuleSymbols {
    if let Origin::Anonymous(maker) = &key.origin {
        return jit::resolve(&key.path, maker, addresses, options);
    }
    let info = ModuleInfo {
        path: key.path.clone(),
        build_id: hex(&key.build_id),
        source: SymbolSource::Nothing,
        debug_file: None,
    };
    let mut symbols = ModuleSymbols::new(key.file_name(), info, Warnings::default());
    if !addresses.is_empty() {
        let filled = isolate(|| fill(&mut symbols, key, addresses, since_ns, options));
        let reason = filled.unwrap_or_else(|panic| Err(format!("the file is damaged ({panic})")));
        if let Err(reason) = reason {
            symbols.warnings.add(&key.path, format!("no names: {reason}"));
        }
    }
    symbols
}

fn fill(
    symbols: &mut ModuleSymbols,
    key: &ModuleKey,
    addresses: &[u64],
    since_ns: u64,
    options: &OpenOptions,
) -> Result<(), String> {
    let files = Files::default();
    let search = Search::new(options);
    let found = Found::new(&search, key, since_ns, &files);
    for note in search.notes() {
        symbols.warnings.add(&key.path, note);
    }
    let found = found?;
    symbols.info.debug_file = found.debug.as_ref().map(|d| d.path.to_string_lossy().into_owned());
    let entry = options.symbol_cache.as_ref().and_then(|dir| {
        let parts = [Some(&found.binary), found.debug.as_ref(), found.shared.as_ref()];
        let parts: Vec<&Elf> = parts.into_iter().flatten().collect();
        Entry::new(dir, key.file_name(), &parts, &options.path_maps)
    });
    if let Some(kept) = entry.as_ref().and_then(Entry::load) {
        symbols.info.source = kept.source;
        for (address, resolved) in kept.addresses {
            symbols.insert(address, resolved);
        }
    }
    let missing: Vec<u64> = addresses.iter().copied().filter(|a| !symbols.knows(*a)).collect();
    if !missing.is_empty() {
        found.resolve(symbols, key, &missing, options, &files);
        // What a missing or damaged file left out may be there next time.
        if let Some(entry) = entry.filter(|_| symbols.warnings.is_empty()) {
            entry.store(symbols.info.source, symbols.addresses());
        }
    }
    Ok(())
}

/// Frames of the debug information; none if there is none, `None` if it is damaged.
fn look_up(dwarf: Option<&Dwarf>, address: u64) -> Option<Vec<RawFrame>> {
    let Some(dwarf) = dwarf else { return Some(Vec::new()) };
    isolate(|| dwarf.frames(address)).ok()?.ok()
}

/// The files of a module.
struct Found<'a> {
    binary: Elf<'a>,
    /// Its separate debug file.
    debug: Option<Elf<'a>>,
    /// What the debug file shares with others.
    shared: Option<Elf<'a>>,
}

impl<'a> Found<'a> {
    fn new(search: &Search, key: &ModuleKey, since_ns: u64, files: &'a Files) -> Result<Found<'a>, String> {
        let binary = search.binary(key, since_ns, files)?;
        let debug = if binary.has_debug_info() { None } else { search.debug(&binary, files) };
        let shared = search.shared(debug.as_ref().unwrap_or(&binary), files);
        Ok(Found { binary, debug, shared })
    }

    fn resolve(
        &self,
        symbols: &mut ModuleSymbols,
        key: &ModuleKey,
        addresses: &[u64],
        options: &OpenOptions,
        files: &'a Files,
    ) {
        let Found { binary, debug, shared } = self;
        let with_debug = debug.as_ref().unwrap_or(binary);
        let shift = match (binary.text_address(), with_debug.text_address()) {
            (Some(binary), Some(debug)) => binary.wrapping_sub(debug),
            _ => 0,
        };
        // A symbol table for tools that print stacks; a debug file has all of it and more.
        let inner = if debug.is_none() { debugdata::inner(binary, files) } else { None };
        let others: Vec<(&Elf, u64)> =
            debug.iter().map(|elf| (elf, shift)).chain(inner.iter().map(|elf| (elf, 0))).collect();
        let bounds = Bounds::new(binary, &others);
        let dwarf = if with_debug.has_debug_info() {
            let paths = &options.debug_paths;
            // A damaged index must not cost the symbols.
            let opened = isolate(|| {
                Dwarf::new(with_debug, shared.as_ref(), &binary.path, paths, files, addresses, shift)
            });
            let opened = opened.ok().flatten();
            if opened.is_none() {
                symbols.warnings.add(&key.path, "the debug information is damaged: names come from symbols");
            }
            opened
        } else {
            None
        };
        symbols.info.source = match (&dwarf, bounds.has_symbols(), bounds.has_unwind_entries()) {
            (Some(_), _, _) => SymbolSource::Debug,
            (None, true, _) => SymbolSource::Symbols,
            (None, false, true) => SymbolSource::Bounds,
            (None, false, false) => SymbolSource::Nothing,
        };
        let mut resolver = Resolver {
            module: symbols.module.clone(),
            names: Names::new(bounds.names()),
            bounds,
            dwarf,
            paths: SourcePaths::new(&options.path_maps),
            loops: Loops::new(binary),
            damaged: 0,
        };
        for address in addresses {
            let resolved = resolver.resolve(*address);
            symbols.insert(*address, resolved);
        }
        let damaged = resolver.damaged;
        if damaged > 0 {
            let sentence =
                format!("the debug information of {damaged} addresses is damaged: names come from symbols");
            symbols.warnings.add(&key.path, sentence);
        }
        let missing = resolver.dwarf.as_ref().map_or(0, Dwarf::missing_split_files);
        if missing > 0 {
            let sentence = format!("{missing} split debug files (.dwo) are missing: names come from symbols");
            symbols.warnings.add(&key.path, sentence);
        }
        if with_debug.shared_link().is_some() && shared.is_none() && resolver.dwarf.is_some() {
            let sentence = "the file that its debug information shares with others (dwz) is missing: some names come from symbols";
            symbols.warnings.add(&key.path, sentence);
        }
    }
}

struct Resolver<'a> {
    module: Arc<str>,
    names: Names<'a>,
    bounds: Bounds<'a>,
    dwarf: Option<Dwarf<'a>>,
    paths: SourcePaths<'a>,
    loops: Loops<'a>,
    /// Addresses whose debug information is damaged.
    damaged: u64,
}

impl Resolver<'_> {
    fn resolve(&mut self, address: u64) -> Resolved {
        let place = self.bounds.find(address);
        let raw = self.raw_frames(address);
        let mut frames = match raw.iter().any(|f| f.name.is_some() || f.definition.name.is_some()) {
            true => self.frames(&place, &raw),
            false => {
                let function =
                    Function { name: self.place_name(&place, Language::Unknown), file: None, line: None };
                vec![ResolvedFrame::new(function, None)]
            }
        };
        self.add_loops(address, &raw, &mut frames);
        let innermost = raw.last();
        let file = innermost.and_then(|f| f.file.as_deref()).map(|f| self.paths.path(f));
        Resolved { start: place.start(), frames, file, line: innermost.and_then(|f| f.line) }
    }

    fn raw_frames(&mut self, address: u64) -> Vec<RawFrame> {
        look_up(self.dwarf.as_ref(), address).unwrap_or_else(|| {
            self.damaged += 1;
            Vec::new()
        })
    }

    fn add_loops(&mut self, address: u64, raw: &[RawFrame], frames: &mut [ResolvedFrame]) {
        let dwarf = self.dwarf.as_ref();
        let look_up = |address| look_up(dwarf, address).unwrap_or_default();
        for (depth, place) in self.loops.around(address, raw, &self.bounds, &look_up) {
            let file = place.file.as_deref().map(|f| self.paths.path(f));
            let name = match (&file, place.line) {
                (Some(file), Some(line)) => {
                    format!("loop at {}:{line}", file.rsplit('/').next().unwrap_or(file))
                }
                _ => format!("loop at {}", unnamed(&self.module, place.address, None)),
            };
            let found = ResolvedLoop { name: name.into(), line: place.line.filter(|_| file.is_some()), file };
            let Some(frame) = frames.get_mut(depth.saturating_sub(1)) else { continue };
            // Code of one loop that is a loop within it.
            if frame.loops.last().is_none_or(|last| **last != found) {
                frame.loops.push(Arc::new(found));
            }
        }
    }

    fn frames(&mut self, place: &Place, raw: &[RawFrame]) -> Vec<ResolvedFrame> {
        let mut above: Option<&RawFrame> = None;
        let mut frames = Vec::with_capacity(raw.len());
        for frame in raw {
            let name = match above {
                None => self.outer_name(place, frame),
                Some(_) => self.inlined_name(frame),
            };
            let file = frame.definition.file.as_deref().map(|f| self.paths.path(f));
            let function = Function { name, file, line: frame.definition.line };
            frames.push(ResolvedFrame::new(function, above.and_then(|a| a.line)));
            above = Some(frame);
        }
        frames
    }

    /// The name of the function as the linker placed it. A symbol is preferred to a plain name of the debug
    /// information if it is mangled, since the plain name leaves out what encloses the function, or external,
    /// since the plain name may be one for use inside the library.
    fn outer_name(&mut self, place: &Place, frame: &RawFrame) -> Arc<str> {
        let language = Language::of(frame.language);
        let name = match (place, &frame.name) {
            (Place::Symbol { name: symbol, external, .. }, Some(name))
                if !is_mangled(name) && name != FORTRAN_MAIN && (*external || is_mangled(symbol)) =>
            {
                self.readable(symbol, language, frame)
            }
            (_, Some(_)) => self.inlined_name(frame),
            (_, None) => return self.place_name(place, language),
        };
        with_identical(name, place)
    }

    fn inlined_name(&mut self, frame: &RawFrame) -> Arc<str> {
        let language = Language::of(frame.language);
        match (&frame.name, &frame.definition.name) {
            (Some(name), Some(program)) if name == FORTRAN_MAIN => program.as_str().into(),
            (Some(name), _) | (None, Some(name)) => self.readable(name, language, frame),
            (None, None) => "[inlined]".into(),
        }
    }

    /// The name of a symbol, or the plain one of the debug information if it cannot be taken apart.
    fn readable(&mut self, symbol: &str, language: Language, frame: &RawFrame) -> Arc<str> {
        let shown = self.names.shown(symbol, language);
        match &frame.definition.name {
            Some(plain) if is_mangled(&shown) && !is_mangled(plain) => plain.as_str().into(),
            _ => shown,
        }
    }

    fn place_name(&mut self, place: &Place, language: Language) -> Arc<str> {
        match place {
            Place::Symbol { name, .. } => with_identical(self.names.shown(name, language), place),
            Place::Plt(name) => name.as_str().into(),
            Place::Unnamed { start, after } => {
                let after = after.map(|name| self.names.shown(name, language));
                unnamed(&self.module, *start, after.as_deref()).into()
            }
        }
    }
}

/// The name of one of several functions that are the same code, with the number of others.
fn with_identical(name: Arc<str>, place: &Place) -> Arc<str> {
    match place {
        Place::Symbol { identical, .. } if *identical > 0 => {
            format!("{name} [+{identical} identical]").into()
        }
        _ => name,
    }
}
