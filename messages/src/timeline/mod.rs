//! A run in a window of time, call by call: what each thread did when, and which messages and meetings join them.

mod picture;
#[cfg(test)]
mod tests;
mod visitor;

pub use picture::{Bar, End, Lane, Meeting, Member, Message, Reach, Timeline};
pub use visitor::{Error, timeline};
