//! Our signal stays ours and out of the application's sight: it can neither block it, nor handle it, nor wait
//! for it. What it sets is remembered and shown to it again.

use core::ffi::{c_int, c_void};

use core::sync::atomic::{AtomicBool, Ordering};

use crate::sync::Lock;
use crate::{cpu, identity, perf, plan, raw, real, start};

/// The sampling signal: a real-time one, so that SIGPROF stays the application's. Near the top of the range, which
/// programs and the C library fill from the bottom.
pub const SAMPLE: c_int = 61;

/// What the application believes to have set for the sampling signal, and for the trap.
static SHADOWS: [Lock<Option<libc::sigaction>>; 2] = [const { Lock::new(None) }; 2];
/// Whether performance events trap in this process.
static TRAPS: AtomicBool = AtomicBool::new(false);

/// Whether performance events may trap in this process: the handler is there, and the kernel's traps are harmless.
pub fn traps_are_ours() -> bool {
    TRAPS.load(Ordering::Relaxed)
}

/// The shadow of a signal that we have taken.
fn shadow(signal: c_int) -> Option<&'static Lock<Option<libc::sigaction>>> {
    match signal {
        SAMPLE => SHADOWS.first(),
        libc::SIGTRAP if traps_are_ours() => SHADOWS.last(),
        _ => None,
    }
}

/// Installs the handler.
pub fn install() -> bool {
    let wanted =
        plan::get().uses_traps() && identity::get().is_some_and(|i| perf::is_supported(i.kernel.as_bytes()));
    // What the application got from its parent is what it would see; only a debugger's child inherits more than default.
    TRAPS.store(wanted && install_for(libc::SIGTRAP), Ordering::Relaxed);
    install_for(SAMPLE)
}

fn install_for(signal: c_int) -> bool {
    let Some(real) = real::get().and_then(|r| r.sigaction) else { return false };
    // SAFETY: a C structure for which zero is valid.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = cpu::on_signal as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: fills a set of ours.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    // SAFETY: a complete action.
    unsafe { real(signal, &raw const action, core::ptr::null_mut()) == 0 }
}

