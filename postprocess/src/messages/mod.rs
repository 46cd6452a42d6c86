//! The logs of MPI calls in a run's measurement files, as what matches messages reads them.

mod ahead;
mod bursts;
mod calls;
mod communicators;
mod cursor;
mod metrics;
mod of_calls;
mod placed_log;
mod process_log;
mod run_log;
mod waiting;

pub use bursts::Bursts;
pub use calls::Calls;
pub use metrics::CALLS;
pub(crate) use metrics::{metric_name, waits_metric};
pub use placed_log::PlacedLog;
pub use run_log::{Logged, RunLog};
pub(crate) use waiting::{PlacedCalls, Waiting};
