//! The names that programs call: `sections/include/falloff_sections.h` has their prototypes. Communicators come as machine
//! words, whatever type the MPI library gives them. All of them give 0 and do nothing where nothing is measured.

use core::ffi::{c_char, c_int};

use super::label::Label;
use super::{mpi, stack};
use crate::thread::Thread;
use crate::{start, thread_create};

/// The state of the calling thread, if sections are of use.
pub fn thread() -> Option<&'static mut Thread> {
    // SAFETY: the calling thread's own state.
    start::is_on().then(thread_create::current).flatten().map(|t| unsafe { &mut *t })
}

macro_rules! export {
    ($($name:ident, $profiling:ident($($arg:ident: $ty:ty),*) $body:block)*) => { $(
        /// As its prototype.
        ///
        /// # Safety
        /// The label is null or a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            start::ensure();
            $body
            0
        }

        /// The same by the name that tools call which replace the other.
        ///
        /// # Safety
        /// As the other.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $profiling($($arg: $ty),*) -> c_int {
            // SAFETY: the caller's arguments.
            unsafe { $name($($arg),*) }
        }
    )* };
}

export! {
    MPIX_Section_enter, PMPIX_Section_enter(communicator: usize, label: *const c_char) {
        if let Some(thread) = thread() {
            // SAFETY: by contract.
            let label = unsafe { Label::of_c(label) };
            stack::enter(thread, mpi::handle(communicator), communicator, label);
        }
    }
    MPIX_Section_exit, PMPIX_Section_exit(communicator: usize, label: *const c_char) {
        if let Some(thread) = thread() {
            // SAFETY: by contract.
            let label = unsafe { Label::of_c(label) };
            stack::leave(thread, mpi::handle(communicator), communicator, label);
        }
    }
    MPIX_Section_enter_cb, PMPIX_Section_enter_cb(_communicator: usize, _label: *const c_char, _data: *mut c_char) {}
    MPIX_Section_leave_cb, PMPIX_Section_leave_cb(_communicator: usize, _label: *const c_char, _data: *mut c_char) {}
}

/// Enters a section without a communicator.
///
/// # Safety
/// The label is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn falloff_section_enter(label: *const c_char) -> c_int {
    start::ensure();
    if let Some(thread) = thread() {
        // SAFETY: by contract.
        stack::enter(thread, 0, 0, unsafe { Label::of_c(label) });
    }
    0
}

/// Leaves a section without a communicator.
///
/// # Safety
/// The label is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn falloff_section_exit(label: *const c_char) -> c_int {
    start::ensure();
    if let Some(thread) = thread() {
        // SAFETY: by contract.
        stack::leave(thread, 0, 0, unsafe { Label::of_c(label) });
    }
    0
}

/// Enters a section on a communicator that is given as Fortran has it.
///
/// # Safety
/// The label is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn falloff_section_enter_f(communicator: c_int, label: *const c_char) -> c_int {
    // SAFETY: by contract.
    unsafe { MPIX_Section_enter(mpi::of_fortran(communicator), label) }
}

/// Leaves a section on a communicator that is given as Fortran has it.
///
/// # Safety
/// The label is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn falloff_section_exit_f(communicator: c_int, label: *const c_char) -> c_int {
    // SAFETY: by contract.
    unsafe { MPIX_Section_exit(mpi::of_fortran(communicator), label) }
}
