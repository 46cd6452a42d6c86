//! All calls of a run as a trace of the Open Trace Format 2, written by its own library, which is loaded at run time.
//!
//! Vampir, otf2-print and the tools of Score-P read such traces. Calls are regions of the paradigm MPI; messages and collective
//! operations are events in them.

mod archive;
mod library;
mod trace;

pub use trace::otf2;
