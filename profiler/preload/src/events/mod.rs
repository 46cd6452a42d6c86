//! The event log: calls of MPI, what they begin and complete, and the call paths that make them, in `falloff_format::events`.
//!
//! Each name of `functions` is a few instructions that jump on to the library's function unless events are logged; then the
//! call runs between [`begin`] and [`end`] (`calls`), of the outermost calls only; `tables` reaches the names that cannot be exported. `shapes` says what calls do, `frame` is what
//! the entry leaves on the stack; `library` knows how libraries write what they are given; `communicators`, with their `groups`,
//! and `requests` know what handles stand for;
//! `log` is what a thread has: the chunk that it writes, and the paths of its calls, apart from those of its samples, so that
//! the handler of a signal may come at any time. `messages`, `completion`, `collectives`, `making` and `windows` have the
//! functions by what they do.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

mod calls;
mod collectives;
mod communicators;
mod completion;
mod frame;
mod functions;
mod groups;
mod library;
mod log;
mod making;
mod messages;
mod requests;
mod shapes;
mod tables;
mod windows;

pub use calls::{begin, end};
pub use functions::REAL;
pub use log::Log;

use falloff_format::records::keys;

use crate::{identity, records};

/// Whether calls are looked at at all.
pub static LOGGING: AtomicBool = AtomicBool::new(false);

/// Begins the log of the process, if it is asked for and has a file.
pub fn start() {
    if is_asked() {
        records::meta(keys::EVENTS, b"mpi");
        LOGGING.store(true, Ordering::Release);
    }
}

/// What logs the calls of a name and goes on to the library's function.
pub fn entry(name: &[u8]) -> Option<*mut c_void> {
    let entry = functions::entry(functions::index(name)?)?;
    Some(entry as *mut c_void)
}

/// Whether a log was asked for.
pub fn is_asked() -> bool {
    identity::get().is_some_and(|who| who.options.events_limit > 0)
}

/// Whether calls are logged.
fn is_on() -> bool {
    LOGGING.load(Ordering::Acquire)
}

/// Ends the log, where MPI ends, in the child of a fork, which is no process of MPI, or where there is no room for more. Whether
/// it has not ended before.
pub fn stop() -> bool {
    LOGGING.swap(false, Ordering::AcqRel)
}
