//! Profiles for pprof: gzipped protocol buffers of `perftools.profiles.Profile`.

mod message;
mod places;
mod strings;
mod write;

pub use write::pprof;
