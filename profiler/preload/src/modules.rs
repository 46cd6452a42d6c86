//! Signal context: yes (finding; [`refresh`] not). The loaded modules, as an immutable list behind one pointer.
//!
//! A handler uses the list that it loads at entry. Outside handlers, when a thread is made and around an unload, the
//! list is made anew if the loader's objects have changed, and published; the old one is freed once no handler can
//! hold it. A handler that meets an address of no module asks the C library, which answers without a lock, and
//! appends what it learns to the list it holds.

use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use falloff_format::records::{MODULE_EXECUTABLE, MODULE_LOADER, MODULE_SAMPLER, MODULE_VDSO};
use unwinder::CACHE_LENGTH;

use crate::frame_index;
use crate::object::Object;
use crate::registry::Registry;
use crate::signals::Hold;
use crate::sync::Lock;
use crate::table_copy::TableCopy;
use crate::{identity, inside, raw};

mod list;
mod view;

use list::{Entry, List, OBJECTS_MAX};
pub use view::{View, view};

#[unsafe(link_section = ".data")]
static LIST: AtomicPtr<List> = AtomicPtr::new(core::ptr::null_mut());
static REGISTRY: Lock<Registry> = Lock::new(Registry::new());
static SPARE_LIST: Spare = Spare::new(size_of::<List>());
/// Empty.
static SPARE_CACHE: Spare = Spare::new(CACHE_LENGTH * size_of::<AtomicU64>());
/// The loader's counts of loads and unloads when the list was made.
static LOADS: AtomicU64 = AtomicU64::new(0);
static UNLOADS: AtomicU64 = AtomicU64::new(0);
/// Lists made so far.
static PUBLISHED: AtomicU64 = AtomicU64::new(0);
/// Whether this is the child of a fork.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Calls of dlclose under way: what is not permanent may not be read in place. Lowered under the registry's lock only.
#[unsafe(link_section = ".data")]
static UNLOADING: AtomicU32 = AtomicU32::new(0);

/// Memory of a length that nobody uses any more, for the next: a message-passing library loads and unloads a hundred plugins,
/// and mapping and unmapping as often would cost its start milliseconds.
struct Spare {
    memory: AtomicPtr<u8>,
    length: usize,
}

impl Spare {
    const fn new(length: usize) -> Spare {
        Spare { memory: AtomicPtr::new(core::ptr::null_mut()), length }
    }

    /// That, or memory newly mapped.
    fn take(&self) -> Option<*mut u8> {
        let spare = self.memory.swap(core::ptr::null_mut(), Ordering::AcqRel);
        if spare.is_null() { raw::map_private(self.length) } else { Some(spare) }
    }

    /// # Safety
    /// Memory from [`take`](Self::take) that nobody uses any more.
    unsafe fn give(&self, memory: *mut u8) {
        let other = self.memory.swap(memory, Ordering::AcqRel);
        if !other.is_null() {
            // SAFETY: mapped with this length, and the only pointer to it.
            unsafe { raw::unmap(other, self.length) };
        }
    }
}

fn path<'a>(flags: u32, name: *const core::ffi::c_char) -> &'a CStr {
    if flags & MODULE_VDSO != 0 {
        c"[vdso]"
    } else if flags & MODULE_EXECUTABLE != 0 {
        identity::get().map_or(c"", |i| i.image.as_c_str())
    } else if name.is_null() {
        c""
    } else {
        // SAFETY: the loader's text of an object that is loaded, as all callers see to.
        unsafe { CStr::from_ptr(name) }
    }
}

/// The first list: what is loaded now stays for the life of the process.
pub fn begin() {
    refresh(&mut REGISTRY.lock(), true);
}

/// Before a thread is made, a good time to look what was loaded. Not in the child of a fork: the look takes a lock of the
/// loader's, which another thread of the parent may have held.
pub fn refresh_if_loaded() {
    if !FORKED.load(Ordering::Relaxed) {
        let _hold = Hold::begin();
        if let Some(mut registry) = REGISTRY.try_lock() {
            refresh_if_changed(&mut registry, 0);
        }
    }
}

/// The same, once no other thread is at the list. Not in handlers.
pub fn refresh_when_free() {
    drop(REGISTRY.lock());
    refresh_if_loaded();
}

