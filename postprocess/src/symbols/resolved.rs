//! What is known about the addresses of one module.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::database::ModuleInfo;
use crate::load::Warnings;

/// A function of the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Function {
    /// Demangled name.
    pub name: Arc<str>,
    pub file: Option<Arc<str>>,
    /// Line of its definition.
    pub line: Option<u32>,
}

/// A function that covers an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResolvedFrame {
    pub function: Arc<Function>,
    /// Line in the frame above at which it was inlined; `None` for the outermost.
    pub call_line: Option<u32>,
    /// Its loops around the address, outermost first.
    pub loops: Vec<Arc<ResolvedLoop>>,
}

impl ResolvedFrame {
    /// A frame without loops.
    pub fn new(function: Function, call_line: Option<u32>) -> ResolvedFrame {
        ResolvedFrame { function: Arc::new(function), call_line, loops: Vec::new() }
    }
}

/// A loop of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ResolvedLoop {
    /// `loop at file:line`, or `loop at module+0x…` where no line is known.
    pub name: Arc<str>,
    pub file: Option<Arc<str>>,
    /// Line at which it begins.
    pub line: Option<u32>,
}

/// An address: the function that holds it, what was inlined there, and the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resolved {
    /// Where the function begins in its module, if that is known.
    pub start: Option<u64>,
    /// Outermost first; at least one.
    pub frames: Vec<ResolvedFrame>,
    pub file: Option<Arc<str>>,
    pub line: Option<u32>,
}

impl Resolved {
    /// An address in a function of which no more than a name is known.
    pub fn named(name: &str) -> Resolved {
        let function = Function { name: name.into(), file: None, line: None };
        let frames = vec![ResolvedFrame::new(function, None)];
        Resolved { start: None, frames, file: None, line: None }
    }

    /// Whether it is as [`Resolved::frames`] promises.
    pub fn is_sound(&self) -> bool {
        !self.frames.is_empty()
    }
}

/// One copy of each function, loop and path of many addresses.
#[derive(Default)]
pub(crate) struct Interner {
    functions: FxHashSet<Arc<Function>>,
    loops: FxHashSet<Arc<ResolvedLoop>>,
    paths: FxHashSet<Arc<str>>,
}

impl Interner {
    /// The same address with shared parts.
    pub fn shared(&mut self, mut resolved: Resolved) -> Resolved {
        for frame in &mut resolved.frames {
            frame.function = self.function(&frame.function);
            for around in &mut frame.loops {
                match self.loops.get(around) {
                    Some(known) => *around = known.clone(),
                    None => drop(self.loops.insert(around.clone())),
                }
            }
        }
        resolved.file = resolved.file.map(|path| self.path(&path));
        resolved
    }

    fn function(&mut self, function: &Arc<Function>) -> Arc<Function> {
        if let Some(known) = self.functions.get(function) {
            return known.clone();
        }
        let file = function.file.as_ref().map(|path| self.path(path));
        let function = Arc::new(Function { file, ..(**function).clone() });
        self.functions.insert(function.clone());
        function
    }

    fn path(&mut self, path: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.paths.get(path) {
            return known.clone();
        }
        self.paths.insert(path.clone());
        path.clone()
    }
}

/// Names of one module.
#[derive(Debug)]
pub(crate) struct ModuleSymbols {
    /// File name without directory.
    pub module: Arc<str>,
    pub info: ModuleInfo,
    pub warnings: Warnings,
    addresses: FxHashMap<u64, Resolved>,
    /// Whether code that is not known has a name made of its module and address.
    has_addresses: bool,
}

impl ModuleSymbols {
    /// A module of which no address is known yet.
    pub fn new(file_name: &str, info: ModuleInfo, warnings: Warnings) -> ModuleSymbols {
        let addresses = FxHashMap::default();
        ModuleSymbols { module: file_name.into(), info, warnings, addresses, has_addresses: true }
    }

    /// Memory that belongs to no file: an address in it says nothing to anybody else.
    pub fn anonymous(name: &str, info: ModuleInfo) -> ModuleSymbols {
        ModuleSymbols { has_addresses: false, ..ModuleSymbols::new(name, info, Warnings::default()) }
    }

    /// Notes what an address is.
    pub fn insert(&mut self, address: u64, resolved: Resolved) {
        self.addresses.insert(address, resolved);
    }

    /// All addresses that are known.
    pub fn addresses(&self) -> impl Iterator<Item = (u64, &Resolved)> {
        self.addresses.iter().map(|(address, resolved)| (*address, resolved))
    }

    /// Whether it is known what an address is.
    pub fn knows(&self, address: u64) -> bool {
        self.addresses.contains_key(&address)
    }

    /// Where the function begins that holds an address, if that is known.
    pub fn function_start(&self, address: u64) -> Option<u64> {
        self.addresses.get(&address)?.start
    }

    /// What an address is; `module+0x…` if nothing is known, and `None` if that would say nothing.
    pub fn resolve(&self, address: u64) -> Option<Resolved> {
        let unnamed = || self.has_addresses.then(|| Resolved::named(&unnamed(&self.module, address, None)));
        self.addresses.get(&address).cloned().or_else(unnamed)
    }
}

/// Name of code that has none.
///
/// The number is an ELF virtual address: the start of the function where that is known, else the address itself.
/// `after` is an exported function that lies before it, which is no more than a hint where it is.
pub(crate) fn unnamed(module: &str, address: u64, after: Option<&str>) -> String {
    match after {
        Some(name) => format!("{module}+0x{address:x} [after {name}]"),
        None => format!("{module}+0x{address:x}"),
    }
}
