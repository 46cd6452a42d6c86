//! Debug information: inlined frames with call sites, statements, and where functions are defined.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{AttributeValue, EndianSlice, RunTimeEndian, Unit, UnitOffset, UnitRef};
use rustc_hash::FxHashMap;

use super::elf::{Elf, Files};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type SharedUnit<'a> = Arc<Unit<Slice<'a>>>;

/// Steps from a function's entry to the one that declares it.
const ORIGINS_MAX: usize = 8;

/// Debug information of one module.
pub(super) struct Dwarf<'a> {
    context: Context<Slice<'a>>,
    files: &'a Files,
    /// Places where split files may be beside where the compiler left them.
    split_dirs: Vec<PathBuf>,
    package: Option<Elf<'a>>,
    missing_split: Cell<usize>,
    /// Units that others refer to, by offset of their head; the flag is for the shared file.
    units: RefCell<FxHashMap<(bool, usize), SharedUnit<'a>>>,
    /// By split unit, offset of the unit's head and of the function's entry.
    definitions: RefCell<FxHashMap<(u64, usize, usize), Definition>>,
}

/// One frame at an address.
#[derive(Debug, Default)]
pub(super) struct RawFrame {
    /// Name for the linker if there is one, else the plain name.
    pub name: Option<String>,
    pub language: Option<gimli::DwLang>,
    /// Place in this frame: of the statement in the innermost, of the call in the others.
    pub file: Option<String>,
    pub line: Option<u32>,
    pub definition: Definition,
}

