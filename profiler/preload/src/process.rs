//! Fork and exit.
//!
//! The child of a fork gets a measurement file of its own with its first sample, so that children that only
//! execute another program, or end at once, leave none. An exec needs nothing: the file is complete, and the
//! kernel removes the timers.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use falloff_format::header::FLAG_FORKED;

use crate::signals::Hold;
use crate::sync::Lock;
use crate::thread::Thread;
use crate::{
    events, file, handler, identity, inside, modules, raw, real, records, sections, signals, start, states,
    thread, thread_create,
};

/// Whether this is the child of a fork that has no file yet.
static PENDING: AtomicBool = AtomicBool::new(false);
static ENDING: Lock<()> = Lock::new(());

/// Registers what runs around a fork.
pub fn watch_forks() {
    let Some(real) = real::get() else { return };
    if let Some(register) = real.register_atfork {
        // SAFETY: functions of this library, which is never unloaded.
        unsafe { register(Some(before), Some(in_parent), Some(in_child), core::ptr::null_mut()) };
    } else if let Some(register) = real.atfork {
        // SAFETY: as above.
        unsafe { register(Some(before), Some(in_parent), Some(in_child)) };
    }
}

/// A fork that copies a large address space takes longer than a period: interrupted, it would begin again.
extern "C" fn before() {
    raw::mask_signals(libc::SIG_BLOCK, signals::ours());
}

extern "C" fn in_parent() {
    if thread_create::current().is_some() {
        raw::mask_signals(libc::SIG_UNBLOCK, signals::ours());
    }
}

extern "C" fn in_child() {
    if !start::is_on() {
        return;
    }
    let me = thread_create::current();
    // SAFETY: a fork leaves its child one thread, which is outside any handler.
    unsafe {
        file::forget();
        inside::after_fork();
        modules::after_fork();
        states::after_fork(me.unwrap_or(core::ptr::null_mut()));
        thread::restart_counts();
        sections::after_fork();
        events::stop();
        ENDING.reset();
    }
    // SAFETY: the calling thread's own state.
    let Some(thread) = me.map(|t| unsafe { &mut *t }) else { return };
    thread.forked();
    PENDING.store(true, Ordering::Relaxed);
    thread.arm();
}

/// Gives the child of a fork its file, at its first sample. Signal context: yes.
pub fn open_in_child(thread: &mut Thread) -> bool {
    let Some(who) = identity::get() else { return false };
    if !PENDING.swap(false, Ordering::Relaxed)
        || file::create(who.measurement_path().as_c_str(), &who.options, FLAG_FORKED).is_err()
    {
        return false;
    }
    // SAFETY: the child has no other thread that is measured yet, see `open_before_thread`.
    unsafe { records::begin() };
    records::describe_process(who);
    thread.describe(0, falloff_format::records::THREAD_MAIN);
    sections::describe_open(thread);
    true
}

/// Before the child of a fork starts a thread, which needs the file for its record.
pub fn open_before_thread() {
    if let Some(thread) = thread_create::current().filter(|_| PENDING.load(Ordering::Relaxed)) {
        let _hold = Hold::begin();
        // SAFETY: the calling thread's own state, and its handler is kept out.
        open_in_child(unsafe { &mut *thread });
    }
}

/// Books what is left of every thread and says that the process ended in order.
pub extern "C" fn end() {
    if !start::is_on() || !file::is_open() {
        return;
    }
    let Some(_once) = ENDING.try_lock() else { return };
    start::turn_off();
    // Handlers that passed the check before are done after this; later ones see that measuring is off.
    inside::wait_for_all();
    for thread in states::all() {
        // SAFETY: measuring is off and no handler is inside: nobody else changes the states, which are never unmapped, and
        // timers and events of another thread can be ended as well.
        let thread = unsafe { &mut *thread };
        if let Some(tid) = thread.claim_end() {
            thread.disarm();
            handler::on_end(thread, tid);
            thread.finish(raw::other_thread_cpu_ns(tid), tid);
        }
    }
    thread::book_ends();
    file::mark_ended();
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    leave(status)
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `_Exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: c_int) -> ! {
    leave(status)
}

fn leave(status: c_int) -> ! {
    // The child of a vfork shares this memory with its parent, which goes on.
    // SAFETY: the header's page stays mapped.
    if file::header().is_some_and(|h| unsafe { (*h).pid } == raw::getpid()) {
        end();
    }
    match real::get().and_then(|r| r.exit) {
        // SAFETY: ends the process.
        Some(real) => unsafe { real(status) },
        None => raw::exit_group(status),
    }
}
