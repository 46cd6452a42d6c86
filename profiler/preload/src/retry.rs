//! Watched calls that a wall-clock timer of ours has interrupted are called again, so that the application sees neither
//! `EINTR` nor a wait of another length.
//!
//! The kernel ends some calls with `EINTR` whatever the handler's flags say. The handler notes it where nobody but we was
//! the cause ([`interrupted_by_us`]); the entry of the call then asks [`again`].

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::calls::{self, Call};
use crate::thread::Thread;
use crate::{clock, cpu, raw, signals, thread_create};

/// Whether wall-clock timers run, so that calls may have to be repeated.
pub static RETRYING: AtomicBool = AtomicBool::new(false);

/// What of a call is repeated.
#[derive(Clone, Copy)]
pub struct Retry {
    /// Whether our signal, and nothing else, has just ended a system call of this thread.
    pub is_due: bool,
    /// When the call that is being repeated was begun, and when its time is up.
    begun_ns: u64,
    deadline_ns: u64,
    /// What is left of it, for calls that read it from memory.
    rest: libc::timespec,
    /// `errno` before the call.
    errno: c_int,
}

impl Retry {
    /// Nothing.
    pub const NONE: Retry = Retry {
        is_due: false,
        begun_ns: 0,
        deadline_ns: 0,
        rest: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        errno: 0,
    };

    /// A call begins.
    pub fn begin(&mut self) {
        self.is_due = false;
        self.errno = errno();
    }
}

fn errno() -> c_int {
    // SAFETY: the calling thread's own.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: c_int) {
    // SAFETY: the calling thread's own.
    unsafe { *libc::__errno_location() = value };
}

/// Has calls repeated from now on.
pub fn begin() {
    RETRYING.store(true, Ordering::Relaxed);
}

/// Whether a signal of ours has ended a system call with `EINTR`, and no signal of the application's is about to be
/// delivered, which would have ended it as well. `after_call`: the thread goes on after a system call. Signal context: yes.
pub fn interrupted_by_us(context: &libc::ucontext_t, after_call: bool) -> bool {
    // SAFETY: the kernel's set of 64 signals stands at the start of the C library's longer one.
    let blocked = unsafe { (&raw const context.uc_sigmask).cast::<u64>().read() };
    after_call
        && cpu::system_call_result(context) == -i64::from(libc::EINTR)
        && raw::pending_signals() & !blocked & !signals::ours() == 0
}

/// How a call is told how long it may take.
#[derive(Clone, Copy)]
enum Limit {
    /// Not at all, or by a time of day, or the kernel itself counts down.
    Unchanged,
    /// In milliseconds, by this argument.
    Milliseconds(usize),
    /// In microseconds, by this argument.
    Microseconds(usize),
    /// In seconds, by the only argument; `sleep` answers with what is left.
    Sleep,
    /// By this argument, the address of a `timespec`.
    Span(usize),
    /// By the time limit for reading, or else writing, that the socket of the first argument may have.
    Socket { reads: bool },
}

/// A call as its entry left it on the stack: when it was begun, which it is, its arguments.
struct Attempt(*mut u64);

impl Attempt {
    fn word(&self, place: usize) -> *mut u64 {
        self.0.wrapping_add(place)
    }

    fn begun_ns(&self) -> u64 {
        // SAFETY: the entry's words on the stack, for as long as it asks.
        unsafe { self.word(0).read() }
    }

    fn index(&self) -> usize {
        // SAFETY: as above.
        unsafe { self.word(1).read() as usize }
    }

    fn argument(&self, number: usize) -> u64 {
        // SAFETY: as above.
        cpu::ARGUMENTS.get(number).map_or(0, |place| unsafe { self.word(*place).read() })
    }

    fn set_argument(&self, number: usize, value: u64) {
        if let Some(place) = cpu::ARGUMENTS.get(number) {
            // SAFETY: as above.
            unsafe { self.word(*place).write(value) };
        }
    }

    fn is(&self, call: Call) -> bool {
        self.index() == call as usize
    }

