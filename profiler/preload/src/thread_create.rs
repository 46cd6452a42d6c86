//! `pthread_create`: every thread begins and ends under measurement.
//!
//! A created thread enters through `thread_entry` (`cpu`), which calls [`thread_begin`] and jumps to what
//! the program wanted to run. It ends through the destructor of a key, which runs for return, `pthread_exit` and
//! cancellation alike.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::memory::Stack;
use crate::real::{self, PthreadCreate};
use crate::thread::{Start, Thread};
use crate::{cpu, modules, process, raw, start, states};

/// Key whose destructor ends a thread; `NO_KEY` before start-up.
static KEY: AtomicU32 = AtomicU32::new(NO_KEY);
const NO_KEY: u32 = u32::MAX;
/// Rounds of key destructors that the C library runs. Ours acts in the last, after the application's.
const DESTRUCTOR_ROUNDS: u32 = 4;
/// Most of a stack that is taken to be a stack if nothing is known.
const STACK_UNKNOWN: usize = 1 << 40;

unsafe extern "C" {
    fn pthread_attr_getstacksize(attributes: *const libc::pthread_attr_t, size: *mut usize) -> c_int;
}

/// What the entry code jumps to, in the two registers of a returned pair.
#[repr(C)]
pub struct Jump {
    start: Start,
    argument: *mut c_void,
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `pthread_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    id: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    run: Start,
    argument: *mut c_void,
) -> c_int {
    start::ensure();
    let Some(real) = real::get().and_then(|r| r.pthread_create) else { return libc::EAGAIN };
    match start::is_on().then(states::allocate).flatten() {
        // SAFETY: the caller's arguments; the state was allocated for this.
        Some(thread) => unsafe { create(real, id, attributes, run, argument, thread) },
        // SAFETY: the caller's arguments.
        None => unsafe { real(id, attributes, run, argument) },
    }
}

/// # Safety
/// As `pthread_create`; `thread` is a state that no thread uses.
unsafe fn create(
    real: PthreadCreate,
    id: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    run: Start,
    argument: *mut c_void,
    thread: *mut Thread,
) -> c_int {
    process::open_before_thread();
    // Objects loaded since the last look are then known without a question to the loader.
    modules::refresh_if_loaded();
    let mut stack_size = 0;
    // SAFETY: attributes of the caller's, not null.
    if attributes.is_null() || unsafe { pthread_attr_getstacksize(attributes, &raw mut stack_size) } != 0 {
        stack_size = raw::limit(libc::RLIMIT_STACK).min(STACK_UNKNOWN as u64) as usize;
    }
    // SAFETY: ours until the new thread has it.
    unsafe {
        (*thread).start = Some(run);
        (*thread).argument = argument;
        (*thread).stack_size = stack_size;
    }
    // SAFETY: the caller's arguments, with our entry in front and the state that it wants.
    let result = unsafe { real(id, attributes, cpu::thread_entry, thread.cast()) };
    if result != 0 {
        // SAFETY: no thread was made.
        unsafe { states::release(thread) };
    }
    result
}

/// Called by the entry code on the new thread, before anything of the program's. `caller_sp`: the stack pointer of the C
/// library's code that starts threads.
pub extern "C" fn thread_begin(pointer: *mut c_void, caller_sp: usize) -> Jump {
    // SAFETY: the state that `create` passed; it is this thread's from here on.
    let thread = unsafe { &mut *pointer.cast::<Thread>() };
    let jump = Jump { start: thread.start.unwrap_or(nothing), argument: thread.argument };
    let (here, top) = (cpu::stack_pointer(), cpu::thread_pointer());
    // A second copy of the size covers the guard and the thread block, which a size may or may not include.
    let stack = Stack::current(here, caller_sp, top, thread.stack_size.saturating_add(64 << 10));
    thread.begin(stack, false, 0);
    remember(thread);
    jump
}

unsafe extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
    core::ptr::null_mut()
}

/// Makes the key.
pub fn make_key() {
    let mut key = 0;
    // SAFETY: a valid destructor for the life of the process.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_thread_end)) } == 0 {
        KEY.store(key, Ordering::Release);
    }
}

/// Lets the calling thread's end be noticed, and its state be found.
pub fn remember(thread: &mut Thread) {
    let key = KEY.load(Ordering::Acquire);
    if key != NO_KEY {
        // SAFETY: a key of ours; the value is a state that outlives the thread.
        unsafe { libc::pthread_setspecific(key, (&raw mut *thread).cast::<c_void>().cast_const()) };
    }
}

/// The calling thread's state, if it is measured.
pub fn current() -> Option<*mut Thread> {
    let key = KEY.load(Ordering::Acquire);
    // SAFETY: a key of ours.
    let thread = (key != NO_KEY).then(|| unsafe { libc::pthread_getspecific(key) })?;
    (!thread.is_null()).then_some(thread.cast())
}

unsafe extern "C" fn at_thread_end(pointer: *mut c_void) {
    let state = pointer.cast::<Thread>();
    // SAFETY: the value that `remember` stored on this thread.
    let thread = unsafe { &mut *state };
    thread.put_off += 1;
    if thread.put_off < DESTRUCTOR_ROUNDS {
        remember(thread);
        return;
    }
    thread.end();
    // SAFETY: this thread is done with it and its timer is gone.
    unsafe { states::release(state) };
}
