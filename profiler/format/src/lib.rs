//! The measurement file: one sparse shared mapping per process, readable at every moment.
//!
//! ```text
//! +--------+-----------+-----------+-----------+- - -
//! | header | records   | nodes     | nodes     |  unclaimed, sparse
//! +--------+-----------+-----------+-----------+- - -
//! 0        256         4096                    header.next
//! ```
//!
//! After the [`Header`] come chunks, each claimed whole by one atomic addition to `header.next`. A
//! [`chunk::Kind::Records`] chunk holds what is known about the process ([`records`]); a
//! [`chunk::Kind::Nodes`] chunk holds calling context tree nodes ([`node`]) and is written by one thread only, as is a
//! [`chunk::Kind::Instances`] chunk with the times of [`sections`] and a [`chunk::Kind::Events`] chunk with the [`events`].
//! `used` of a chunk is raised after its bytes are complete, so a reader sees whole entries however the writer
//! ended. `docs/format.md` is the specification.
//!
//! The crate is `no_std` and holds no `unsafe`: the sampler uses the layouts, the post-processor the [`read`] side. Nothing
//! allocates but [`write`](mod@write), a feature for who puts a file together outside of the process that is measured.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "write")]
extern crate alloc;

pub mod chunk;
pub mod events;
pub mod header;
pub mod helpers;
pub mod job;
pub mod limits;
pub mod node;
pub mod read;
pub mod records;
pub mod sections;
#[cfg(feature = "write")]
pub mod write;

pub use header::Header;
pub use node::{Frame, NodeId, Pseudo};
pub use read::{Error, Measurement};
