//! The `dlopen` family. Loading is passed on by a jump (`cpu`), so that the C library sees the true caller, whose
//! search path it uses; what was loaded is found later. Unloading is announced to the handlers first.

use core::ffi::{c_int, c_void};

use crate::{modules, real, start};

/// Called before a load, which then goes to the returned address. `which`: 0 `dlopen`, 1 `dlmopen`.
pub extern "C" fn before_load(which: c_int) -> usize {
    start::ensure();
    if start::is_on() {
        // What the last load brought is known now; what this one brings is found by the next look or a handler.
        modules::refresh_if_loaded();
        modules::note_load();
    }
    let real = real::get().and_then(|r| if which == 0 { r.dlopen } else { r.dlmopen });
    real.unwrap_or(refuse as *const () as usize)
}

/// Where a load goes if the C library has no such function.
extern "C" fn refuse() -> *mut c_void {
    core::ptr::null_mut()
}

/// Replaces the C library's function of this name.
///
/// # Safety
/// As `dlclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    start::ensure();
    let Some(real) = real::get().and_then(|r| r.dlclose) else { return -1 };
    if !start::is_on() {
        // SAFETY: the caller's argument.
        return unsafe { real(handle) };
    }
    modules::unloading_begins();
    // SAFETY: the caller's argument.
    let result = unsafe { real(handle) };
    modules::unloading_ended();
    result
}
