//! Makes the measurement files of a run that never was: any number of processes with any number of call paths, whose every
//! value can be told without a file, or with any number of logged calls of MPI.

mod file;
mod shape;
mod stencil;
mod sweep;

pub use shape::Shape;
pub use stencil::Stencil;
pub use sweep::Sweep;
