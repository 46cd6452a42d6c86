//! The timeline of a page: the calls of MPI in a window, and the messages between ranks.

use falloff_messages::timeline::{Error, timeline};
use falloff_messages::waits::Options;
use falloff_workflow::exit;
use falloff_workflow::page::{MOST_CALLS, TimelineOf};

use crate::calls;
use crate::failure::Failure;
use crate::output::Output;
use crate::view_args::ViewArgs;
use crate::window;

/// The timeline that was asked for, if one was.
pub fn of(args: &ViewArgs, output: &Output) -> Result<Option<TimelineOf>, Failure> {
    const ACTION: &str = "show a timeline of";
    let Some(asked) = &args.window else { return Ok(None) };
    let failed = |error: &dyn std::fmt::Display, hint: Option<String>| Failure {
        message: format!("failed to {ACTION} `{}`: {error}", args.dir.display()),
        hint,
        code: exit::INCOMPLETE,
    };
    let calls = calls::open(&args.dir, &args.debug.options(), ACTION)?;
    calls.warnings().iter().for_each(|warning| output.warn(&format!("falloff: {warning}")));
    let mut log = calls.run_log();
    let begin = window::begin(&mut log).map_err(|error| failed(&error, None))?;
    let mut window = asked.counted_from(begin);
    window.ranks = window::ranks(&args.dir, &args.part.location, &log, ACTION)?;
    let timeline =
        timeline(&mut calls.log(), &window, Options::default(), MOST_CALLS).map_err(|error| match error {
            Error::TooMany { calls, most } => Failure::usage(
                format!("failed to {ACTION} `{}`: {error}", args.dir.display()),
                format!(
                    "take a window 1/{} as long, or fewer ranks by `--location rank=0-3`",
                    calls.div_ceil(most)
                ),
            ),
            error => failed(&error, None),
        })?;
    let of = TimelineOf { timeline, window, begin, tree: calls.database.tree().clone() };
    if of.is_empty() {
        return Err(Failure::usage(
            format!("failed to {ACTION} `{}`: no call of MPI is under way in `--window`", args.dir.display()),
            "seconds count from the first call of the run; `--window ..` takes all",
        ));
    }
    Ok(Some(of))
}
