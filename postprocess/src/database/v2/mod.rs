//! Version 2 of the tables: values may be negative and have divisors.

mod read;
mod schema;
mod write;

pub(super) use read::{checked, contexts, locations, metrics, modules, unit, values};
pub(super) use schema::{CONTEXTS, LOCATIONS, METRICS, MODULES, VALUES, columns};
pub(super) use write::tables;
