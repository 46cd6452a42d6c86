//! `dlclose`: unloading is announced to the handlers first. Loading needs no replacement: what is loaded is found by
//! the samples that meet it, and the C library goes on seeing the true caller of `dlopen`, whose search path it uses.

use core::ffi::{c_int, c_void};

use crate::{modules, real, start};

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
