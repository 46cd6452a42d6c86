//! Commands as one would type them.

/// A word in quotes where a shell needs them.
pub(super) fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => word.to_owned(),
    }
}

/// Variables and words as a command line.
pub(super) fn line(variables: &[(String, String)], words: &[String]) -> String {
    let variables = variables.iter().map(|(name, value)| format!("{name}={}", quote(value)));
    variables.chain(words.iter().map(|word| quote(word))).collect::<Vec<_>>().join(" ")
}
