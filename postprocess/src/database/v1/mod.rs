//! Version 1 of the tables.

mod read;
mod schema;
mod write;

pub(super) use read::{contexts, locations, metrics, modules, values};
pub(super) use schema::{CONTEXTS, LOCATIONS, METRICS, MODULES, VALUES, columns};
pub(super) use write::tables;
