//! The C library's own functions behind those that we replace, and others that not every C library has: all
//! looked up once, by name, at start-up, so that no handler and no wrapper ever calls the loader. A missing one
//! is `None` and its use is left out.

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::loader::FoundObject;
use crate::sync::SetOnce;

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// `pthread_create`.
pub type PthreadCreate =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> c_int;
/// `__register_atfork`: prepare, parent, child, and whose they are.
pub type RegisterAtfork = unsafe extern "C" fn(
    Option<extern "C" fn()>,
    Option<extern "C" fn()>,
    Option<extern "C" fn()>,
    *mut c_void,
) -> c_int;
/// `_dl_find_object`: finds the object of an address without a lock, glibc 2.35 and later.
pub type FindObject = unsafe extern "C" fn(*const c_void, *mut FoundObject) -> c_int;
type SetAction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type SetHandler = unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
type SetMask = unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;
type Wait = unsafe extern "C" fn(*const libc::sigset_t, *mut c_int) -> c_int;
type WaitInfo = unsafe extern "C" fn(*const libc::sigset_t, *mut libc::siginfo_t) -> c_int;
type WaitTimed =
    unsafe extern "C" fn(*const libc::sigset_t, *mut libc::siginfo_t, *const libc::timespec) -> c_int;
type SignalFd = unsafe extern "C" fn(c_int, *const libc::sigset_t, c_int) -> c_int;
/// `execve`.
type Execute = unsafe extern "C" fn(*const c_char, *const *const c_char, *const *const c_char) -> c_int;
type Exit = unsafe extern "C" fn(c_int) -> !;

macro_rules! table {
    ($($(#[$doc:meta])* $field:ident: $ty:ty = $name:literal),* $(,)?) => {
        /// The functions.
        #[derive(Clone, Copy)]
        pub struct Real { $($(#[$doc])* pub $field: Option<$ty>,)* }

        impl Real {
            fn look_up() -> Real {
                // SAFETY: each type is the C prototype of the function of that name.
                unsafe { Real { $($field: next($name).map(|p| core::mem::transmute_copy::<*mut c_void, $ty>(&p)),)* } }
            }
        }
    };
}

table! {
    /// Starts a thread.
    pthread_create: PthreadCreate = c"pthread_create",
    /// Sets a signal's action.
    sigaction: SetAction = c"sigaction",
    /// Sets a signal's handler.
    signal: SetHandler = c"signal",
    /// Changes the mask of the only thread.
    sigprocmask: SetMask = c"sigprocmask",
    /// Changes the calling thread's mask.
    pthread_sigmask: SetMask = c"pthread_sigmask",
    /// Waits for a signal.
    sigwait: Wait = c"sigwait",
    /// Waits for a signal and tells more.
    sigwaitinfo: WaitInfo = c"sigwaitinfo",
    /// The same with a time limit.
    sigtimedwait: WaitTimed = c"sigtimedwait",
    /// Signals through a descriptor.
    signalfd: SignalFd = c"signalfd",
    /// Ends the process at once.
    exit: Exit = c"_exit",
    /// Reads a clock.
    clock_gettime: unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int = c"clock_gettime",
    /// Takes a mutex if it is free.
    mutex_trylock: unsafe extern "C" fn(*mut libc::pthread_mutex_t) -> c_int = c"pthread_mutex_trylock",
    /// Executes a program in place of this one.
    execve: Execute = c"execve",
    /// The same, searched on the path.
    execvpe: Execute = c"execvpe",
    /// The same, by descriptor.
    fexecve: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int = c"fexecve",
    /// The same, relative to a directory.
    execveat: unsafe extern "C" fn(c_int, *const c_char, *const *const c_char, *const *const c_char, c_int) -> c_int =
        c"execveat",
    /// Unloads an object.
    dlclose: unsafe extern "C" fn(*mut c_void) -> c_int = c"dlclose",
    /// Finds the object of an address.
    find_object: FindObject = c"_dl_find_object",
    /// Registers what runs around a fork.
    register_atfork: RegisterAtfork = c"__register_atfork",
    /// The same, where the C library is musl.
    atfork: unsafe extern "C" fn(
        Option<extern "C" fn()>, Option<extern "C" fn()>, Option<extern "C" fn()>) -> c_int = c"pthread_atfork",
    /// The next definition of a version.
    dlvsym: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void = c"dlvsym",
    /// Tells that this is glibc.
    glibc_version: usize = c"gnu_get_libc_version",
    /// The loader's list of objects, for debuggers.
    debug: usize = c"_r_debug",
    /// Where musl's loader has it; tells that this is musl.
    debug_place: usize = c"_dl_debug_addr",
}

impl Real {
    /// Whether this is a C library whose ways are known.
    pub fn is_known(&self) -> bool {
        self.glibc_version.is_some() || self.debug_place.is_some()
    }

    /// Whether the code of the C library has frame descriptions.
    pub fn describes_frames(&self) -> bool {
        self.glibc_version.is_some()
    }

    /// The loader's list of objects, 0 if it keeps none.
    pub fn debug_list(&self) -> usize {
        // SAFETY: a variable of the loader's, set before any program runs.
        self.debug.or_else(|| self.debug_place.map(|p| unsafe { (p as *const usize).read() })).unwrap_or(0)
    }
}

/// The next definition after ours.
pub fn next(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a valid name; RTLD_NEXT starts the search behind this object.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The first definition of all, which may be ours.
pub fn first(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a valid name; RTLD_DEFAULT starts the search at the program.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The definition of a library that is loaded, wherever that was done.
pub fn in_library(library: &CStr, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: valid names; without RTLD_NOLOAD something would be loaded.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        let found = (!handle.is_null()).then(|| libc::dlsym(handle, name.as_ptr()))?;
        (!found.is_null()).then_some(found)
    }
}

/// The next definition of a version; of any, where versions are of another kind.
pub fn next_version(name: &CStr, version: &CStr) -> Option<*mut c_void> {
    let dlvsym = get().and_then(|r| r.dlvsym);
    // SAFETY: valid names, as in `next`.
    let found = dlvsym.map(|f| unsafe { f(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) });
    found.filter(|f| !f.is_null()).or_else(|| next(name))
}

static REAL: SetOnce<Real> = SetOnce::new();
static PLACES: SetOnce<Places> = SetOnce::new();

/// Addresses that tell special modules apart; 0 where there is none.
#[derive(Clone, Copy)]
pub struct Places {
    /// In the program: its entry point.
    pub program: u64,
    /// Start of the dynamic loader.
    pub loader: u64,
    /// Start of the vDSO.
    pub vdso: u64,
    /// In this library.
    pub sampler: u64,
}

/// Looks everything up.
///
/// # Safety
/// Called once, at start-up.
pub unsafe fn look_up() {
    // SAFETY: getauxval only reads what the kernel left.
    let auxiliary = |kind| unsafe { libc::getauxval(kind) };
    let places = Places {
        program: auxiliary(libc::AT_ENTRY),
        loader: auxiliary(libc::AT_BASE),
        vdso: auxiliary(libc::AT_SYSINFO_EHDR),
        sampler: next as *const () as u64,
    };
    // SAFETY: by contract.
    unsafe {
        PLACES.set(places);
        REAL.set(Real::look_up());
    }
}

/// The functions; before start-up every one is missing.
pub fn get() -> Option<&'static Real> {
    REAL.get()
}

/// The places; all 0 before start-up.
pub fn places() -> Places {
    PLACES.get().copied().unwrap_or(Places { program: 0, loader: 0, vdso: 0, sampler: 0 })
}