/// A signal that no timer or event of ours sent goes where it would go without us: to the application's handler,
/// nowhere, or to the default, which ends the program. Signal context: yes.
pub fn pass_on(info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes this to a handler with SA_SIGINFO.
    let signal = unsafe { (*info).si_signo };
    let action = shadow(signal)
        .and_then(|s| s.try_lock())
        .and_then(|shadow| *shadow)
        .map_or(libc::SIG_DFL, |action| action.sa_sigaction);
    match action {
        libc::SIG_IGN => {}
        libc::SIG_DFL => raw::die_by(signal),
        handler => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the application gave this as its handler; one that takes the number only ignores the rest.
            let handler = unsafe { core::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
    }
}

/// Our signals, a bit for each.
pub fn ours() -> u64 {
    const fn bit(signal: c_int) -> u64 {
        1 << (signal - 1)
    }
    if traps_are_ours() { bit(SAMPLE) | bit(libc::SIGTRAP) } else { bit(SAMPLE) }
}

/// Keeps samples of the calling thread waiting while it lives: what is being changed would cost them their paths.
pub struct Hold {
    opens: u64,
}

impl Hold {
    /// Begins.
    pub fn begin() -> Hold {
        Hold { opens: ours() & !raw::mask_signals(libc::SIG_BLOCK, ours()) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        raw::mask_signals(libc::SIG_UNBLOCK, self.opens);
    }
}

/// A copy of a signal set without our signals.
///
/// # Safety
/// `set` is null or a valid set.
unsafe fn without_ours(set: *const libc::sigset_t) -> Option<libc::sigset_t> {
    // SAFETY: by contract.
    let mut copy = *unsafe { set.as_ref() }?;
    // SAFETY: a set of ours and valid signal numbers.
    unsafe {
        libc::sigdelset(&raw mut copy, SAMPLE);
        if traps_are_ours() {
            libc::sigdelset(&raw mut copy, libc::SIGTRAP);
        }
    }
    Some(copy)
}

fn pointer(set: &Option<libc::sigset_t>) -> *const libc::sigset_t {
    set.as_ref().map_or(core::ptr::null(), |s| &raw const *s)
}

macro_rules! real {
    ($field:ident, $missing:expr) => {{
        start::ensure();
        match real::get().and_then(|r| r.$field) {
            Some(real) => real,
            None => return $missing,
        }
    }};
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `sigaction`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let real = real!(sigaction, -1);
    let Some(shadow) = shadow(signal).filter(|_| start::is_on()) else {
        // SAFETY: the caller's arguments.
        return unsafe { real(signal, new, old) };
    };
    let mut shadow = shadow.lock();
    if !old.is_null() {
        // SAFETY: the caller's place for the old action; zero is the default action.
        unsafe { old.write(shadow.unwrap_or(core::mem::zeroed())) };
    }
    // SAFETY: null or the caller's action.
    if let Some(new) = unsafe { new.as_ref() } {
        *shadow = Some(*new);
    }
    0
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let real = real!(signal, libc::SIG_ERR);
    if shadow(signal).is_none() || !start::is_on() {
        // SAFETY: the caller's arguments.
        return unsafe { real(signal, handler) };
    }
    // SAFETY: C structures for which zero is valid.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { core::mem::zeroed() };
    new.sa_sigaction = handler;
    // SAFETY: two structures of ours; only remembers.
    unsafe { sigaction(signal, &raw const new, &raw mut old) };
    old.sa_sigaction
}

macro_rules! mask {
    ($name:ident) => {
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            how: c_int,
            set: *const libc::sigset_t,
            old: *mut libc::sigset_t,
        ) -> c_int {
            let real = real!($name, libc::ENOSYS);
            // Opening our signal is harmless, and an argument that is wrong stays the C library's to refuse.
            let hides = start::is_on() && how != libc::SIG_UNBLOCK;
            // SAFETY: null or the caller's set.
            let copy = if hides { unsafe { without_ours(set) } } else { None };
            let set = if copy.is_some() { pointer(&copy) } else { set };
            // SAFETY: the caller's arguments, or a copy of them.
            unsafe { real(how, set, old) }
        }
    };
}

mask!(sigprocmask);
mask!(pthread_sigmask);

/// What `sigwait` does here, behind its watched name.
///
/// # Safety
/// As `sigwait`.
pub unsafe extern "C" fn sigwait(set: *const libc::sigset_t, signal: *mut c_int) -> c_int {
    let real = real!(sigwait, libc::ENOSYS);
    // SAFETY: the caller's arguments, with our signal out of the set.
    unsafe {
        let copy = without_ours(set);
        real(pointer(&copy), signal)
    }
}

/// What `sigwaitinfo` does here, behind its watched name.
///
/// # Safety
/// As `sigwaitinfo`.
pub unsafe extern "C" fn sigwaitinfo(set: *const libc::sigset_t, info: *mut libc::siginfo_t) -> c_int {
    let real = real!(sigwaitinfo, -1);
    // SAFETY: the caller's arguments, with our signal out of the set.
    unsafe {
        let copy = without_ours(set);
        real(pointer(&copy), info)
    }
}

/// What `sigtimedwait` does here, behind its watched name.
///
/// # Safety
/// As `sigtimedwait`.
pub unsafe extern "C" fn sigtimedwait(
    set: *const libc::sigset_t,
    info: *mut libc::siginfo_t,
    limit: *const libc::timespec,
) -> c_int {
    let real = real!(sigtimedwait, -1);
    // SAFETY: the caller's arguments, with our signal out of the set.
    unsafe {
        let copy = without_ours(set);
        real(pointer(&copy), info, limit)
    }
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `signalfd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signalfd(fd: c_int, set: *const libc::sigset_t, flags: c_int) -> c_int {
    let real = real!(signalfd, -1);
    // SAFETY: the caller's arguments, with our signal out of the set.
    unsafe {
        let copy = without_ours(set);
        real(fd, pointer(&copy), flags)
    }
}