/// Makes the list anew if something was loaded or unloaded since it was made, but not while more than `unloading` calls
/// of dlclose are under way: what they may take away cannot be read, and the last of them does this.
fn refresh_if_changed(registry: &mut Registry, unloading: u32) {
    let seen = LOADS.load(Ordering::Relaxed) + UNLOADS.load(Ordering::Relaxed);
    if UNLOADING.load(Ordering::SeqCst) <= unloading && loader_changes() != seen {
        refresh(registry, false);
    }
}

/// How many objects the loader has loaded and unloaded so far.
fn loader_changes() -> u64 {
    unsafe extern "C" fn read(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader's structure, and the number below.
        unsafe { *data.cast::<u64>() = (*info).dlpi_adds + (*info).dlpi_subs };
        // The first object tells it for all.
        1
    }
    let mut changes = 0u64;
    // SAFETY: the callback writes this number only; no handler calls this.
    unsafe { libc::dl_iterate_phdr(Some(read), (&raw mut changes).cast()) };
    changes
}

/// What the walk over the loader's objects collects.
struct Collected {
    entries: *mut Entry,
    len: usize,
    /// The loader's counts of objects loaded and unloaded at the time.
    loads: u64,
    unloads: u64,
    /// The list before.
    old: Option<&'static List>,
}

impl Collected {
    /// The entry of an object with this bias that is still the same: since the list before was made, nothing was unloaded, or
    /// nothing was loaded.
    fn known(&self, bias: u64) -> Option<Entry> {
        let is_same =
            self.unloads == UNLOADS.load(Ordering::Relaxed) || self.loads == LOADS.load(Ordering::Relaxed);
        let old = self.old.filter(|_| is_same)?.entries();
        // All but a program at fixed addresses begin at their bias.
        let place = old.binary_search_by_key(&bias, |e| e.object.module.start).ok()?;
        old.get(place).filter(|e| e.object.bias == bias).copied()
    }
}

/// # Safety
/// A callback of `dl_iterate_phdr` with a [`Collected`] that has room for [`OBJECTS_MAX`] entries.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: both by contract; the object is loaded while the loader calls us.
    let (collected, info) = unsafe { (&mut *data.cast::<Collected>(), &*info) };
    (collected.loads, collected.unloads) = (info.dlpi_adds, info.dlpi_subs);
    let mut room = MaybeUninit::uninit();
    let read = || {
        // SAFETY: the loader's table of program headers.
        let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        // SAFETY: mapped now; unloading is announced by dlclose, see `dl`.
        let object = unsafe { Object::new(info.dlpi_addr, headers, &mut room) }?;
        Some(Entry {
            object: *object,
            index: 0,
            permanent: false,
            frames: [None; 2],
            copy: None,
            name: info.dlpi_name,
        })
    };
    if let Some(entry) = collected.known(info.dlpi_addr).or_else(read)
        && collected.len < OBJECTS_MAX
    {
        // SAFETY: room for OBJECTS_MAX.
        unsafe { collected.entries.add(collected.len).write(entry) };
        collected.len += 1;
    }
    0
}

