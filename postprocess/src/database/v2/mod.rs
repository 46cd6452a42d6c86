//! Version 2 of the tables: values may be negative and have divisors.

mod read;
mod schema;
pub(super) mod sections;
pub(super) mod write;

pub(super) use read::{checked, contexts, locations, metrics, modules, summaries, sums, unit, values};
pub(crate) use schema::ITEM_END;
pub(super) use schema::{CONTEXTS, LOCATIONS, METRICS, MODULES, SUMMARY, SUMS, VALUES, columns};
