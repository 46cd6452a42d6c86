//! Sections: phases that the program marks, on the stack of the thread that marks them (`stack`). What is below a section
//! is a section of its own (`table`), so that one number tells a handler all of it. Each thread writes its own times
//! (`book`); `communicators` keeps who enters together and in which order; `mpi` and `hooks` are what is known of MPI,
//! without its header; `exports` are the names that programs call, `callbacks` those that other tools replace.

mod book;
mod callbacks;
mod communicators;
mod exports;
mod hooks;
mod label;
mod mpi;
mod stack;
mod table;

pub use mpi::{Kin, function, library};
pub use stack::{Sections, section_of};
pub use table::{describe_open, undisturbed};

/// In the child of a fork, which will have a file of its own.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe {
        table::after_fork();
        communicators::after_fork();
        mpi::after_fork();
    }
}
