//! Colours, where the reader wants them.

/// Adds terminal colours, or does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    /// Whether to.
    pub colour: bool,
}

impl Paint {
    /// Headings and what counts most.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What is too small or too unsure to judge.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// A loss.
    pub fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// A gain, or a check that passed.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Something that the reader should know before trusting the numbers.
    pub fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
