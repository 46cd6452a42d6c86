//! Backends: how a program is started at a processor count, and how the job is awaited.

mod batch;
mod interrupt;
mod job;
mod launcher;
mod mpi;
mod render;
mod shell;

pub use batch::Submission;
pub(crate) use batch::cancel_left_over;
pub use interrupt::Interrupt;
pub use job::{Ended, run_job};
pub use launcher::Launcher;
pub use mpi::{Flavour, installed_launchers};
pub(crate) use mpi::{has_other_machines, processors_here};
pub use render::{Job, JobProcess, RunSpec, render};
