//! The `falloff` command: shows where a parallel program's speed-up falls off.

mod algebra;
mod algebra_args;
mod args;
mod calls;
mod check;
mod demo;
mod doctor;
mod export;
mod export_excess;
mod export_messages;
mod export_sweep;
mod failure;
mod measure_args;
mod merge;
mod model;
mod model_sizes;
mod noise;
mod not_parsed;
mod output;
mod page;
mod placed;
mod replay;
mod run;
mod score;
mod source_file;
mod sweep;
mod sweep_file;
mod sweep_progress;
mod timeline;
mod values;
mod view;
mod view_args;
mod waits;
mod window;

use std::panic;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::Parser;
use falloff_postprocess::algebra as operations;
use falloff_workflow::exit;

use args::{Cli, RunOnly, RunVerb, Verb};
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    let output = Output::new();
    let bug = catch_bugs();
    let code = match panic::catch_unwind(|| dispatch(&output)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output.failure(&failure);
            failure.code
        }
        Err(_) => {
            let what = bug.lock().map(|text| text.clone()).unwrap_or_default();
            output.bug(&what);
            exit::BUG
        }
    };
    ExitCode::from(u8::try_from(code).unwrap_or(exit::BUG as u8))
}

fn dispatch(output: &Output) -> Result<i32, Failure> {
    let words = sweep_file::expanded(std::env::args_os().collect())?;
    if words.get(1).is_some_and(|word| word == "run")
        && let Ok(RunOnly { verb: RunVerb::Run(args) }) = RunOnly::try_parse_from(&words)
    {
        return run::run(&args, output);
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return not_parsed::not_parsed(&error, output),
    };
    match cli.verb {
        Verb::Run(args) => run::run(&args, output),
        Verb::Sweep(args) => sweep::sweep(&args, output),
        Verb::View(args) => view::view(&args, output),
        Verb::Score(args) => score::score(&args, output),
        Verb::Model(args) => model::model(&args, output),
        Verb::Check(args) => check::check(&args, output),
        Verb::Waits(args) => waits::waits(&args, output),
        Verb::Replay(args) => replay::replay(&args, output),
        Verb::Export(args) => export::export(&args, output),
        Verb::Merge(args) => merge::merge(&args, output),
        Verb::Diff(args) => algebra::diff(&args, output),
        Verb::Mean(args) => algebra::combine(&args, operations::mean, output),
        Verb::Sum(args) => algebra::combine(&args, operations::sum, output),
        Verb::Min(args) => algebra::combine(&args, operations::min, output),
        Verb::Max(args) => algebra::combine(&args, operations::max, output),
        Verb::Scale(args) => algebra::scale(&args, output),
        Verb::Filter(args) => algebra::filter(&args, output),
        Verb::Cut(args) => algebra::cut(&args, output),
        Verb::Collapse(args) => algebra::collapse(&args, output),
        Verb::Noise(args) => noise::noise(&args, output),
        Verb::Doctor(args) => doctor::doctor(&args, output),
        Verb::Demo(args) => demo::demo(&args, output),
        Verb::DemoWorker(args) => demo::worker(&args, output),
    }
}

/// Keeps what the last panic said in place of printing it; code that isolates a panic goes on undisturbed.
fn catch_bugs() -> Arc<Mutex<String>> {
    let last = Arc::new(Mutex::new(String::new()));
    let kept = last.clone();
    panic::set_hook(Box::new(move |info| {
        if let Ok(mut text) = kept.lock() {
            *text = info.to_string();
        }
    }));
    last
}
