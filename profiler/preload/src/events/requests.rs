//! What requests stand for: operations that have begun and are not known to be complete, by the handles of the MPI library.
//!
//! Libraries give one handle to several operations that are complete at once. What is waited for is taken out before the call
//! and put back if it is not complete, so that no other thread that gets the same handle for something else meets it.

use falloff_format::events::Item;

use crate::raw;
use crate::sync::Lock;

/// What a request stands for.
#[derive(Clone, Copy)]
pub struct Request {
    /// The operation as it begins, each time.
    pub item: Item,
    /// It is under way: always, unless the request is persistent.
    pub is_active: bool,
    /// It can be started again.
    pub is_persistent: bool,
    /// Somebody has asked for an end.
    pub is_cancelled: bool,
    /// The handle stands for the one put before as well.
    pub has_more: bool,
}

/// Requests of the first table, a power of two.
const FIRST: usize = 1 << 8;
/// Bytes of requests at most.
const BYTES_MAX: usize = 1 << 30;

/// A place in the pool of requests: in the list of a handle, or in that of free places.
#[derive(Clone, Copy)]
struct Place {
    handle: u64,
    /// The thread that put it here.
    owner: u32,
    request: Request,
    /// Index of the next plus one.
    next: u32,
}

/// Requests by handle: slots lead to lists. All memory is mapped and grows by doubling.
struct Table {
    /// Index of the first of a list plus one, by the handle's hash.
    slots: *mut u32,
    places: *mut Place,
    /// Number of slots and of places.
    room: usize,
    /// Places that were ever used.
    used: usize,
    free: u32,
}

// SAFETY: the memory belongs to whoever holds the lock.
unsafe impl Send for Table {}

static TABLE: Lock<Table> = Lock::new(Table {
    slots: core::ptr::null_mut(),
    places: core::ptr::null_mut(),
    room: 0,
    used: 0,
    free: 0,
});

/// Notes what a request of a thread stands for; false if there is no room.
pub fn put(handle: u64, owner: u32, request: Request) -> bool {
    TABLE.lock().put(handle, owner, request)
}

/// Takes out what a request stands for, for a thread to complete it. Of several, the one that this thread has put last, or else any
/// has.
pub fn take(handle: u64, owner: u32) -> Option<Request> {
    if handle == 0 { None } else { TABLE.lock().take(handle, owner) }
}

impl Table {
    fn slot(&self, handle: u64) -> *mut u32 {
        let mixed = handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.slots.wrapping_add(mixed as usize & (self.room - 1))
    }

    fn put(&mut self, handle: u64, owner: u32, request: Request) -> bool {
        if self.free == 0 && self.used == self.room && !self.grow() {
            return false;
        }
        let place = match self.free {
            0 => {
                self.used += 1;
                self.used as u32
            }
            place => place,
        };
        // SAFETY: below `room`; slots and places were mapped with that many.
        unsafe {
            let at = self.places.add(place as usize - 1);
            if place == self.free {
                self.free = (*at).next;
            }
            let slot = self.slot(handle);
            at.write(Place { handle, owner, request, next: *slot });
            *slot = place;
        }
        true
    }

    fn take(&mut self, handle: u64, owner: u32) -> Option<Request> {
        if self.room == 0 {
            return None;
        }
        let mut link = self.slot(handle);
        let mut found: Option<*mut u32> = None;
        // SAFETY: links lead to places that are in use, and end in 0.
        unsafe {
            while *link != 0 {
                let at = self.places.add(*link as usize - 1);
                if (*at).handle == handle {
                    if (*at).owner == owner {
                        found = Some(link);
                        break;
                    }
                    found = found.or(Some(link));
                }
                link = &raw mut (*at).next;
            }
            let link = found?;
            let place = *link;
            let at = self.places.add(place as usize - 1);
            *link = (*at).next;
            (*at).next = self.free;
            self.free = place;
            Some((*at).request)
        }
    }

    /// Doubles the room.
    fn grow(&mut self) -> bool {
        let room = (2 * self.room).max(FIRST);
        let (slots_len, places_len) = (room * size_of::<u32>(), room * size_of::<Place>());
        if places_len > BYTES_MAX {
            return false;
        }
        let Some(memory) = raw::map_private(slots_len + places_len) else { return false };
        let old = (self.slots, self.places, self.room);
        // SAFETY: within what was mapped; places come first in it, as they have the greater alignment.
        (self.places, self.slots, self.room) =
            (memory.cast(), unsafe { memory.add(places_len).cast() }, room);
        if old.2 == 0 {
            return true;
        }
        // SAFETY: every place is in use, as none is free; both tables have room for them. The old one is nobody's any more.
        unsafe {
            core::ptr::copy_nonoverlapping(old.1, self.places, self.used);
            for place in 0..self.used {
                let at = self.places.add(place);
                let slot = self.slot((*at).handle);
                (*at).next = *slot;
                *slot = place as u32 + 1;
            }
            raw::unmap(old.1.cast(), old.2 * (size_of::<u32>() + size_of::<Place>()));
        }
        true
    }
}
