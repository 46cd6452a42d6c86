//! Tables that all threads share, column by column.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::document::Kind;
use crate::cct::Scope;
use crate::export::frames::{Frame, Frames};

/// Stands for no address and no resource.
const NONE: i32 = -1;
/// Type of a resource that is a load module.
const LIBRARY: u32 = 1;

/// All tables.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shared {
    stack_table: Stacks,
    frame_table: FrameTable,
    func_table: Functions,
    resource_table: Resources,
    native_symbols: NativeSymbols,
    sources: Sources,
    string_array: Vec<String>,
}

/// Call paths: a frame and the stack that it is called from. There is one stack for each of the profile's frames.
#[derive(Default, Serialize)]
struct Stacks {
    frame: Vec<u32>,
    prefix: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameTable {
    address: Vec<i32>,
    inline_depth: Vec<u32>,
    category: Vec<u32>,
    subcategory: Vec<u32>,
    func: Vec<u32>,
    native_symbol: Vec<Option<u32>>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Vec<u32>,
    line: Vec<Option<u32>>,
    column: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Functions {
    name: Vec<u32>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    resource: Vec<i32>,
    source: Vec<Option<u32>>,
    line_number: Vec<Option<u32>>,
    column_number: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    #[serde(rename = "type")]
    kind: Vec<u32>,
    lib: Vec<u32>,
    name: Vec<u32>,
    host: Vec<Option<u32>>,
    length: usize,
}

/// Functions as the linker placed them, into which others may be inlined.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NativeSymbols {
    lib_index: Vec<u32>,
    address: Vec<i32>,
    name: Vec<u32>,
    function_size: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
struct Sources {
    uuid: Vec<Option<String>>,
    filename: Vec<u32>,
    length: usize,
}

impl Shared {
    /// The tables of a profile's frames, and the file names of load modules in the order of the libraries. Functions of
    /// `program` are in a category of their own.
    pub fn new<'a>(frames: &Frames<'a>, program: &str) -> (Shared, Vec<&'a str>) {
        let mut builder = Builder::default();
        frames.functions().iter().for_each(|scope| builder.function(scope));
        let mut depths: Vec<(u32, u32)> = Vec::with_capacity(frames.frames().len());
        for (index, frame) in (0..).zip(frames.frames()) {
            // How deep it is inlined, and into which function.
            let (depth, outer) = match frame.caller {
                Some(caller) if frame.inlined => {
                    let (depth, outer) = depths[caller as usize];
                    (depth + 1, outer)
                }
                _ => (0, frame.function),
            };
            depths.push((depth, outer));
            let symbol = builder.native_symbol(outer, frames.functions()[outer as usize]);
            builder.frame(index, frame, depth, symbol, frames.functions()[outer as usize], program);
        }
        (builder.shared, builder.modules)
    }
}

#[derive(Default)]
struct Builder<'a> {
    shared: Shared,
    modules: Vec<&'a str>,
    strings: FxHashMap<String, u32>,
    resources: FxHashMap<&'a str, u32>,
    sources: FxHashMap<&'a str, u32>,
    native_symbols: FxHashMap<u32, u32>,
}

impl<'a> Builder<'a> {
    fn string(&mut self, text: &str) -> u32 {
        if let Some(index) = self.strings.get(text) {
            return *index;
        }
        let index = self.shared.string_array.len() as u32;
        self.shared.string_array.push(text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn function(&mut self, scope: &'a Scope) {
        let name = self.string(&scope.name);
        let resource = scope.module.as_deref().map_or(NONE, |module| self.resource(module) as i32);
        let source = scope.file.as_deref().map(|file| self.source(file));
        let table = &mut self.shared.func_table;
        table.name.push(name);
        table.is_js.push(false);
        table.relevant_for_js.push(false);
        table.resource.push(resource);
        table.source.push(source);
        table.line_number.push(scope.line);
        table.column_number.push(None);
        table.length += 1;
    }

    /// The resource of a load module, which has the same index as its library.
    fn resource(&mut self, module: &'a str) -> u32 {
        if let Some(index) = self.resources.get(module) {
            return *index;
        }
        let name = self.string(module);
        let index = self.modules.len() as u32;
        self.modules.push(module);
        self.resources.insert(module, index);
        let table = &mut self.shared.resource_table;
        table.kind.push(LIBRARY);
        table.lib.push(index);
        table.name.push(name);
        table.host.push(None);
        table.length += 1;
        index
    }

    fn source(&mut self, file: &'a str) -> u32 {
        if let Some(index) = self.sources.get(file) {
            return *index;
        }
        let filename = self.string(file);
        let table = &mut self.shared.sources;
        table.uuid.push(None);
        table.filename.push(filename);
        table.length += 1;
        self.sources.insert(file, table.length as u32 - 1);
        table.length as u32 - 1
    }

    /// The symbol of a function that lies in a load module.
    fn native_symbol(&mut self, function: u32, scope: &'a Scope) -> Option<u32> {
        let module = scope.module.as_deref()?;
        if let Some(symbol) = self.native_symbols.get(&function) {
            return Some(*symbol);
        }
        let (lib, name) = (self.resource(module), self.string(&scope.name));
        let table = &mut self.shared.native_symbols;
        table.lib_index.push(lib);
        table.address.push(NONE);
        table.name.push(name);
        table.function_size.push(None);
        table.length += 1;
        self.native_symbols.insert(function, table.length as u32 - 1);
        Some(table.length as u32 - 1)
    }

    fn frame(
        &mut self,
        index: u32,
        frame: &Frame,
        depth: u32,
        symbol: Option<u32>,
        outer: &Scope,
        program: &str,
    ) {
        let kind = match outer.module.as_deref() {
            None => Kind::Other,
            Some(module) if module == program => Kind::Program,
            Some(_) => Kind::Libraries,
        };
        let table = &mut self.shared.frame_table;
        table.address.push(NONE);
        table.inline_depth.push(depth);
        table.category.push(kind as u32);
        table.subcategory.push(0);
        table.func.push(frame.function);
        table.native_symbol.push(symbol);
        table.inner_window_id.push(0);
        table.line.push(frame.line);
        table.column.push(None);
        table.length += 1;
        let stacks = &mut self.shared.stack_table;
        stacks.frame.push(index);
        stacks.prefix.push(frame.caller);
        stacks.length += 1;
    }
}
