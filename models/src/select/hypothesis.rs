//! A law that data may follow: a constant and terms with unknown coefficients.

use std::fmt;

use super::term::Term;
use crate::points::Scale;

/// c₀ + Σ cₖ·termₖ, or the sum alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// Whether there is a constant c₀.
    pub constant: bool,
    /// The terms, none of them constant.
    pub terms: Vec<Term>,
}

impl Hypothesis {
    /// c₀ alone.
    pub const CONSTANT: Hypothesis = Hypothesis { constant: true, terms: Vec::new() };

    /// What each coefficient is multiplied by at a scale, the constant's 1 first.
    pub fn row(&self, scale: Scale) -> Vec<f64> {
        let one = self.constant.then_some(1.0);
        one.into_iter().chain(self.terms.iter().map(|term| term.value(scale))).collect()
    }

    /// Number of coefficients.
    pub fn size(&self) -> usize {
        self.terms.len() + usize::from(self.constant)
    }

    /// The law with its coefficients, in order of [`Hypothesis::row`].
    pub(crate) fn write(&self, coefficients: &[f64]) -> String {
        let one = self.constant.then(String::new);
        let names = one.into_iter().chain(self.terms.iter().map(Term::to_string));
        let parts = names.zip(coefficients).map(|(name, coefficient)| {
            let number = significant(*coefficient);
            if name.is_empty() { number } else { format!("{number}·{name}") }
        });
        parts.collect::<Vec<_>>().join(" + ")
    }
}

impl fmt::Display for Hypothesis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = self.constant.then(|| "1".to_owned());
        let parts: Vec<String> = one.into_iter().chain(self.terms.iter().map(Term::to_string)).collect();
        f.write_str(&parts.join(" + "))
    }
}

/// Four significant digits, without trailing zeros.
fn significant(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        let digits = if size == 0.0 { 0 } else { (3 - size.log10().floor() as i32).clamp(0, 8) };
        let text = format!("{value:.*}", digits as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::term::Factor;
    use super::*;

    #[test]
    fn laws_read_like_formulas() {
        let law =
            Hypothesis { constant: true, terms: vec![Term::SHARED, Term::processors(Factor::new(0, 1, 1))] };
        assert_eq!(law.write(&[2.0, 98.04, 0.1]), "2 + 98.04·p^-1 + 0.1·log2(p)");
        assert_eq!(law.to_string(), "1 + p^-1 + log2(p)");
        assert_eq!(law.row(Scale::processors(4.0)), [1.0, 0.25, 2.0]);
        assert_eq!(Hypothesis::CONSTANT.write(&[1234567.0]), "1.235e6");
    }

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 0.00012345, 0.5, 12.0, 99.999, 123456.7, 1e-7].map(significant);
        assert_eq!(shown, ["0", "0.0001234", "0.5", "12", "100", "123457", "1.000e-7"]);
    }
}
