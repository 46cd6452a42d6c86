//! From a directory of measurement files to decoded processes.

mod about;
mod decode;
mod find;
mod order;
mod process;
mod sealed;
mod sections;
mod source;
mod warnings;

pub(crate) use decode::decode;
pub(crate) use find::find;
pub(crate) use process::{Code, Cost, Maker, ModuleKey, Node, Origin, Process};
pub(crate) use sealed::NoRoom;
pub(crate) use source::{Kept, Source, check_one_run, open_all, without_copies};
pub(crate) use warnings::Warnings;
