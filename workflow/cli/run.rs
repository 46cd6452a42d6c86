//! `falloff run`: one run of a program under the sampler.

use falloff_profiler::{Preload, RunOptions, is_one_of_many};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::values::next_free;

/// The sampler, built by this package's build script.
static PRELOAD: Preload = Preload::new(include_bytes!(concat!(env!("OUT_DIR"), "/libfalloff_preload.so")));

/// Runs the program and leaves as it did.
pub fn run(args: &RunArgs, output: &Output) -> Result<i32, Failure> {
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        // Each rank would take the next free name for itself.
        None if is_one_of_many() => {
            return Err(Failure::usage(
                "failed to choose a directory: under a launcher all ranks need the same",
                "give `-o DIR`",
            ));
        }
        None => next_free("falloff", &args.program),
    };
    let options = RunOptions {
        dir,
        rate: args.event.rate_hz,
        run_id: args.run_id.clone(),
        program: args.program.clone(),
        args: args.args.clone(),
    };
    let ending = falloff_profiler::run(&PRELOAD, &options)?;
    if let Some(message) = &ending.message {
        output.note(message);
    }
    ending.leave()
}
