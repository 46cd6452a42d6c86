//! What ends a command early: one message, one hint, one exit code.

use falloff_workflow::{Error, exit};

/// A message for the user.
#[derive(Debug)]
pub struct Failure {
    /// What failed, in lower case, without an end stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Exit code.
    pub code: i32,
}

impl Failure {
    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: Some(hint.into()), code: exit::USAGE }
    }

    /// Results that cannot be written down as text; to be given their error.
    pub fn not_written(what: &str) -> impl FnOnce(serde_json::Error) -> Failure {
        move |error| Failure {
            message: format!("failed to write {what}: {error}"),
            hint: None,
            code: exit::BUG,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint(), code: error.exit_code() }
    }
}

impl From<falloff_postprocess::Error> for Failure {
    fn from(error: falloff_postprocess::Error) -> Failure {
        Error::from(error).into()
    }
}

impl From<falloff_profiler::Error> for Failure {
    fn from(error: falloff_profiler::Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint(), code: error.exit_code() }
    }
}
