//! What a report says about the completeness of its data.

use std::path::Path;

use serde::Deserialize;

use super::{falloff, outcome};

/// The part `health` of a view in JSON.
#[derive(Deserialize, Debug)]
pub struct Health {
    pub samples: u64,
    pub wait_samples: u64,
    pub dropped: u64,
    pub partial: u64,
    pub truncated: u64,
    pub cpu_used_ns: u64,
    pub cpu_booked_ns: u64,
    pub processes: u64,
    pub ranks_present: u64,
    pub ranks_expected: u64,
}

/// The health of a run.
#[track_caller]
pub fn health(dir: &Path) -> Health {
    let mut command = falloff(["view".as_ref(), dir.as_os_str()]);
    let end = outcome(command.args(["--metric", "cpu", "--format", "json"])).expect_code(0);
    let view = end.json();
    serde_json::from_value(view["health"].clone()).unwrap_or_else(|e| panic!("health: {e}\n{view}"))
}
