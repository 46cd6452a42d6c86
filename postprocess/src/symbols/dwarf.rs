//! Debug information: inlined frames with call sites, statements, and where functions are defined.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{AttributeValue, EndianSlice, RunTimeEndian, Unit, UnitHeader, UnitOffset, UnitRef};
use rustc_hash::FxHashMap;

use super::elf::{Elf, Files};
use super::sections;
use super::units::heads_of;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type SharedUnit<'a> = Arc<Unit<Slice<'a>>>;
type Package<'a> = gimli::DwarfPackage<Slice<'a>>;

/// Steps from a function's entry to the one that declares it.
const ORIGINS_MAX: usize = 8;

/// Debug information of one module.
pub(super) struct Dwarf<'a> {
    sections: Arc<gimli::Dwarf<Slice<'a>>>,
    context: Context<Slice<'a>>,
    files: &'a Files,
    /// What addresses of the debug file lack of the module's.
    shift: u64,
    /// Places where split files may be beside where the compiler left them.
    split_dirs: Vec<PathBuf>,
    /// Where packages of split units may be.
    package_paths: Vec<PathBuf>,
    /// Those that are there, once one is needed.
    packages: OnceCell<Vec<Package<'a>>>,
    missing_split: Cell<usize>,
    /// Units that others refer to, by offset of their head; the flag is for the shared file.
    units: RefCell<FxHashMap<(bool, usize), SharedUnit<'a>>>,
    /// Heads of the units that others may refer to, by place.
    heads: [OnceCell<Vec<UnitHeader<Slice<'a>>>>; 2],
    /// By id, what the module itself has of split units.
    skeletons: RefCell<FxHashMap<u64, Option<SharedUnit<'a>>>>,
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
    /// Reads the units that cover the addresses; `shift` is what those of the debug file lack of the module's. `None` if there is no debug information or it is damaged.
    pub fn new(
        elf: &Elf<'a>,
        shared: Option<&Elf<'a>>,
        binary: &Path,
        debug_paths: &[PathBuf],
        files: &'a Files,
        addresses: &[u64],
        shift: u64,
    ) -> Option<Dwarf<'a>> {
        let mut addresses: Vec<u64> = addresses.iter().map(|a| a.wrapping_sub(shift)).collect();
        addresses.sort_unstable();
        let sections = Arc::new(sections::load(elf, shared, files, &addresses)?);
        let beside = binary.parent().map(Path::to_owned);
        Some(Dwarf {
            context: Context::from_arc_dwarf(sections.clone()).ok()?,
            sections,
            files,
            shift,
            split_dirs: beside.into_iter().chain(debug_paths.iter().cloned()).collect(),
            package_paths: package_paths(binary, &elf.path, debug_paths),
            packages: OnceCell::new(),
            missing_split: Cell::new(0),
            units: RefCell::default(),
            heads: [OnceCell::new(), OnceCell::new()],
            skeletons: RefCell::default(),
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
        let address = address.wrapping_sub(self.shift);
        if address == u64::MAX {
            // The library looks at the address behind it too.
            return Ok(Vec::new());
        }
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

    fn packages(&self) -> &[Package<'a>] {
        self.packages.get_or_init(|| {
            let open = |path: &PathBuf| sections::load_package(&Elf::open(path, self.files).ok()?);
            self.package_paths.iter().filter_map(open).collect()
        })
    }

    /// A unit that the compiler left in a file of its own, or in the package of all of them.
    fn load_split(&self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Arc<gimli::Dwarf<Slice<'a>>>> {
        let in_package = |p: &Package<'a>| p.find_cu(load.dwo_id, &load.parent).ok().flatten();
        if let Some(unit) = self.packages().iter().find_map(in_package) {
            return Some(Arc::new(unit));
        }
        let text = |slice: Option<Slice<'a>>| slice.and_then(|s| std::str::from_utf8(s.slice()).ok());
        let path = Path::new(text(load.path)?);
        let named = Path::new(text(load.comp_dir).unwrap_or_default()).join(path);
        let beside = self.split_dirs.iter().filter_map(|dir| path.file_name().map(|name| dir.join(name)));
        std::iter::once(named).chain(beside).find_map(|path| {
            let elf = Elf::open(&path, self.files).ok()?;
            let mut dwarf = sections::load_split(&elf)?;
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
            found.file = self.declared_file(unit, entry.attr_value(gimli::DW_AT_decl_file));
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

    /// Path of a file by its number in a unit. Split units leave the table of files in the module.
    fn declared_file(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        index: Option<AttributeValue<Slice<'a>>>,
    ) -> Option<String> {
        let Some(AttributeValue::FileIndex(index)) = index else { return None };
        match unit.dwo_id.filter(|_| unit.line_program.is_none()) {
            None => file_path(unit, index),
            Some(id) => {
                let skeleton = self.skeleton(id)?;
                file_path(UnitRef::new(&self.sections, &skeleton), index)
            }
        }
    }

    fn skeleton(&self, id: gimli::DwoId) -> Option<SharedUnit<'a>> {
        if let Some(known) = self.skeletons.borrow().get(&id.0) {
            return known.clone();
        }
        let heads = self.heads[0].get_or_init(|| heads_of(&self.sections));
        let units = heads.iter().filter_map(|head| self.sections.unit(*head).ok());
        let found = units.into_iter().find(|unit| unit.dwo_id == Some(id)).map(Arc::new);
        self.skeletons.borrow_mut().insert(id.0, found.clone());
        found
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
        let heads = self.heads[usize::from(shared)].get_or_init(|| heads_of(dwarf));
        let after = heads.partition_point(|h| h.debug_info_offset().is_some_and(|start| start <= place));
        let head = *heads.get(after.checked_sub(1)?)?;
        let key = (shared, head.debug_info_offset()?.0);
        if let Some(unit) = self.units.borrow().get(&key) {
            return Some(unit.clone());
        }
        let unit = Arc::new(dwarf.unit(head).ok()?);
        self.units.borrow_mut().insert(key, unit.clone());
        Some(unit)
    }
}

/// `NAME.dwp` beside the module, beside its debug file, and in the directories that are searched. Units are taken
/// from it by their id only.
fn package_paths(binary: &Path, debug_file: &Path, debug_paths: &[PathBuf]) -> Vec<PathBuf> {
    let named = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".dwp");
        PathBuf::from(name)
    };
    let searched = debug_paths.iter().filter_map(|dir| binary.file_name().map(|name| named(&dir.join(name))));
    let mut paths: Vec<PathBuf> = [named(binary), named(debug_file)].into_iter().chain(searched).collect();
    paths.dedup();
    paths
}

/// Path of a file of a unit's line table.
fn file_path(unit: UnitRef<'_, Slice<'_>>, index: u64) -> Option<String> {
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
