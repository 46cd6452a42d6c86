//! The calls of MPI that a run logged, for commands that need them.

use std::path::Path;

use falloff_postprocess::OpenOptions;
use falloff_postprocess::messages::Calls;
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;

use crate::failure::Failure;

/// Opens the logs of a run; `action` is what fails without them.
pub fn open(dir: &Path, options: &OpenOptions, action: &str) -> Result<Calls, Failure> {
    let name = dir.display();
    if Plan::exists(dir) {
        return Err(Failure::usage(
            format!("failed to {action} `{name}`: it holds a sweep of several runs"),
            format!("name one of its runs, for example {name}/runs/n0002-r1"),
        ));
    }
    Calls::open(dir, options)?.ok_or_else(|| Failure {
        message: format!("failed to {action} `{name}`: it holds no calls of MPI"),
        hint: Some("log them when the program runs: `falloff run --events mpi -- PROGRAM`".into()),
        code: exit::INCOMPLETE,
    })
}
