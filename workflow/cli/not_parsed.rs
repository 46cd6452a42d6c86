//! What is said when a command line was not read, or help was asked for.

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use falloff_workflow::exit;

use crate::args::{COUNT_IN_HELP, Cli};
use crate::failure::Failure;
use crate::output::Output;

/// Help is printed; anything else is one message in our own form.
pub fn not_parsed(error: &clap::Error, output: &Output) -> Result<i32, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.data(&error.render().to_string().replace(COUNT_IN_HELP, "{n}"))?;
            return Ok(exit::OK);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            return Err(Failure::usage(
                "failed to read the command line: no command is given",
                "start with `falloff demo`, or see `falloff --help`",
            ));
        }
        _ => {}
    }
    let rendered = error.render().to_string();
    let message = rendered.split("\n\n").next().unwrap_or_default();
    let message = message.trim().trim_start_matches("error: ");
    let joined = message.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(Failure::usage(format!("failed to read the command line: {joined}"), hint(error)))
}

fn hint(error: &clap::Error) -> String {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(list)) => list.clone(),
        _ => Vec::new(),
    };
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand]
        .into_iter()
        .flat_map(texts)
        .next();
    let verb = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let command = Cli::command();
    let known = |verb: &String| command.find_subcommand(verb).is_some_and(|c| !c.is_hide_set());
    let help = match verb.filter(known) {
        Some(verb) => format!("see `falloff {verb} --help`"),
        None => "see `falloff --help`".into(),
    };
    match similar {
        Some(word) => format!("did you mean `{word}`? {help}"),
        None => help,
    }
}
