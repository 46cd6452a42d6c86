//! Measurement files and databases made up for tests.

mod database;
mod file;

pub(crate) use database::{
    database, database_with_helper, database_with_loops, function, loop_at, statement, time_database,
    waits_database,
};
pub(crate) use file::{Synthetic, SyntheticModule, SyntheticNode, SyntheticThread};
