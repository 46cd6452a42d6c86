//! What ranks wait for, who makes them wait, and what the length of the run hung on.

mod analysis;
mod clocks;
mod critical_path;
mod delay;
mod efficiencies;
mod epoch;
mod metric;
mod moment;
mod of_calls;
mod one_sided;
mod operations;
mod options;
#[cfg(test)]
mod oracles;
mod paths;
#[cfg(test)]
mod program;
mod rules;
mod severities;
mod split;
mod thread;
mod visitor;

pub use analysis::Analysis;
pub use clocks::{Checks, Clocks};
pub use delay::{Blame, Cause};
pub use efficiencies::Efficiencies;
pub use metric::Metric;
pub use moment::Moment;
pub use of_calls::{CallTime, WindowCall};
pub use options::{EAGER_LIMIT, Options};
pub use paths::{Paths, SamePaths};
pub use rules::{Found, completion, late_receiver, wait_until};
pub use severities::Severities;
pub use split::split;
pub use visitor::Waits;
