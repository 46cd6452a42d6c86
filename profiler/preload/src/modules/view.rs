//! Signal context: yes. The list of modules as one handler sees it.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use falloff_format::helpers::starts_helpers;
use falloff_format::node::{Frame as FormatFrame, PSEUDO_MODULE, UNLISTED_MODULE};
use unwinder::{CACHE_LENGTH, Cache, Extent, Frame, Module, Modules, Section};

use super::list::{Entry, LATE_MAX, List};
use super::{LIST, REGISTRY, UNLOADING, path};
use crate::loader;
use crate::object::Object;
use crate::registry::{self, ANONYMOUS_MODULE};
use crate::text::base_name;

/// The list as one handler sees it.
pub struct View<'a> {
    list: &'a List,
    restricted: bool,
    /// An address was met whose module could not be looked for now.
    blind: Cell<bool>,
}

/// The current list; `None` before the first was made. Only between `handler::enter` and `leave`.
pub fn view<'a>() -> Option<View<'a>> {
    // SAFETY: lists are freed only after every handler that may hold one has left.
    let list = unsafe { LIST.load(Ordering::SeqCst).as_ref() }?;
    Some(View { list, restricted: UNLOADING.load(Ordering::SeqCst) > 0, blind: Cell::new(false) })
}

impl View<'_> {
    /// Whether a path found with this view may end too early, at a module that cannot be looked for now.
    pub fn is_blind(&self) -> bool {
        self.blind.get()
    }

    /// The list's number.
    pub fn number(&self) -> u64 {
        self.list.number
    }

    /// The rule cache that belongs to the list.
    pub fn cache(&self) -> Option<Cache<'_>> {
        // SAFETY: CACHE_LENGTH words that live as long as the list.
        Cache::new(unsafe { core::slice::from_raw_parts(self.list.cache, CACHE_LENGTH) })
    }

    /// A walked frame as the measurement file names it. `None`: it is this library's and belongs in no path, since what
    /// the application calls us for is its own cost.
    pub fn frame(&self, frame: &Frame) -> Option<FormatFrame> {
        match self.list.brief(frame.module) {
            Some(brief) if brief.is_sampler => None,
            Some(brief) => Some(FormatFrame::new(brief.index, frame.pc.wrapping_sub(brief.bias))),
            None => Some(FormatFrame::new(ANONYMOUS_MODULE, frame.pc)),
        }
    }

    /// Sees to it that the module of a frame is described in the file. `false`: not now.
    pub fn record(&self, frame: FormatFrame) -> bool {
        match frame.module() {
            PSEUDO_MODULE | UNLISTED_MODULE => true,
            index if registry::is_recorded(index) => true,
            ANONYMOUS_MODULE => registry::record_anonymous(),
            index => match self.list.all().find(|e| e.index == index) {
                // While objects may be unloaded, their names may be gone.
                Some(entry) if self.restricted && !entry.permanent => false,
                Some(entry) => REGISTRY.lock_soon().is_some_and(|mut registry| {
                    registry.record(index, &entry.object, entry.path().to_bytes())
                }),
                None => false,
            },
        }
    }

    /// The bytes of code before an address.
    pub fn code_before(&self, address: u64, length: u64) -> Option<&[u8]> {
        let code = self.list.find(address)?.object.module.code;
        let start = address.checked_sub(length)?.checked_sub(code.address())? as usize;
        code.bytes().get(start..start + length as usize)
    }

    /// An address as the measurement file names it, if it belongs to a module that is known.
    pub fn frame_at(&self, address: u64) -> Option<FormatFrame> {
        let (_, brief) = self.list.locate(address)?;
        Some(FormatFrame::new(brief.index, address.wrapping_sub(brief.bias)))
    }

    /// Whether a thread that begins at this address, in code that is loaded, is a run-time library's own.
    pub fn starts_helpers(&self, address: u64) -> bool {
        self.list.find(address).is_some_and(|entry| starts_helpers(base_name(entry.path().to_bytes())))
    }

    /// The id of an address's module, which is looked for if no list has it.
    fn locate(&self, pc: u64) -> Option<u32> {
        match self.list.locate(pc) {
            Some((id, _)) => Some(id),
            None if self.restricted => {
                self.blind.set(true);
                None
            }
            None => self.discover(pc),
        }
    }

    /// Learns of an object that no list has: the C library loaded it by itself, or just now.
    #[cold]
    #[inline(never)]
    fn discover(&self, pc: u64) -> Option<u32> {
        let Some(mut registry) = REGISTRY.lock_soon() else {
            self.blind.set(true);
            return None;
        };
        let slot = self.list.late_len.load(Ordering::Relaxed) as usize;
        if slot >= LATE_MAX {
            return None;
        }
        let place = (&raw const self.list.late).cast::<Entry>().cast_mut().wrapping_add(slot);
        // SAFETY: slots past `late_len` are written under the registry's lock only and read by nobody. Written in place and
        // field by field, which takes less of the handler's stack.
        unsafe {
            let object = &mut *(&raw mut (*place).object).cast::<MaybeUninit<Object>>();
            let (object, name) = loader::find(pc, object)?;
            object.module.id = (self.list.entries().len() + slot) as u32;
            let index = registry.loaded(object, path(object.flags, name).to_bytes());
            (&raw mut (*place).index).write(index);
            (&raw mut (*place).permanent).write(false);
            (&raw mut (*place).frames).write([None; 2]);
            (&raw mut (*place).copy).write(None);
            (&raw mut (*place).name).write(name);
            Some(self.list.add_late())
        }
    }

    /// An entry's module, as far as it may be looked at now.
    fn module(&self, entry: &Entry, pc: u64) -> Module<'_> {
        let mut module = entry.object.module;
        if self.restricted && !entry.permanent {
            module.code = Section::default();
            match entry.copy {
                Some(copy) => module.tables = copy.tables,
                None => module.closed = true,
            }
        }
        let mut frames = entry.frames.iter().flatten();
        let any = frames.clone().next().filter(|_| !entry.object.has_header);
        if let Some(frames) = frames.find(|f| f.covers(pc)).or(any) {
            module.tables = frames.tables;
        }
        module
    }
}

impl Modules for View<'_> {
    fn find(&self, pc: u64) -> Option<Module<'_>> {
        let entry = self.list.entry(self.locate(pc)?)?;
        Some(self.module(entry, pc))
    }

    fn extent(&self, pc: u64) -> Option<Extent> {
        let id = self.locate(pc)?;
        Some(self.list.brief(id)?.extent(id, self.restricted))
    }

    fn known(&self, word: u64) -> Option<Module<'_>> {
        self.list.find(word).map(|entry| self.module(entry, word))
    }
}
