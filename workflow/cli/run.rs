//! `falloff run`: one run of a program under the sampler.

use std::path::Path;
use std::time::Duration;

use falloff_postprocess::{OpenOptions, open_lazily, views};
use falloff_profiler::{Preload, RunOptions, is_one_of_many, is_spokesman, settle};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::values::next_free;

/// The sampler, built by this package's build script.
pub static PRELOAD: Preload = Preload::new(
    include_bytes!(concat!(env!("OUT_DIR"), "/libfalloff_preload.so")),
    env!("FALLOFF_PRELOAD_HASH"),
);

/// Runs the program and leaves as it did.
pub fn run(args: &RunArgs, output: &Output) -> Result<i32, Failure> {
    let prepared = args.measure.request(None)?.prepare()?;
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
    if let Some(line) = prepared.missing_line().filter(|_| is_spokesman()) {
        output.warn(&format!("falloff: {line}"));
    }
    let options = RunOptions {
        dir,
        prepared,
        run_id: args.run_id.clone(),
        program: args.program.clone(),
        args: args.args.clone(),
    };
    let ending = falloff_profiler::run(&PRELOAD, &options)?;
    if let Some(message) = &ending.message {
        output.note(message);
    }
    if args.health && is_spokesman() {
        health(&options.dir, output);
    }
    ending.leave()
}

/// How long the report waits for ranks that end a little later.
const OTHER_RANKS: Duration = Duration::from_secs(1);

/// Says how complete the measurement is, as far as its processes have ended.
fn health(dir: &Path, output: &Output) {
    settle(dir, OTHER_RANKS);
    match open_lazily(dir, &OpenOptions::default()) {
        Ok(database) => {
            for line in views::health_lines(&database.health(), database.locations().len()) {
                output.note(&format!("falloff: {line}"));
            }
            for warning in database.warnings() {
                output.warn(&format!("falloff: {warning}"));
            }
        }
        Err(error) => output.warn(&format!("falloff: {error}")),
    }
}
