//! Messages between the ranks of a run: matched without clocks, what ranks wait for, and what other noise and networks would change.
//!
//! Pure functions over the [`Log`]s that ranks wrote; nothing here knows of files or profiles. A [`Visitor`] is led through all
//! calls in an order in which whatever a call waited for has been seen before.
#![forbid(unsafe_code)]

mod call;
mod communicator;
mod log;
mod visitor;

pub use call::{
    Call, Collective, Completion, Mode, Op, Operation, Receive, Send, Synchronisation, Transfer, TransferKind,
};
pub use communicator::{CommId, Communicator};
pub use log::{Broken, Location, Log};
pub use visitor::{Matched, Visitor};
