//! The C library's calls that may block or yield, watched where the kernel does not tell of switches.
//!
//! Each exported name is a few instructions (`cpu::watched_call`) that jump to the C library's own function, unless calls
//! are watched: then the call runs between [`begin`] and [`end`], which time it. No frame of ours but that of the entry,
//! which has its unwind rules, stays on the stack meanwhile, so cancellation, exceptions and longjmp pass.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::path::Place;
use crate::thread::Thread;
use crate::waits::{Kind, LONG_NS};
use crate::yields::{self, WATCHING_YIELDS};
use crate::{clock, cpu, handler, raw, real, signals, start, thread_create};

/// Whether any thread's calls are timed.
pub static WATCHING: AtomicBool = AtomicBool::new(false);

/// Has calls timed from now on, of threads that want it.
pub fn watch() {
    WATCHING.store(true, Ordering::Relaxed);
}

/// Shorter calls cannot have blocked: two switches take longer.
pub const SHORTEST_NS: u64 = 3_000;
/// Shorter waits are looked at together: the one that makes the sum this long stands for all, and longer ones are it more
/// often.
const LOOK_NS: u64 = 100_000;
/// What a watched call leaves on the stack for [`end`] and [`sample`]: see `cpu::watch`.
#[repr(C)]
pub struct Frame {
    begun_ns: u64,
    index: u64,
    /// Registers that a function leaves as they were, in the entry's order.
    pub saved: [u64; cpu::SAVED],
    result: u64,
    /// Frame pointer of the caller.
    pub frame_pointer: u64,
    /// Where the caller goes on.
    pub return_address: u64,
}

/// What [`begin`] tells the entry: when the call begins (0: it is not timed) and what to call.
#[repr(C)]
pub struct Begun {
    begun_ns: u64,
    function: *mut c_void,
}

macro_rules! calls {
    ($($name:ident $(@ $version:literal)? $(via $filter:path)? $(=> $watching:ident)?),* $(,)?) => {
        /// One of them.
        #[expect(non_camel_case_types, reason = "the names of the functions")]
        #[derive(Clone, Copy)]
        pub enum Call { $($name),* }

        /// Number of watched calls.
        const COUNT: usize = [$(Call::$name),*].len();

        /// Where each really goes; null before start-up.
        #[unsafe(link_section = ".data")]
        pub static REAL: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(core::ptr::null_mut()) }; COUNT];

        /// Finds the functions behind the names, in their order.
        pub fn look_up() {
            $({
                let name = const { c_name(concat!(stringify!($name), "\0")) };
                set(Call::$name, calls!(@find name $(@ $version)? $(via $filter)?));
            })*
            yields::find_plain();
        }

        $(calls!(@entry $name $(=> $watching)?);)*
    };
    (@entry $name:ident) => { cpu::watched_call!($name, Call::$name as usize, WATCHING, cpu::watch); };
    (@entry $name:ident => $watching:ident) => {
        cpu::watched_call!($name, Call::$name as usize, $watching, cpu::watch_yield);
    };
    (@find $name:ident) => { real::next($name) };
    (@find $name:ident @ $version:literal) => { real::next_version($name, $version) };
    (@find $name:ident via $filter:path) => { real::next($name).map(|_| $filter as *mut c_void) };
}

// First what an allocator may call while the rest, not all of which every C library has, is looked for. glibc has two
// functions of the names pthread_cond_*, of different layouts; programs of this century mean the later.
calls! {
    pthread_mutex_lock, read, write, nanosleep, usleep, sleep, pause, poll, select, pselect, fcntl, fsync, syscall,
    pthread_cond_wait @ c"GLIBC_2.3.2", pthread_cond_timedwait @ c"GLIBC_2.3.2", sem_wait, sem_timedwait,
    clock_nanosleep, sigsuspend, ppoll, epoll_wait, epoll_pwait,
    sigwait via signals::sigwait, sigwaitinfo via signals::sigwaitinfo, sigtimedwait via signals::sigtimedwait,
    pthread_mutex_timedlock, pthread_rwlock_rdlock, pthread_rwlock_wrlock, pthread_rwlock_timedrdlock,
    pthread_rwlock_timedwrlock, pthread_barrier_wait, pthread_join,
    pread, readv, pwrite, writev, recv, recvfrom, recvmsg, recvmmsg, send, sendto, sendmsg, sendmmsg,
    accept, accept4, connect, sendfile, splice, wait, waitpid, wait3, wait4, waitid, system, pclose,
    fdatasync, sync, syncfs, msync, flock, lockf, msgrcv, msgsnd, semop, semtimedop, tcdrain,
    fread, fgets, getline, getdelim, fflush,
    pread64, pwrite64, preadv, pwritev, sendfile64, lockf64, fcntl64, preadv64, pwritev64, copy_file_range,
    sync_file_range, epoll_pwait2, __read_chk, __pread_chk, __pread64_chk, __recv_chk, __recvfrom_chk, __poll_chk, __ppoll_chk,
    __fread_chk, __fgets_chk,
    thrd_sleep, thrd_join, mtx_lock, mtx_timedlock, cnd_wait, cnd_timedwait,
    pthread_cond_clockwait, pthread_mutex_clocklock, sem_clockwait, pthread_timedjoin_np, pthread_clockjoin_np,
    mq_receive, mq_timedreceive, mq_send, mq_timedsend, aio_suspend,
    sched_yield => WATCHING_YIELDS, thrd_yield => WATCHING_YIELDS,
}

/// What a thread that is off the CPU in a call is: who yields stays runnable.
fn kind(index: u64) -> Kind {
    let yields = [Call::sched_yield, Call::thrd_yield].map(|call| call as u64);
    if yields.contains(&index) { Kind::Preempted } else { Kind::Blocked }
}

