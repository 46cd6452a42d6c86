//! Signal context: yes ([`is_state`]; the rest not). The states of all threads: made in slabs, reused, never unmapped, so
//! that a signal that comes late finds one that it can recognise.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::raw;
use crate::sync::Lock;
use crate::thread::Thread;

/// States made at a time.
const SLAB: usize = 32;
/// Most slabs: 65,536 threads at once.
const SLABS_MAX: usize = 2048;
/// Slabs in the order in which they were made, then null.
static SLABS: [AtomicPtr<Thread>; SLABS_MAX] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SLABS_MAX];
/// States ever made.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// States that no thread uses.
static FREE: Lock<FreeList> = Lock::new(FreeList(core::ptr::null_mut()));
struct FreeList(*mut Thread);

// SAFETY: the states belong to whoever holds the lock.
unsafe impl Send for FreeList {}

/// A state for a new thread; `None` when there is no memory.
pub fn allocate() -> Option<*mut Thread> {
    let mut free = FREE.lock();
    if !free.0.is_null() {
        let thread = free.0;
        // SAFETY: a state that no thread uses; `argument` links the free ones.
        free.0 = unsafe { (*thread).argument.cast() };
        return Some(thread);
    }
    // Only holders of the lock make states.
    let index = MADE.load(Ordering::Relaxed);
    let slab = SLABS.get(index / SLAB)?;
    if index.is_multiple_of(SLAB) {
        slab.store(raw::map_private(SLAB * size_of::<Thread>())?.cast(), Ordering::Release);
    }
    let thread = slab.load(Ordering::Relaxed).wrapping_add(index % SLAB);
    // SAFETY: fresh zeroed memory that nobody else knows.
    unsafe { Thread::prepare(thread) };
    MADE.store(index + 1, Ordering::Release);
    Some(thread)
}

/// Gives a state back.
///
/// # Safety
/// No thread uses it and its timer is gone.
pub unsafe fn release(thread: *mut Thread) {
    let mut free = FREE.lock();
    // SAFETY: by contract it is ours.
    unsafe { (*thread).argument = free.0.cast() };
    free.0 = thread;
}

/// Whether a timer's value is a state, so that the signal is ours. It may be anything: the application can have timers
/// with the same signal.
pub fn is_state(pointer: *mut c_void) -> bool {
    let offset_in =
        |slab: &AtomicPtr<Thread>| (pointer as usize).checked_sub(slab.load(Ordering::Acquire) as usize);
    let slabs = SLABS.iter().take_while(|s| !s.load(Ordering::Acquire).is_null());
    slabs
        .filter_map(offset_in)
        .any(|offset| offset < SLAB * size_of::<Thread>() && offset.is_multiple_of(size_of::<Thread>()))
}

/// Every state ever made, in use or not.
pub fn all() -> impl Iterator<Item = *mut Thread> {
    (0..MADE.load(Ordering::Acquire)).filter_map(|index| {
        let slab = SLABS.get(index / SLAB)?.load(Ordering::Acquire);
        Some(slab.wrapping_add(index % SLAB))
    })
}

/// In the child of a fork: all states but the forking thread's are free to use.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork(me: *mut Thread) {
    // SAFETY: by contract.
    unsafe { FREE.reset() };
    let mut free = FREE.lock();
    free.0 = core::ptr::null_mut();
    for thread in all().filter(|t| *t != me) {
        // SAFETY: its thread does not exist in this process.
        unsafe {
            (*thread).abandon();
            (*thread).argument = free.0.cast();
        }
        free.0 = thread;
    }
}
