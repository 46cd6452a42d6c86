//! Words of a formula.

use super::program::FormulaError;

/// A word and the character where it begins, from 0.
pub(super) type Placed<'a> = (usize, Token<'a>);

/// A word of a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// One of `+-*/^(),`.
    Sign(char),
}

/// What may stand behind a number, and what it is multiplied by.
const SUFFIXES: [(char, f64); 7] =
    [('n', 1e-9), ('u', 1e-6), ('m', 1e-3), ('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12)];

/// All words in order.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed<'_>>, FormulaError> {
    let mut found = Vec::new();
    let (mut rest, mut at) = (text, 0);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' => {
                found.push((at, Token::Sign(first)));
                1
            }
            '0'..='9' | '.' => {
                let length = number_length(rest);
                found.push((at, number(&rest[..length], at)?));
                length
            }
            _ if first.is_alphabetic() || first == '_' => {
                let length = name_length(rest);
                found.push((at, Token::Name(&rest[..length])));
                length
            }
            _ => return Err(FormulaError::new(at, format!("`{first}` means nothing here"))),
        };
        at += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(found)
}

/// Bytes of the name that the text begins with. A minus between two characters of a name is one of them, as in
/// `cache-misses`.
fn name_length(text: &str) -> usize {
    let within = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let joined = c == '-' && characters.peek().is_some_and(|(_, next)| within(*next));
        if !within(c) && !joined {
            return at;
        }
    }
    text.len()
}

/// Bytes of the number that the text begins with, and of what is joined to it.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|(_, c)| {
        let sign_of_exponent = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = *c;
        !(c.is_alphanumeric() || *c == '.' || sign_of_exponent)
    });
    end.map_or(text.len(), |(at, _)| at)
}

fn number(text: &str, at: usize) -> Result<Token<'_>, FormulaError> {
    let suffix = SUFFIXES.iter().find_map(|(suffix, factor)| Some((text.strip_suffix(*suffix)?, *factor)));
    let (digits, factor) = suffix.unwrap_or((text, 1.0));
    match digits.parse::<f64>() {
        Ok(value) if (value * factor).is_finite() => Ok(Token::Number(value * factor)),
        _ => Err(FormulaError::new(at, format!("`{text}` is no number; use for example 2, 0.5, 1e6 or 1M"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minus_within_a_name_belongs_to_it() {
        let words = |text| tokens(text).unwrap().into_iter().map(|(_, t)| t).collect::<Vec<_>>();
        let (a, minus, one) = (Token::Name("a"), Token::Sign('-'), Token::Number(1.0));
        assert_eq!(words("L1-dcache-loads"), [Token::Name("L1-dcache-loads")]);
        assert_eq!(words("a - 1"), [a, minus, one]);
        assert_eq!(words("a- 1"), [a, minus, one]);
        assert_eq!(words("1-a"), [one, minus, a]);
        assert_eq!(words("(a)-1"), [Token::Sign('('), a, Token::Sign(')'), minus, one]);
    }

    #[test]
    fn numbers_have_exponents_and_suffixes() {
        let value = |text| tokens(text).unwrap()[0].1;
        assert_eq!(value("1.5e-3"), Token::Number(1.5e-3));
        assert_eq!(value("2M"), Token::Number(2e6));
        assert_eq!(value(".5k"), Token::Number(500.0));
        for bad in ["1x", "1..2", "1e", "1e999", ".", "2MM", "1e308T"] {
            assert!(tokens(bad).is_err(), "{bad}");
        }
        assert_eq!(tokens("ä ? 1").unwrap_err().to_string(), "`?` means nothing here (character 3)");
    }
}
