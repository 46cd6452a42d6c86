//! Counted warnings: the same sentence about many files is one line.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Sentences, each with the files that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Warning>", into = "Vec<Warning>")]
pub(crate) struct Warnings(BTreeMap<String, BTreeSet<String>>);

/// A sentence as it is stored.
#[derive(Serialize, Deserialize)]
struct Warning {
    text: String,
    about: BTreeSet<String>,
}

impl From<Vec<Warning>> for Warnings {
    fn from(stored: Vec<Warning>) -> Warnings {
        Warnings(stored.into_iter().map(|warning| (warning.text, warning.about)).collect())
    }
}

impl From<Warnings> for Vec<Warning> {
    fn from(warnings: Warnings) -> Vec<Warning> {
        warnings.0.into_iter().map(|(text, about)| Warning { text, about }).collect()
    }
}

impl Warnings {
    /// Sentences that say themselves what they are about.
    pub fn of_lines(lines: Vec<String>) -> Warnings {
        Warnings(lines.into_iter().map(|line| (line, BTreeSet::new())).collect())
    }

    /// Notes a sentence about a file.
    pub fn add(&mut self, subject: &str, sentence: impl Into<String>) {
        self.0.entry(sentence.into()).or_default().insert(subject.to_owned());
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over all of another collection.
    pub fn extend(&mut self, other: Warnings) {
        for (sentence, subjects) in other.0 {
            self.0.entry(sentence).or_default().extend(subjects);
        }
    }

    /// One line for each sentence, in an order that does not depend on when they came.
    pub fn lines(&self) -> Vec<String> {
        let line = |(sentence, subjects): (&String, &BTreeSet<String>)| {
            let first = subjects.first().map_or("", String::as_str);
            match subjects.len() {
                0 => sentence.clone(),
                1 => format!("{first}: {sentence}"),
                n => format!("{n} files ({first} and others): {sentence}"),
            }
        };
        self.0.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sentences_are_counted() {
        let mut warnings = Warnings::default();
        warnings.add("b", "no timer");
        warnings.add("a", "no timer");
        warnings.add("a", "no timer");
        warnings.add("c", "empty");
        assert_eq!(warnings.lines(), ["c: empty", "2 files (a and others): no timer"]);
    }
}
