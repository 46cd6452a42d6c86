//! What is known of a sweep beside its measurements.

use falloff_workflow::journal::Entry;
use falloff_workflow::plan::{Plan, RunKey};
use falloff_workflow::results::SweepState;
use falloff_workflow::scoring::Scaling;

/// A sweep of which the last run failed.
pub fn sweep_state(scales: &[u32], repetitions: u32) -> SweepState {
    let program = ["./app".to_owned(), "-in".into(), "large.in".into()];
    let mut plan = Plan::new(program.to_vec(), "mpirun".into(), Scaling::Strong, scales.to_vec());
    plan.repetitions = repetitions + 1;
    let failed = RunKey { repetition: repetitions + 1, scale: scales[scales.len() - 1], threads: 1 };
    let all = plan.runs();
    SweepState {
        dir: "sweep".into(),
        good: all.iter().copied().filter(|key| key.repetition <= repetitions).collect(),
        failed: vec![Entry::new(failed).failed("exit status 3".into())],
        missing: all.into_iter().filter(|key| key.repetition > repetitions && *key != failed).collect(),
        line: None,
        oversubscribed: vec![],
        disturbed: vec![],
        plan,
    }
}
