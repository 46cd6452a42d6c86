//! Marks sections of a parallel program for falloff: phases whose time and balance it reports and whose share of the run
//! bounds the speed-up.
//!
//! ```
//! use falloff_sections::Section;
//!
//! let solve = Section::enter(c"SOLVE");
//! {
//!     let _halo = Section::enter(c"HALO");
//!     // exchange
//! }
//! drop(solve);
//! ```
//!
//! Nothing is linked: the functions are looked for in the running program, once, and do nothing where it is not profiled.
//! Sections are nested, on each thread by itself. With MPI, [`Section::enter_on`] takes a communicator: all its members
//! make the same calls in the same order, no message is sent and nobody waits. Of a label 63 bytes count.
#![no_std]
#![warn(missing_docs)]

use core::ffi::{c_char, c_int, c_void, CStr};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, Ordering};

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Alone = unsafe extern "C" fn(*const c_char) -> c_int;
type Together = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;

/// A function of falloff's.
struct Function {
    name: &'static CStr,
    /// Null before it was looked for; [`nothing`] if it is not there.
    found: AtomicPtr<c_void>,
}

unsafe extern "C" fn nothing(_: *const c_char) -> c_int {
    0
}

impl Function {
    const fn new(name: &'static CStr) -> Function {
        Function { name, found: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The function, if the program is profiled.
    fn get(&self) -> Option<*mut c_void> {
        let none = nothing as *const () as *mut c_void;
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // SAFETY: a C string; a null handle is where the loader looks by default.
            found = unsafe { dlsym(core::ptr::null_mut(), self.name.as_ptr()) };
            if found.is_null() {
                found = none;
            }
            self.found.store(found, Ordering::Relaxed);
        }
        (found != none).then_some(found)
    }

    fn call(&self, communicator: Option<*mut c_void>, label: &CStr) {
        let Some(function) = self.get() else { return };
        // SAFETY: falloff's functions have these prototypes, and the label is a C string.
        unsafe {
            match communicator {
                None => core::mem::transmute::<*mut c_void, Alone>(function)(label.as_ptr()),
                Some(communicator) => {
                    core::mem::transmute::<*mut c_void, Together>(function)(communicator, label.as_ptr())
                }
            };
        }
    }
}

static ENTER: Function = Function::new(c"falloff_section_enter");
static EXIT: Function = Function::new(c"falloff_section_exit");
static ENTER_ON: Function = Function::new(c"MPIX_Section_enter");
static EXIT_ON: Function = Function::new(c"MPIX_Section_exit");

/// An open section, left when it is dropped.
#[must_use = "a section ends when it is dropped"]
pub struct Section<'a> {
    communicator: Option<*mut c_void>,
    label: &'a CStr,
    /// It is left on the thread that entered it.
    thread: PhantomData<*const ()>,
}

impl<'a> Section<'a> {
    /// Enters a section of the calling thread.
    pub fn enter(label: &'a CStr) -> Section<'a> {
        ENTER.call(None, label);
        Section { communicator: None, label, thread: PhantomData }
    }

    /// Enters a section together with the other members of an MPI communicator: its `MPI_Comm`, a pointer or a number
    /// made a pointer (`comm as usize as *mut c_void`).
    pub fn enter_on(communicator: *mut c_void, label: &'a CStr) -> Section<'a> {
        ENTER_ON.call(Some(communicator), label);
        Section { communicator: Some(communicator), label, thread: PhantomData }
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        match self.communicator {
            None => EXIT.call(None, self.label),
            communicator => EXIT_ON.call(communicator, self.label),
        }
    }
}