/// Where a function is defined, and its plain name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl<'a> Dwarf<'a> {
    /// Reads the tables of contents; `None` if there is no debug information or its index is damaged.
    pub fn new(
        elf: &Elf<'a>,
        shared: Option<&Elf<'a>>,
        binary: &Path,
        debug_paths: &[PathBuf],
        files: &'a Files,
    ) -> Option<Dwarf<'a>> {
        let load = |elf: &Elf<'a>, id: gimli::SectionId| Ok::<_, gimli::Error>(elf.slice(id.name()));
        let mut dwarf = gimli::Dwarf::load(|id| load(elf, id)).ok()?;
        if let Some(shared) = shared {
            dwarf.load_sup(|id| load(shared, id)).ok()?;
        }
        let beside = binary.parent().map(Path::to_owned);
        let mut package = binary.as_os_str().to_owned();
        package.push(".dwp");
        Some(Dwarf {
            context: Context::from_dwarf(dwarf).ok()?,
            files,
            split_dirs: beside.into_iter().chain(debug_paths.iter().cloned()).collect(),
            package: Elf::open(Path::new(&package), files).ok(),
            missing_split: Cell::new(0),
            units: RefCell::default(),
            definitions: RefCell::default(),
        })
    }

    /// Split debug files that could not be found so far.
    pub fn missing_split_files(&self) -> usize {
        self.missing_split.get()
    }

    /// Frames at an address, outermost first; empty if the debug information does not cover it.
    ///
    /// # Errors
    /// If the unit is damaged.
    pub fn frames(&self, address: u64) -> Result<Vec<RawFrame>, gimli::Error> {
        let mut iter = self.settle(self.context.find_frames(address))?;
        let mut frames = Vec::new();
        let mut entries = Vec::new();
        while let Some(frame) = iter.next()? {
            let location = frame.location.as_ref();
            frames.push(RawFrame {
                name: frame.function.as_ref().and_then(|f| f.raw_name().ok()).map(|n| n.into_owned()),
                language: frame.function.as_ref().and_then(|f| f.language),
                file: location.and_then(|l| l.file).map(str::to_owned),
                line: location.and_then(|l| l.line).filter(|l| *l > 0),
                definition: Definition::default(),
            });
            entries.push(frame.dw_die_offset);
        }
        if let Some(unit) = self.settle(self.context.find_dwarf_and_unit(address)) {
            for (frame, entry) in frames.iter_mut().zip(entries) {
                if let Some(entry) = entry {
                    frame.definition = self.definition(unit, entry);
                }
            }
        }
        frames.reverse();
        Ok(frames)
    }

    fn settle<L: LookupContinuation<Buf = Slice<'a>>>(&self, mut lookup: LookupResult<L>) -> L::Output {
        loop {
            lookup = match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    let loaded = self.load_split(&load);
                    if loaded.is_none() {
                        self.missing_split.set(self.missing_split.get() + 1);
                    }
                    continuation.resume(loaded)
                }
            };
        }
    }

    /// A unit that the compiler left in a file of its own, or in the package of all of them.
    fn load_split(&self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Arc<gimli::Dwarf<Slice<'a>>>> {
        if let Some(package) = &self.package {
            let empty = EndianSlice::new(&[], package.endian());
            let sections = |id: gimli::SectionId| {
                Ok::<_, gimli::Error>(id.dwo_name().map_or(empty, |name| package.slice(name)))
            };
            let dwp = gimli::DwarfPackage::load(sections, empty).ok();
            if let Some(unit) = dwp.and_then(|dwp| dwp.find_cu(load.dwo_id, &load.parent).ok().flatten()) {
                return Some(Arc::new(unit));
            }
        }
        let text = |slice: Option<Slice<'a>>| slice.and_then(|s| std::str::from_utf8(s.slice()).ok());
        let path = Path::new(text(load.path)?);
        let named = Path::new(text(load.comp_dir).unwrap_or_default()).join(path);
        let beside = self.split_dirs.iter().filter_map(|dir| path.file_name().map(|name| dir.join(name)));
        std::iter::once(named).chain(beside).find_map(|path| {
            let elf = Elf::open(&path, self.files).ok()?;
            let empty = EndianSlice::new(&[], elf.endian());
            let mut dwarf = gimli::Dwarf::load(|id| {
                Ok::<_, gimli::Error>(id.dwo_name().map_or(empty, |name| elf.slice(name)))
            })
            .ok()?;
            let head = dwarf.units().next().ok()??;
            let right = dwarf.unit(head).ok()?.dwo_id == Some(load.dwo_id);
            dwarf.make_dwo(&load.parent);
            right.then(|| Arc::new(dwarf))
        })
    }

    fn definition(&self, unit: UnitRef<'_, Slice<'a>>, entry: UnitOffset) -> Definition {
        let head = unit.header.debug_info_offset().map_or(0, |offset| offset.0);
        let key = (unit.dwo_id.map_or(0, |id| id.0), head, entry.0);
        if let Some(known) = self.definitions.borrow().get(&key) {
            return known.clone();
        }
        let mut found = Definition::default();
        self.define(unit, entry, &mut found, ORIGINS_MAX);
        self.definitions.borrow_mut().insert(key, found.clone());
        found
    }

    /// Follows a function's entry to the one that was declared in the source.
    fn define(&self, unit: UnitRef<'_, Slice<'a>>, entry: UnitOffset, found: &mut Definition, steps: usize) {
        let Ok(entry) = unit.entry(entry) else { return };
        if found.name.is_none() {
            let name = entry.attr_value(gimli::DW_AT_name).and_then(|v| unit.attr_string(v).ok());
            found.name = name.map(|n| n.to_string_lossy().into_owned());
        }
        if found.line.is_none()
            && let Some(line) = entry.attr_value(gimli::DW_AT_decl_line).and_then(|v| v.udata_value())
        {
            found.line = u32::try_from(line).ok().filter(|l| *l > 0);
            found.file = declared_file(unit, entry.attr_value(gimli::DW_AT_decl_file));
        }
        if steps == 0 || (found.line.is_some() && found.name.is_some()) {
            return;
        }
        let origin = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification));
        match origin {
            Some(AttributeValue::UnitRef(next)) => self.define(unit, next, found, steps - 1),
            Some(AttributeValue::DebugInfoRef(next)) => {
                self.define_elsewhere(unit.dwarf, false, next, found, steps)
            }
            Some(AttributeValue::DebugInfoRefSup(next)) => {
                if let Some(shared) = unit.dwarf.sup() {
                    self.define_elsewhere(shared, true, next, found, steps);
                }
            }
            _ => {}
        }
    }

    fn define_elsewhere(
        &self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        shared: bool,
        place: gimli::DebugInfoOffset,
        found: &mut Definition,
        steps: usize,
    ) {
        let Some(unit) = self.unit_at(dwarf, shared, place) else { return };
        if let Some(entry) = place.to_unit_offset(&unit.header) {
            self.define(UnitRef::new(dwarf, &unit), entry, found, steps - 1);
        }
    }

    fn unit_at(
        &self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        shared: bool,
        place: gimli::DebugInfoOffset,
    ) -> Option<SharedUnit<'a>> {
        let mut units = dwarf.units();
        let head = loop {
            let head = units.next().ok()??;
            if place.to_unit_offset(&head).is_some() {
                break head;
            }
        };
        let key = (shared, head.debug_info_offset()?.0);
        if let Some(unit) = self.units.borrow().get(&key) {
            return Some(unit.clone());
        }
        let unit = Arc::new(dwarf.unit(head).ok()?);
        self.units.borrow_mut().insert(key, unit.clone());
        Some(unit)
    }
}

/// Path of a file of a unit's line table.
fn declared_file(unit: UnitRef<'_, Slice<'_>>, index: Option<AttributeValue<Slice<'_>>>) -> Option<String> {
    let Some(AttributeValue::FileIndex(index)) = index else { return None };
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| unit.attr_string(value).ok().map(|s| s.to_string_lossy().into_owned());
    let mut path = PathBuf::from(unit.comp_dir.map(|d| d.to_string_lossy().into_owned()).unwrap_or_default());
    // Directory 0 is the compilation directory.
    if file.directory_index() != 0 {
        path.push(file.directory(header).and_then(text)?);
    }
    path.push(text(file.path_name())?);
    Some(path.to_string_lossy().into_owned())
}
