//! Version 1 of the tables, which is only read: values were never negative and had no divisors. The other tables are as
//! in version 2.

mod read;
mod schema;

pub(super) use read::{manifest, metrics, values};
pub(super) use schema::columns;
