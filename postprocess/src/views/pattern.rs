//! Patterns of names.

use std::fmt;

use regex::Regex;

/// A regular expression that is searched in names, with the syntax of the `regex` crate; `(?i)` in front ignores case.
///
/// ```
/// use falloff_postprocess::views::Pattern;
/// let pattern: Pattern = "^MPI_(Wait|Recv)".parse().unwrap();
/// assert!(pattern.is_in("MPI_Waitall") && !pattern.is_in("PMPI_Waitall"));
/// let error = "MPI_(Wait".parse::<Pattern>().unwrap_err();
/// assert_eq!(error.to_string(), "`MPI_(Wait` is no regular expression: unclosed group; put `\\` before signs that mean themselves");
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no regular expression: {reason}")]
pub struct PatternError {
    pattern: String,
    reason: String,
}

impl Pattern {
    /// Whether a name matches.
    pub fn is_in(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        Regex::new(text).map(Pattern).map_err(|error| {
            let reason = match error {
                // The pattern with a mark below it, and what is wrong in the last line.
                regex::Error::Syntax(text) => {
                    let what = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
                    format!("{what}; put `\\` before signs that mean themselves")
                }
                error => error.to_string(),
            };
            PatternError { pattern: text.into(), reason }
        })
    }
}