/// Makes the list anew and publishes it, if anything changed. Not in handlers.
fn refresh(registry: &mut Registry, permanent: bool) {
    let Some(list) = SPARE_LIST.take().map(|memory| memory.cast::<List>()) else { return };
    // SAFETY: lists are freed in this function only, under the lock.
    let old = unsafe { LIST.load(Ordering::SeqCst).as_ref() };
    // SAFETY: the memory of a list that nobody else knows.
    let entries = unsafe { &raw mut (*list).entries }.cast();
    let mut collected = Collected { entries, len: 0, loads: 0, unloads: 0, old };
    // SAFETY: the callback's contract holds; no handler calls this.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut collected).cast()) };
    LOADS.store(collected.loads, Ordering::Relaxed);
    UNLOADS.store(collected.unloads, Ordering::Relaxed);
    // SAFETY: `collect` wrote this many.
    let entries = unsafe { core::slice::from_raw_parts_mut(collected.entries, collected.len) };
    entries.sort_unstable_by_key(|e| e.object.module.start);
    let unloaded = old.is_some_and(|l| l.all().any(|e| e.is_gone(entries)));
    let same = old.is_some_and(|l| !unloaded && l.late().is_empty() && l.len == entries.len());
    if same {
        // SAFETY: published nowhere.
        unsafe { SPARE_LIST.give(list.cast()) };
        return;
    }
    old.iter().flat_map(|l| l.all()).filter(|e| e.is_gone(entries)).for_each(|e| registry.unloaded(e.index));
    for (id, entry) in entries.iter_mut().enumerate() {
        match old
            .and_then(|l| l.find(entry.object.module.start))
            .filter(|o| o.object.same_load(&entry.object))
        {
            Some(known) => *entry = Entry { name: entry.name, ..*known },
            None => introduce(entry, permanent, registry),
        }
        entry.object.module.id = id as u32;
        if !entry.permanent && entry.copy.is_none() {
            entry.copy = TableCopy::of(&entry.object.module.tables, &mut registry.spare_copies);
        }
    }
    let cache = old.filter(|_| !unloaded).map(|l| l.cache);
    let entries = &*entries;
    // SAFETY: this many entries were written.
    if !unsafe { publish(list, entries.len(), cache) } {
        // SAFETY: published nowhere.
        unsafe { SPARE_LIST.give(list.cast()) };
        return;
    }
    if let Some(old) = old {
        inside::wait_for_all();
        // SAFETY: replaced, and every handler that may have held it has left; the new list has no copy of what is gone.
        unsafe {
            old.all()
                .filter(|e| e.is_gone(entries))
                .filter_map(|e| e.copy)
                .for_each(|c| c.free(&mut registry.spare_copies));
            free(old, cache.is_none());
        }
    }
}

fn introduce(entry: &mut Entry, permanent: bool, registry: &mut Registry) {
    let path = path(entry.object.flags, entry.name);
    entry.permanent = permanent;
    entry.index = registry.loaded(&entry.object, path.to_bytes());
    let own_tables = MODULE_VDSO | MODULE_LOADER | MODULE_SAMPLER;
    if entry.object.flags & own_tables == 0 {
        let file: &CStr = if entry.object.flags & MODULE_EXECUTABLE != 0 { c"/proc/self/exe" } else { path };
        entry.frames = frame_index::build(file, &entry.object, &mut registry.scratch);
    }
}

/// Makes a list, whose entries are written, the one that handlers use.
///
/// # Safety
/// The memory of a list that nobody else knows, with this many entries.
unsafe fn publish(list: *mut List, len: usize, cache: Option<*const AtomicU64>) -> bool {
    let fresh = || SPARE_CACHE.take().map(|memory| memory.cast_const().cast());
    let Some(cache) = cache.or_else(fresh) else { return false };
    // SAFETY: by contract.
    unsafe { List::complete(list, PUBLISHED.fetch_add(1, Ordering::Relaxed) + 1, len, cache) };
    LIST.store(list, Ordering::SeqCst);
    true
}

/// # Safety
/// Nobody uses the list any more, nor its cache if that goes too.
unsafe fn free(list: &List, cache_too: bool) {
    // SAFETY: mapped with this size; by contract nobody uses either.
    unsafe {
        if cache_too {
            let cache = list.cache.cast_mut();
            cache.write_bytes(0, CACHE_LENGTH);
            SPARE_CACHE.give(cache.cast());
        }
        SPARE_LIST.give((&raw const *list).cast_mut().cast());
    }
}

/// Before objects may be unloaded: from now on nobody reads them in place, and nobody who began before still does.
pub fn unloading_begins() {
    {
        // What was loaded since the last look gets its tables copied.
        let _hold = Hold::begin();
        refresh_if_changed(&mut REGISTRY.lock(), 0);
    }
    UNLOADING.fetch_add(1, Ordering::SeqCst);
    // A look that another thread began before is over with this; one that begins later sees the count.
    drop(REGISTRY.lock());
    inside::wait_for_all();
}

/// After objects may have been unloaded.
pub fn unloading_ended() {
    let _hold = Hold::begin();
    let mut registry = REGISTRY.lock();
    refresh_if_changed(&mut registry, 1);
    UNLOADING.fetch_sub(1, Ordering::SeqCst);
}

/// In the child of a fork: opens locks that other threads of the parent held.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { REGISTRY.reset() };
    REGISTRY.lock().new_file();
    FORKED.store(true, Ordering::Relaxed);
    UNLOADING.store(0, Ordering::SeqCst);
}
