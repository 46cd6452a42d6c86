//! Names in formats that are text.

/// A name without line breaks, tabs and other control characters: each is a blank.
pub(super) fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_blanks() {
        assert_eq!(one_line("größe\n<T>\u{1}"), "größe <T> ");
    }
}
