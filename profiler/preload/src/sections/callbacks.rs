//! `MPIX_Section_enter_cb` and `MPIX_Section_leave_cb`: another tool that defines them hears of each section.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use falloff_format::sections::LABEL_LEN;

use super::exports;
use super::label::Label;
use crate::real;

/// Bytes that a tool's callback at the exit finds as that at the entry has left them.
pub const DATA_LEN: usize = 32;
/// `(communicator, label, data)`.
type Callback = unsafe extern "C" fn(usize, *const c_char, *mut c_char) -> c_int;

static ENTERED: Replacement = Replacement(AtomicPtr::new(core::ptr::null_mut()));
static LEFT: Replacement = Replacement(AtomicPtr::new(core::ptr::null_mut()));

/// A tool's function, looked for once: null before, ours if there is none.
struct Replacement(AtomicPtr<c_void>);

impl Replacement {
    fn call(
        &self,
        name: &CStr,
        ours: Callback,
        communicator: usize,
        label: Label<'_>,
        data: &mut [u8; DATA_LEN],
    ) {
        let ours = ours as *mut c_void;
        let mut function = self.0.load(Ordering::Acquire);
        if function.is_null() {
            // Of the program itself, or of what is loaded behind this library.
            let found = [real::first(name), real::next(name)].into_iter().flatten().find(|f| *f != ours);
            function = found.unwrap_or(ours);
            self.0.store(function, Ordering::Release);
        }
        if function == ours {
            return;
        }
        let mut text = [0; LABEL_LEN];
        text.iter_mut().zip(label.bytes).for_each(|(to, from)| *to = *from);
        // SAFETY: the function of this name has this prototype; label and data live through the call.
        unsafe {
            let function = core::mem::transmute::<*mut c_void, Callback>(function);
            function(communicator, text.as_ptr().cast(), data.as_mut_ptr().cast());
        }
    }
}

/// A section was entered.
pub fn entered(communicator: usize, label: Label<'_>, data: &mut [u8; DATA_LEN]) {
    ENTERED.call(c"MPIX_Section_enter_cb", exports::MPIX_Section_enter_cb, communicator, label, data);
}

/// A section was left.
pub fn left(communicator: usize, label: Label<'_>, data: &mut [u8; DATA_LEN]) {
    LEFT.call(c"MPIX_Section_leave_cb", exports::MPIX_Section_leave_cb, communicator, label, data);
}