    fn limit(&self) -> Limit {
        use Call::*;
        let any = |calls: &[Call]| calls.iter().any(|call| self.is(*call));
        if any(&[poll, __poll_chk]) {
            Limit::Milliseconds(2)
        } else if any(&[epoll_wait, epoll_pwait]) {
            Limit::Milliseconds(3)
        } else if any(&[nanosleep, thrd_sleep]) {
            Limit::Span(0)
        } else if any(&[ppoll, __ppoll_chk, sigtimedwait, aio_suspend]) {
            Limit::Span(2)
        } else if any(&[epoll_pwait2, semtimedop]) {
            Limit::Span(3)
        } else if any(&[pselect]) {
            Limit::Span(4)
        } else if any(&[clock_nanosleep]) && self.argument(1) & libc::TIMER_ABSTIME as u64 == 0 {
            Limit::Span(2)
        } else if any(&[usleep]) {
            Limit::Microseconds(0)
        } else if any(&[sleep]) {
            Limit::Sleep
        } else if any(&[
            read,
            __read_chk,
            readv,
            recv,
            __recv_chk,
            recvfrom,
            __recvfrom_chk,
            recvmsg,
            recvmmsg,
            accept,
            accept4,
        ]) {
            Limit::Socket { reads: true }
        } else if any(&[write, writev, send, sendto, sendmsg, sendmmsg, sendfile, sendfile64, connect]) {
            Limit::Socket { reads: false }
        } else if any(&[syscall]) {
            self.raw_limit()
        } else {
            Limit::Unchanged
        }
    }

    /// Of a call by number, whose arguments stand one further.
    fn raw_limit(&self) -> Limit {
        const FUTEX_OPERATION: u64 = 0x7f;
        match self.argument(0) as i64 {
            libc::SYS_nanosleep => Limit::Span(1),
            libc::SYS_ppoll => Limit::Span(3),
            libc::SYS_pselect6 => Limit::Span(5),
            libc::SYS_epoll_pwait => Limit::Milliseconds(4),
            libc::SYS_futex if self.argument(2) & FUTEX_OPERATION == libc::FUTEX_WAIT as u64 => {
                Limit::Span(4)
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => Limit::Milliseconds(3),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => Limit::Milliseconds(4),
            _ => Limit::Unchanged,
        }
    }

    /// The time that the call was given, ns; `None`: no end.
    fn given_ns(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Unchanged => None,
            Limit::Milliseconds(at) => {
                u64::try_from(self.argument(at) as i32).ok().map(|ms| ms.saturating_mul(1_000_000))
            }
            Limit::Microseconds(at) => Some(u64::from(self.argument(at) as u32) * 1_000),
            Limit::Sleep => Some(u64::from(self.argument(0) as u32) * 1_000_000_000),
            Limit::Span(at) => {
                // SAFETY: null, or what the call has just read.
                let span = unsafe { (self.argument(at) as *const libc::timespec).as_ref() }?;
                let seconds = u64::try_from(span.tv_sec).ok()?;
                Some(seconds.saturating_mul(1_000_000_000).saturating_add(span.tv_nsec as u64))
            }
            Limit::Socket { reads } => {
                let limit = raw::socket_limit(self.argument(0) as c_int, reads)?;
                let ns = limit.tv_sec as u64 * 1_000_000_000 + limit.tv_usec as u64 * 1_000;
                (ns > 0).then_some(ns)
            }
        }
    }

    /// Gives the call the time that is left.
    fn shorten(&self, limit: Limit, rest_ns: u64, rest: &mut libc::timespec) {
        // Never shorter than what is left.
        *rest = libc::timespec {
            tv_sec: (rest_ns / 1_000_000_000) as _,
            tv_nsec: (rest_ns % 1_000_000_000) as _,
        };
        match limit {
            Limit::Unchanged | Limit::Sleep | Limit::Socket { .. } => {}
            Limit::Milliseconds(at) => self.set_argument(at, rest_ns.div_ceil(1_000_000)),
            Limit::Microseconds(at) => self.set_argument(at, rest_ns.div_ceil(1_000)),
            Limit::Span(at) => self.set_argument(at, core::ptr::from_mut(rest) as u64),
        }
    }

