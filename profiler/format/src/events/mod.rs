//! What the program did by MPI: each call with its call path and times, what it began and what it completed.
//!
//! A [`crate::chunk::Kind::Events`] chunk is a row of [`Item`]s of one thread: [`Item::Enter`], the operations that the call
//! begins, [`Item::Complete`] for those that it completes, [`Item::Leave`]. Calls are the outermost ones, so they are not nested.
//! `used` of the chunk is raised as soon as a call has been entered, and again when it has been left: what a killed process was
//! waiting for is there. Items are packed ([`Coder`]); each chunk can be read without those before it, except that the call
//! which a chunk ends in goes on in the next of the thread.
//!
//! Functions, groups of ranks, communicators and topologies stand in records ([`FunctionRecord`], [`GroupRecord`],
//! [`CommunicatorRecord`], [`TopologyRecord`]), and items name them by their numbers.

mod coder;
mod item;
mod ranks;
mod records;
mod varint;

pub use coder::{Coder, Decoder, ITEM_MAX};
pub use item::{Item, Message, Mode, Operation, Synchronisation, TransferKind, UNKNOWN_RANK};
pub use ranks::{Ranks, encode_ranks, numbers};
pub use records::{
    CommunicatorRecord, FunctionRecord, GroupRecord, SCOPE_COMMUNICATOR, SCOPE_WINDOW, TopologyRecord,
};
pub use varint::{put, take};
