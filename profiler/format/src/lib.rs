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
//! [`chunk::Kind::Nodes`] chunk holds calling context tree nodes ([`node`]) and is written by one thread only.
//! `used` of a chunk is raised after its bytes are complete, so a reader sees whole entries however the writer
//! ended. `docs/format.md` is the specification.
//!
//! The crate is `no_std`, allocates nothing and holds no `unsafe`: the sampler uses the layouts, the
//! post-processor the [`read`] side.
#![no_std]
#![forbid(unsafe_code)]

pub mod chunk;
pub mod header;
pub mod limits;
pub mod node;
pub mod read;
pub mod records;

pub use header::Header;
pub use node::{Frame, NodeId, Pseudo};
pub use read::{Error, Measurement};
