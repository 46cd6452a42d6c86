//! Makes the measurement files of a run that never was: any number of processes with any number of call paths, whose every
//! value can be told without a file.

mod file;
mod shape;
mod sweep;

pub use shape::Shape;
pub use sweep::Sweep;
