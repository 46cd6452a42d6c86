//! Which pattern each part of the excess looks like.

mod case;
mod drafts;
mod meetings;
mod messages;
mod operations;
mod threads;
mod unused;
mod work;

pub(super) use case::Case;
pub(super) use drafts::diagnoses;
