//! Backends: how a program is started at a processor count, and how the job is awaited.

mod interrupt;
mod job;
mod launcher;
mod mpi;
mod render;

pub use interrupt::Interrupt;
pub use job::{Ended, run_job};
pub use launcher::Launcher;
pub(crate) use mpi::has_other_machines;
pub use mpi::{Flavour, installed_launchers};
pub use render::{Job, JobProcess, RunSpec, render};
