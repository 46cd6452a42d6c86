//! Signal context: yes. Asks the loader which object an address belongs to, without a lock.

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use crate::object::Object;
use crate::{raw, real};

/// State of the debuggers' list between changes.
const CONSISTENT: c_int = 0;
/// Objects of the list that are looked at.
const OBJECTS_MAX: usize = 4096;
const PAGE: usize = 4096;

/// What `_dl_find_object` fills in.
#[repr(C)]
pub struct FoundObject {
    flags: u64,
    map_start: u64,
    map_end: u64,
    link_map: *const LinkMap,
    eh_frame: *const c_void,
    reserved: [u64; 8],
}

/// The public head of the loader's entry for an object.
#[repr(C)]
struct LinkMap {
    bias: u64,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const LinkMap,
}

/// The head of the list that the loader keeps for debuggers.
#[repr(C)]
struct DebugList {
    version: c_int,
    first: *const LinkMap,
    breakpoint: u64,
    state: c_int,
}

/// An object where it was asked for, and its name.
type Found<'o> = Option<(&'o mut Object, *const c_char)>;

/// Puts the object at `pc` into `room`.
pub fn find(pc: u64, room: &mut MaybeUninit<Object>) -> Found<'_> {
    match real::get()?.find_object {
        Some(find_object) => ask(find_object, pc, room),
        None => search(pc, room),
    }
}

/// glibc 2.35 and later answer directly.
#[inline(never)]
fn ask(find_object: real::FindObject, pc: u64, room: &mut MaybeUninit<Object>) -> Found<'_> {
    let (link_map, eh_frame) = (core::ptr::null(), core::ptr::null());
    let mut found = FoundObject { flags: 0, map_start: 0, map_end: 0, link_map, eh_frame, reserved: [0; 8] };
    // SAFETY: a result of the right layout; the function is safe in handlers by its documentation.
    if unsafe { find_object(pc as *const c_void, &raw mut found) } != 0 {
        return None;
    }
    // SAFETY: null or the loader's entry of an object that is loaded.
    let map = unsafe { found.link_map.as_ref() }?;
    // SAFETY: the loader says that an object is mapped there.
    let object = unsafe { Object::at(found.map_start, map.bias, room) }.filter(|o| o.module.contains(pc))?;
    Some((object, map.name))
}

/// Older ones, and musl, keep a list for debuggers. It changes in dlclose, which waits for handlers (`dl`), and in loads,
/// which add to its end.
#[inline(never)]
fn search(pc: u64, room: &mut MaybeUninit<Object>) -> Found<'_> {
    let list = real::get()?.debug_list() as *const DebugList;
    if list.is_null() {
        return None;
    }
    // SAFETY: the loader's own structure, there for the life of the process; others may be changing it.
    let (state, mut at) =
        unsafe { ((&raw const (*list).state).read_volatile(), (&raw const (*list).first).read_volatile()) };
    if state != CONSISTENT {
        return None;
    }
    let mut page = [0u8; 1];
    for _ in 0..OBJECTS_MAX {
        // SAFETY: null or the entry of an object that is loaded.
        let map = unsafe { at.as_ref() }?;
        at = map.next;
        if map.bias == 0 || !raw::mapped(map.bias as usize, PAGE, &mut page) {
            continue;
        }
        // SAFETY: a loaded object's first page.
        if unsafe { Object::at(map.bias, map.bias, room) }.is_some_and(|o| o.module.contains(pc)) {
            // SAFETY: written just now.
            return Some((unsafe { room.assume_init_mut() }, map.name));
        }
    }
    None
}
