//! Whether a run gave the right answer, as far as the user can say.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use regex::bytes::{Regex, RegexBuilder};

use crate::plan::Manner;
use crate::{Error, Result};

/// The user's checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pattern: Option<Regex>,
    command: Option<String>,
}

impl Answer {
    /// The checks of a plan. Fails if the expression makes no sense.
    pub fn new(manner: &Manner) -> Result<Answer> {
        let pattern = manner.check.as_deref().map(|text| {
            RegexBuilder::new(text).multi_line(true).build().map_err(|e| Error::Usage {
                action: "check the program's output",
                reason: e.to_string(),
                hint: "give a regular expression that the output of a good run matches: --check '^done'"
                    .into(),
            })
        });
        Ok(Answer { pattern: pattern.transpose()?, command: manner.check_command.clone() })
    }

    /// Why the run in `dir`, whose output is in the file `log`, is not good; `None` if it is.
    pub fn objection(&self, dir: &Path, log: &Path, n: u32) -> Option<String> {
        if let Some(pattern) = &self.pattern {
            match fs::read(log) {
                Ok(output) if pattern.is_match(&output) => {}
                Ok(_) => return Some(format!("its output does not match `{pattern}`")),
                Err(error) => return Some(format!("its output cannot be read: {error}")),
            }
        }
        let command = self.command.as_deref()?;
        let ended = Command::new("sh")
            .args(["-c", command])
            .env("FALLOFF_RUN_DIR", dir)
            .env("FALLOFF_OUTPUT", log)
            .env("FALLOFF_N", n.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match ended {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("the check `{command}` failed: {status}")),
            Err(error) => Some(format!("the check `{command}` did not start: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("output.log");
        fs::write(&log, b"start\nenergy -7.31\n\xff").unwrap();
        let objection = |check: Option<&str>, command: Option<&str>| {
            let manner = Manner {
                check: check.map(Into::into),
                check_command: command.map(Into::into),
                ..Manner::default()
            };
            Answer::new(&manner).unwrap().objection(dir.path(), &log, 4)
        };
        assert_eq!(objection(None, None), None);
        assert_eq!(
            objection(
                Some(r"^energy -7\.3"),
                Some("grep -q energy \"$FALLOFF_OUTPUT\" && test $FALLOFF_N = 4")
            ),
            None
        );
        assert_eq!(objection(Some("^done"), None).unwrap(), "its output does not match `^done`");
        assert!(objection(None, Some("exit 3")).unwrap().contains("exit 3"));
        let wrong = Manner { check: Some("(".into()), ..Manner::default() };
        assert!(matches!(Answer::new(&wrong), Err(Error::Usage { .. })));
    }
}
