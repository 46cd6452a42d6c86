//! MPI without its header: the library of whoever started this process is loaded and called by the names that all have.

mod library;
mod places;
mod session;

pub(super) use library::Library;
pub(super) use places::places;
pub(super) use session::Session;
