//! Calls that yield, as threads that poll make some hundred thousand of a second: what [`Spin`](crate::spin::Spin) learns of
//! each, at little cost.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::calls::{self, Call, SHORTEST_NS};
use crate::thread::Thread;
use crate::turn_clock::Mark;
use crate::{cpu, raw, start, thread_create};

/// Whether calls that yield are seen whatever finds waits: see [`Spin`](crate::spin::Spin).
#[unsafe(link_section = ".data")]
pub static WATCHING_YIELDS: AtomicBool = AtomicBool::new(false);

/// Has calls that yield seen from now on.
pub fn watch() {
    WATCHING_YIELDS.store(true, Ordering::Relaxed);
}

/// Yields that have taken less are not looked at, however short the sampling period.
const LOOK_AT_YIELDS_NS: u64 = 1_000_000;

/// Whether a thread yields there: at the C library's function, a few instructions around a system call, or where the entry
/// makes that call in its place. Signal context: yes.
pub fn is_at(pc: u64) -> bool {
    const LENGTH: u64 = 32;
    let function = calls::address(Call::sched_yield as u64);
    function != 0 && pc.wrapping_sub(function) < LENGTH || called_at(pc).is_some()
}

/// The C library's function for which a thread is in a system call there, in an entry. Signal context: yes.
pub fn called_at(pc: u64) -> Option<u64> {
    let after = cpu::yield_now as *const () as u64 + cpu::SYSTEM_CALL_LENGTH;
    (pc == after).then(|| PLAIN.load(Ordering::Relaxed) as u64)
}

/// The C library's function that yields, if it does nothing but make the system call; else null.
#[unsafe(link_section = ".data")]
static PLAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Looks what the C library's function does, which may be one of the program's own, with more to do.
pub fn find_plain() {
    let function = calls::real(Call::sched_yield as usize);
    let landing = cpu::LANDINGS.iter().find(|landing| has(function.cast(), *landing));
    let body = function.wrapping_byte_add(landing.map_or(0, |landing| landing.len()));
    if has(body.cast(), cpu::PLAIN_YIELD) {
        PLAIN.store(function, Ordering::Relaxed);
    }
}

/// Whether the code of a function goes on like that.
fn has(code: *const u8, bytes: &[u8]) -> bool {
    // SAFETY: code can be read, and goes on behind bytes that are like those of a function before it returns.
    bytes.iter().enumerate().all(|(at, byte)| unsafe { code.add(at).read() } == *byte)
}

/// A thread that has yielded, the first that did: most programs have one that does it often.
#[unsafe(link_section = ".data")]
static YIELDER: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());

/// The calling thread's state, found without the C library if it has yielded before.
#[inline]
fn yielder<'t>() -> Option<&'t mut Thread> {
    let first = YIELDER.load(Ordering::Relaxed);
    // SAFETY: states are never unmapped.
    if !first.is_null() && unsafe { &*first }.is_current() {
        // SAFETY: the calling thread's own state.
        return unsafe { first.as_mut() };
    }
    find_yielder()
}

#[cold]
fn find_yielder<'t>() -> Option<&'t mut Thread> {
    let thread = thread_create::current()?;
    let (null, relaxed) = (core::ptr::null_mut(), Ordering::Relaxed);
    let _ = YIELDER.compare_exchange(null, thread, relaxed, relaxed);
    // SAFETY: the calling thread's own state.
    Some(unsafe { &mut *thread })
}

/// What [`yields`] tells the entry.
#[repr(C)]
pub struct Yield {
    /// [`Yield::DONE`], [`Yield::WATCH`], or the state of the thread, for which the entry is to make the system call.
    next: usize,
    /// The yield is to be watched if it returns then or later.
    look: Mark,
}

impl Yield {
    const DONE: Yield = Yield { next: 0, look: Mark::ZERO };
    /// Done, and worth a look or a booking: the call is timed, with nothing to do between [`begin`](calls::begin) and
    /// [`end`](calls::end).
    const WATCH: Yield = Yield { next: 1, look: Mark::ZERO };
}

/// Yields, as a thread that polls does some hundred thousand times a second. Where each yield lets another process run, what
/// costs is that functions return after it, none of which the processor expects then: so the entry does itself what is to do
/// after the system call, and the rest is left to the next yield.
#[unsafe(link_section = ".text.hot.yields")]
pub extern "C" fn yields(index: usize) -> Yield {
    if !start::is_on() {
        start::ensure();
    }
    let address = calls::real(index);
    // SAFETY: the C library's function, which takes nothing; what it returns, if anything, is 0.
    let function = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn()>(address) };
    let Some(thread) = start::is_on().then(yielder).flatten() else {
        function();
        return Yield::DONE;
    };
    thread.account_yield();
    let is_often = thread.spin.yields(raw::thread_cpu_ns);
    if is_often && thread.clocks.may_leave_perf() {
        thread.leave_perf();
    }
    let look = if thread.spin.is_worth() {
        Mark::ZERO
    } else if thread.watches_calls() {
        let left_ns = look_ns(thread).saturating_sub(thread.yielded_ns);
        thread.spin.after_yield_of(left_ns.max(SHORTEST_NS))
    } else {
        Mark::NEVER
    };
    thread.is_calling = true;
    if address == PLAIN.load(Ordering::Relaxed) && thread.spin.counts() {
        return Yield { next: core::ptr::from_mut(thread) as usize, look };
    }
    function();
    thread.is_calling = false;
    if thread.spin.returns() >= look { Yield::WATCH } else { Yield::DONE }
}

/// The time in yields that is looked at together: two sampling periods, as bookings are rarer still.
pub fn look_ns(thread: &Thread) -> u64 {
    LOOK_AT_YIELDS_NS.max(thread.spin.period_ns.saturating_mul(2))
}