    /// Whether the call has told the application of an interruption.
    fn tells(&self, result: i64) -> bool {
        if self.is(Call::sleep) {
            // It answers in whole seconds: with 0 also where less than one is left.
            true
        } else if self.is(Call::clock_nanosleep) {
            result as c_int == libc::EINTR
        } else if self.is(Call::thrd_sleep) {
            result as c_int == -1
        } else {
            result as c_int == -1 && errno() == libc::EINTR
        }
    }
}

/// After a watched call: what to call in its place, with the arguments that then stand on the stack; null if it is over.
///
/// # Safety
/// `call` is what the entry left on the stack.
pub unsafe extern "C" fn again(call: *mut u64, result: i64) -> *mut c_void {
    let call = Attempt(call);
    // SAFETY: the calling thread's own state.
    let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) else {
        return core::ptr::null_mut();
    };
    if !core::mem::take(&mut thread.retry.is_due) || !call.tells(result) {
        return core::ptr::null_mut();
    }
    repeat(thread, &call)
}

fn repeat(thread: &mut Thread, call: &Attempt) -> *mut c_void {
    let (retry, begun_ns, limit) = (&mut thread.retry, call.begun_ns(), call.limit());
    if retry.begun_ns != begun_ns {
        // The first repetition: the arguments are still the application's.
        retry.begun_ns = begun_ns;
        retry.deadline_ns = call.given_ns(limit).map_or(u64::MAX, |ns| begun_ns.saturating_add(ns));
    }
    if retry.deadline_ns != u64::MAX {
        call.shorten(limit, retry.deadline_ns.saturating_sub(clock::wall_ns()), &mut retry.rest);
    }
    set_errno(retry.errno);
    match limit {
        Limit::Sleep => sleep_rest as *mut c_void,
        Limit::Socket { reads } if retry.deadline_ns != u64::MAX => wait_for_socket(thread, call, reads),
        _ => calls::real(call.index()),
    }
}

/// Waits as long as a socket's limit lets a call wait, which would begin anew with each repetition.
fn wait_for_socket(thread: &mut Thread, call: &Attempt, reads: bool) -> *mut c_void {
    let events = if reads { libc::POLLIN } else { libc::POLLOUT };
    let deadline_ns = thread.retry.deadline_ns;
    loop {
        thread.retry.is_due = false;
        let rest_ns = deadline_ns.saturating_sub(clock::wall_ns());
        match raw::wait_for(call.argument(0) as c_int, events, rest_ns) {
            Ok(0) if call.is(Call::connect) => return in_progress as *mut c_void,
            Ok(0) => return would_block as *mut c_void,
            // SAFETY: a handler of ours may have written it since.
            Err(libc::EINTR) if unsafe { (&raw const thread.retry.is_due).read_volatile() } => {}
            Err(libc::EINTR) => return interrupted as *mut c_void,
            _ => return calls::real(call.index()),
        }
    }
}

/// Stand for calls that end like this.
extern "C" fn would_block() -> isize {
    fail(libc::EAGAIN)
}

extern "C" fn in_progress() -> isize {
    fail(libc::EINPROGRESS)
}

extern "C" fn interrupted() -> isize {
    fail(libc::EINTR)
}

fn fail(error: c_int) -> isize {
    set_errno(error);
    -1
}

/// Goes on with a `sleep`.
extern "C" fn sleep_rest() -> c_uint {
    // SAFETY: the calling thread's own state.
    let Some(thread) = thread_create::current().map(|t| unsafe { &mut *t }) else { return 0 };
    let rest = &raw mut thread.retry.rest;
    type Sleep = unsafe extern "C" fn(*const libc::timespec, *mut libc::timespec) -> c_int;
    // SAFETY: the C library's function of this type, and a time of ours that it may write to.
    unsafe {
        let nanosleep = core::mem::transmute::<*mut c_void, Sleep>(calls::real(Call::nanosleep as usize));
        if nanosleep(rest, rest) == 0 {
            0
        } else {
            (*rest).tv_sec as c_uint + c_uint::from((*rest).tv_nsec >= 500_000_000)
        }
    }
}
