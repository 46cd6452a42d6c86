//! `falloff waits`: what the ranks of a run waited for, and because of whom.

use falloff_messages::waits::{Clocks, EAGER_LIMIT, Options};
use falloff_workflow::exit;
use falloff_workflow::waits::{TextOptions, Waiting, csv, json, text};

use crate::args::{ScoreFormat, WaitsArgs};
use crate::calls;
use crate::failure::Failure;
use crate::output::Output;

/// Prints the report.
pub fn waits(args: &WaitsArgs, output: &Output) -> Result<i32, Failure> {
    let name = args.dir.display().to_string();
    let calls = calls::open(&args.dir, &args.debug.options(), "look for waits in")?;
    let options = Options { eager_limit: args.eager.unwrap_or(EAGER_LIMIT), clocks: Clocks::default() };
    let names = |context: u32| calls.names(context);
    let waiting = Waiting::of(&mut calls.log(), options, calls.bursts(), names).map_err(|error| Failure {
        message: format!("failed to look for waits in `{name}`: {error}"),
        hint: None,
        code: exit::INCOMPLETE,
    })?;
    match args.format {
        ScoreFormat::Json => {
            let json = json(&waiting).map_err(Failure::not_written("the waits as JSON"))?;
            output.data(&format!("{json}\n"))?;
        }
        ScoreFormat::Csv => output.data(&csv(&waiting))?,
        ScoreFormat::Text => {
            let options = TextOptions {
                paint: output.paint,
                width: output.width,
                threshold: args.threshold / 100.0,
                limit: args.limit,
            };
            output.data(&text(&waiting, &name, calls.warnings(), &options))?;
        }
    }
    Ok(exit::OK)
}
