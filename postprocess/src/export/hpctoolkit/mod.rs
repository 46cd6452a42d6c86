//! HPCToolkit databases, version 4: a directory that hpcviewer, Hatchet and Thicket open.
//!
//! The parts of a database (locations of a run, runs of a sweep) are written one after the other, then read back context
//! by context:
//!
//! | file | module | holds |
//! |---|---|---|
//! | `meta.db` | `meta` | metrics, modules, files, functions and the tree (`nodes`) |
//! | `profile.db` | `profile_db` | for each part, the values of its contexts; a summary of all parts first |
//! | `cct.db` | `cct_db` | for each context, the values of the parts |
//! | `metrics/default.yaml` | `taxonomy` | what of it viewers show, and by which formulas |
//! | `src/` | `sources` | copies of the source files that can be read |
//!
//! Layout and meaning are those of the format's own description (HPCToolkit, `doc/FORMATS.md`, version 4.0), where hpcprof
//! does not deviate from it. What readers stumble over is said where it is avoided.

mod by_context;
mod cct_db;
mod cells;
mod contents;
mod context;
mod file;
mod ids;
mod meta;
mod metrics;
mod nodes;
mod of_profile;
mod profile_db;
mod section;
mod sources;
mod statistics;
mod strings;
mod tables;
mod taxonomy;
#[cfg(test)]
mod tests;
mod write;

pub use contents::{Column, Contents, Part};
pub use ids::{Id, Kind};
pub use nodes::Roots;
pub use of_profile::{hpctoolkit, hpctoolkit_hatchet, time_name};
