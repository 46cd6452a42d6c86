//! MPI's own functions that tell of sections: both names of each, since Fortran's reach the one or the other. Each goes on to
//! the function of the same name; no `mpi.h` is needed, for every argument is a machine word on both processors.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::Write;
use core::sync::atomic::{AtomicPtr, Ordering};

use falloff_format::header;
use falloff_format::records::keys;
use falloff_format::sections::MPI_MAIN;

use super::exports::thread;
use super::label::{Doubtful, Label};
use super::{communicators, mpi, stack};
use crate::text::Text;
use crate::{events, file, identity, records, start};

/// What a call gives if there is no function behind it: `MPI_ERR_OTHER` of MPICH.
const MISSING: c_int = 15;

/// The function behind a name, looked for at the first call: the library's, or what logs its calls.
struct Behind(AtomicPtr<c_void>);

impl Behind {
    const fn new() -> Behind {
        Behind(AtomicPtr::new(core::ptr::null_mut()))
    }

    fn get(&self, name: &CStr) -> Option<*mut c_void> {
        start::ensure();
        let known = self.0.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        let logged = if events::is_asked() { events::entry(name.to_bytes()) } else { None };
        let found = logged.or_else(|| mpi::function(name))?;
        self.0.store(found, Ordering::Release);
        Some(found)
    }
}

macro_rules! hook {
    ($name:ident ($($arg:ident: $ty:ty),*) as $kind:ty, $before:expr, $after:expr) => {
        /// Replaces the MPI library's function of this name.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            static BEHIND: Behind = Behind::new();
            let Some(function) = BEHIND.get(const { c_name(concat!(stringify!($name), "\0")) }) else {
                return MISSING;
            };
            // SAFETY: the prototype of the function of this name, with handles as machine words.
            let function = unsafe { core::mem::transmute::<*mut c_void, $kind>(function) };
            $before;
            // SAFETY: the caller's arguments.
            let result = unsafe { function($($arg),*) };
            $after(result);
            result
        }
    };
}

/// Both names of each function.
macro_rules! hooks {
    ($($name:ident $profiling:ident $arguments:tt as $kind:ty: $before:expr, $after:expr;)*) => { $(
        hook!($name $arguments as $kind, $before, $after);
        hook!($profiling $arguments as $kind, $before, $after);
    )* };
}

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
type InitThread = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;

hooks! {
    MPI_Init PMPI_Init(count: *mut c_int, arguments: *mut *mut *mut c_char) as Init: {}, initialised;
    MPI_Init_thread PMPI_Init_thread(
        count: *mut c_int,
        arguments: *mut *mut *mut c_char,
        required: c_int,
        provided: *mut c_int
    ) as InitThread: {}, initialised;
    MPI_Finalize PMPI_Finalize() as Finalize: finalizing(), nothing;
    MPI_Comm_free PMPI_Comm_free(communicator: *mut c_void) as Free: forget(communicator), nothing;
    MPI_Comm_disconnect PMPI_Comm_disconnect(communicator: *mut c_void) as Free: forget(communicator), nothing;
}

fn nothing(_: c_int) {}

const fn c_name(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

fn main_section() -> Label<'static> {
    Label::new(MPI_MAIN.as_bytes())
}

/// MPI is there: which rank is this, and the section of all that follows.
fn initialised(result: c_int) {
    if result != 0 || !start::is_on() || !mpi::initialised() {
        return;
    }
    let Some(world) = mpi::world() else { return };
    if let Some((rank, size)) = mpi::rank_and_size(world) {
        note_rank(rank as i32, size as i32);
    }
    if let Some(thread) = thread() {
        stack::enter(thread, mpi::handle(world), world, main_section());
    }
}

/// What MPI says of ranks holds; what the launcher's variables said, only as long as nothing better was known.
fn note_rank(rank: i32, ranks: i32) {
    let asked = identity::get().map(|i| (i.options.rank, i.options.ranks));
    if let Some((told, of)) =
        asked.filter(|(told, of)| *told >= 0 && (*told != rank || *of != 0 && *of != ranks))
    {
        let mut text = Text::<160>::new();
        let _ =
            write!(text, "the launcher's variables say rank {told} of {of}, MPI says rank {rank} of {ranks}");
        records::meta(keys::WARNING, text.as_bytes());
    }
    file::set_rank(rank, ranks, asked.map_or(header::NO_RANK, |(told, _)| told));
}

/// The section of all ends, with whatever is open within.
fn finalizing() {
    if !mpi::finalizing() {
        return;
    }
    if let (Some(thread), Some(world)) = (thread(), mpi::world()) {
        let handle = mpi::handle(world);
        stack::leave_all_within(thread, handle, main_section());
        stack::leave(thread, handle, world, main_section());
    }
}

/// The handle may come again for another communicator.
fn forget(communicator: *mut c_void) {
    // SAFETY: the caller's pointer to a communicator.
    if let Some(handle) = unsafe { mpi::handle_at(communicator) } {
        communicators::forget(handle);
    }
}

/// `MPI_Pcontrol`: any number of arguments may follow the level, of which the library knows nothing.
type Control = unsafe extern "C" fn(c_int, ...) -> c_int;

macro_rules! control {
    ($($name:ident)*) => { $(
        /// Replaces the MPI library's function of this name: level 1 enters the section of the label that follows, -1 leaves it.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(level: c_int, label: *const c_char, a: usize, b: usize, c: usize, d: usize) -> c_int {
            static BEHIND: Behind = Behind::new();
            let function = BEHIND.get(const { c_name(concat!(stringify!($name), "\0")) });
            let is_outermost = mark(level, label);
            let result = match function {
                // SAFETY: the caller's arguments, those that are passed in registers.
                Some(function) => unsafe {
                    core::mem::transmute::<*mut c_void, Control>(function)(level, label, a, b, c, d)
                },
                None => MISSING,
            };
            if let Some(thread) = thread().filter(|_| is_outermost) {
                thread.sections.is_in_control = false;
            }
            result
        }
    )* };
}
control!(MPI_Pcontrol PMPI_Pcontrol);

/// Enters or leaves a section if the call is about one. Whether the thread was not in such a call already: tools and bindings
/// call the one name from the other.
fn mark(level: c_int, label: *const c_char) -> bool {
    let Some(thread) = thread().filter(|t| !t.sections.is_in_control) else { return false };
    thread.sections.is_in_control = true;
    if level == 1 || level == -1 {
        let text = Doubtful::read(label);
        match text.label() {
            Some(label) if level == 1 => stack::enter(thread, 0, 0, label),
            Some(label) => stack::leave(thread, 0, 0, label),
            None => {}
        }
    }
    true
}