const fn c_name(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

fn set(call: Call, function: Option<*mut c_void>) {
    if let Some(slot) = REAL.get(call as usize) {
        slot.store(function.unwrap_or(missing as *mut c_void), Ordering::Release);
    }
}

/// Stands for a function that this C library does not have.
extern "C" fn missing() -> isize {
    -1
}

/// Stand for what is done already: a yield, or a mutex that is taken.
extern "C" fn done() -> c_int {
    0
}

extern "C" fn taken_from_the_dead() -> c_int {
    libc::EOWNERDEAD
}

/// Takes a mutex that is free, as most are: such a call is not worth timing.
fn take_mutex(mutex: *mut c_void) -> Option<extern "C" fn() -> c_int> {
    let trylock = real::get()?.mutex_trylock?;
    // SAFETY: the program's mutex, which it wants locked.
    match unsafe { trylock(mutex.cast()) } {
        0 => Some(done),
        libc::EOWNERDEAD => Some(taken_from_the_dead),
        _ => None,
    }
}

/// The function behind a name; before start-up, one that fails.
pub fn real(index: usize) -> *mut c_void {
    let function = REAL.get(index).map_or(core::ptr::null_mut(), |f| f.load(Ordering::Acquire));
    if function.is_null() { missing as *mut c_void } else { function }
}

/// Its address; 0 before start-up. Signal context: yes.
pub fn address(index: u64) -> u64 {
    REAL.get(index as usize).map_or(0, |f| f.load(Ordering::Relaxed) as u64)
}

/// Begins a call of which the entry does not know that it needs no watching. `argument`: the first of the call's.
pub extern "C" fn begin(index: usize, argument: *mut c_void) -> Begun {
    start::ensure();
    let function = real(index);
    let unwatched = Begun { begun_ns: 0, function };
    if !start::is_on() {
        return unwatched;
    }
    // SAFETY: the calling thread's own state.
    let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) else { return unwatched };
    if kind(index as u64) == Kind::Preempted {
        return timed(thread, done as *mut c_void);
    }
    if !thread.times_calls() {
        return unwatched;
    }
    if index == Call::pthread_mutex_lock as usize
        && let Some(taken) = take_mutex(argument)
    {
        return Begun { begun_ns: 0, function: taken as *mut c_void };
    }
    timed(thread, function)
}

/// Begins a call that is timed.
fn timed(thread: &mut Thread, function: *mut c_void) -> Begun {
    let begun_ns = clock::wall_ns();
    thread.is_calling = true;
    thread.retry.begin();
    Begun { begun_ns, function }
}

/// Ends a call that was timed. Gives the stack to sample on if this wait is to be sampled; all signals are blocked then,
/// and [`sample`] and [`sampled`] are to follow. Leaves `errno` alone.
///
/// # Safety
/// `frame` is what the entry left on the stack.
pub unsafe extern "C" fn end(frame: *const Frame) -> *mut u8 {
    let now_ns = clock::wall_ns();
    // SAFETY: by contract.
    let frame = unsafe { &*frame };
    let (passed_ns, kind) = (now_ns.saturating_sub(frame.begun_ns), kind(frame.index));
    // SAFETY: the calling thread's own state.
    let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) else {
        return core::ptr::null_mut();
    };
    let waited_ns = match kind {
        Kind::Blocked => due_ns(thread, passed_ns),
        Kind::Preempted => {
            thread.account_yield();
            let is_due = thread.yielded_ns >= yields::look_ns(thread);
            if is_due { core::mem::take(&mut thread.yielded_ns) } else { 0 }
        }
    };
    let is_worth = kind == Kind::Preempted && thread.spin.is_worth();
    // The child of a vfork has its parent's state before it and is somebody else.
    if waited_ns == 0 && !is_worth || !start::is_on() || !thread.is_task(raw::gettid()) {
        thread.is_calling = false;
        return core::ptr::null_mut();
    }
    thread.mask = raw::mask_signals(libc::SIG_SETMASK, u64::MAX);
    thread.is_calling = false;
    if handler::wait_ended(thread, kind, now_ns, waited_ns) || is_worth {
        return thread.handler_stack.top();
    }
    raw::mask_signals(libc::SIG_SETMASK, thread.mask);
    core::ptr::null_mut()
}

/// How long a wait is to be looked at now that a call that blocks has ended after `passed_ns`.
fn due_ns(thread: &mut Thread, passed_ns: u64) -> u64 {
    if !thread.watches_calls() {
        return if passed_ns >= LONG_NS { passed_ns } else { 0 };
    }
    if passed_ns >= SHORTEST_NS {
        thread.waited_ns += passed_ns;
    }
    if thread.waited_ns >= LOOK_NS { core::mem::take(&mut thread.waited_ns) } else { 0 }
}

/// Samples the wait that ended, on the handler's stack.
///
/// # Safety
/// As [`end`], which wanted it.
pub unsafe extern "C" fn sample(frame: *const Frame) {
    // SAFETY: by contract.
    let frame = unsafe { &*frame };
    let sp = core::ptr::from_ref(frame) as u64 + size_of::<Frame>() as u64;
    let registers = cpu::registers_after_call(frame.saved, frame.frame_pointer, frame.return_address, sp);
    let place = Place::called(registers, address(frame.index));
    // SAFETY: the calling thread's own state.
    if let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) {
        handler::on_wait(thread, kind(frame.index), &place);
    }
}

/// Opens the signals again, back on the thread's own stack.
pub extern "C" fn sampled() {
    // SAFETY: the calling thread's own state.
    if let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) {
        raw::mask_signals(libc::SIG_SETMASK, thread.mask);
    }
}
