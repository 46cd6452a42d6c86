//! Sampling a program that no preload reaches, from outside: perf's task clock, inherited by all its threads and children,
//! copies registers and stack of each sample into rings that a thread of falloff empties.
//!
//! ```text
//! Session ── thread ──► Events (a Ring for each processor) ──► Record ──► Observer
//!    │ Hold: the program                                                   └─ Image (one executed image of a process)
//!    │ waits before exec                                                        ├─ Space ──► Mapping ──► Object
//!    └─ finish ──► file: a measurement for each image                           └─ Thread ──► Tree
//! ```
//!
//! The program is held before its exec until the events are open ([`Hold`]). What the kernel records becomes images of
//! processes, threads and call paths ([`Observer`](observer)); stacks are walked with the rules of the preload's own unwinder. At
//! the end the events' counts and the processes' clocks say how much CPU time no sample covers, and each image gets a
//! measurement file like those that the preload writes.

mod events;
mod file;
mod hold;
mod identity;
mod image;
mod object;
mod observer;
mod record;
mod registers;
mod ring;
mod session;
mod space;
#[cfg(test)]
mod static_tests;
mod thread;
mod tree;
mod truth;

pub(crate) use hold::Hold;
pub(crate) use session::{Plan, Session};
