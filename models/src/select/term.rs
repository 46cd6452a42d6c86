//! One term of a performance model: powers and logarithms of processor count and problem size.

use std::fmt;

use crate::points::Scale;

/// x^(numerator/denominator) · log2(x)^logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Factor {
    /// Numerator of the exponent.
    pub numerator: i8,
    /// Denominator of the exponent, 1 or more.
    pub denominator: i8,
    /// Exponent of the logarithm, 0, 1 or 2.
    pub logs: i8,
}

impl Factor {
    /// x⁰ = 1.
    pub const ONE: Factor = Factor::new(0, 1, 0);

    /// x^(numerator/denominator) · log2(x)^logs.
    pub const fn new(numerator: i8, denominator: i8, logs: i8) -> Factor {
        Factor { numerator, denominator, logs }
    }

    /// The factor at `x`, 1 or more.
    pub fn value(self, x: f64) -> f64 {
        x.powf(self.exponent()) * x.log2().powi(i32::from(self.logs))
    }

    /// The exponent as a number.
    pub fn exponent(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Written with `x` as the variable: `p^(3/2)·log2(p)`. Empty for [`Factor::ONE`].
    fn write(self, variable: &str) -> String {
        let power = match (self.numerator, self.denominator) {
            (0, _) => String::new(),
            (1, 1) => variable.to_owned(),
            (i, 1) => format!("{variable}^{i}"),
            (i, d) => format!("{variable}^({i}/{d})"),
        };
        let log = match self.logs {
            0 => String::new(),
            1 => format!("log2({variable})"),
            j => format!("log2({variable})^{j}"),
        };
        join([power, log])
    }
}

/// A factor of the processor count times one of the problem size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Of the processor count.
    pub p: Factor,
    /// Of the problem size; [`Factor::ONE`] in models of one parameter.
    pub n: Factor,
}

impl Term {
    /// 1/p: work that is shared out.
    pub const SHARED: Term = Term::processors(Factor::new(-1, 1, 0));

    /// A term of the processor count alone.
    pub const fn processors(p: Factor) -> Term {
        Term { p, n: Factor::ONE }
    }

    /// The term at a scale.
    ///
    /// ```
    /// use falloff_models::{Factor, Scale, Term};
    /// let term = Term::processors(Factor::new(1, 2, 1));
    /// assert_eq!(term.value(Scale::processors(16.0)), 4.0 * 4.0);
    /// assert_eq!(term.to_string(), "p^(1/2)·log2(p)");
    /// ```
    pub fn value(&self, scale: Scale) -> f64 {
        self.p.value(scale.p) * self.n.value(scale.n)
    }

    /// The term times the processor count: how total work has it where time has the term.
    pub fn times_p(self) -> Term {
        let p = Factor { numerator: self.p.numerator + self.p.denominator, ..self.p };
        Term { p, ..self }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join([self.n.write("N"), self.p.write("p")]))
    }
}

fn join(parts: [String; 2]) -> String {
    let [first, second] = parts;
    if first.is_empty() || second.is_empty() { first + &second } else { first + "·" + &second }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_read_like_formulas() {
        let text = |p, n| Term { p, n }.to_string();
        let (shared, cube) = (Factor::new(-1, 1, 0), Factor::new(3, 1, 0));
        assert_eq!(text(shared, cube), "N^3·p^-1");
        assert_eq!(text(Factor::new(0, 1, 2), Factor::ONE), "log2(p)^2");
        assert_eq!(text(Factor::ONE, Factor::new(2, 3, 0)), "N^(2/3)");
        assert_eq!(text(Factor::new(1, 1, 1), Factor::new(1, 1, 0)), "N·p·log2(p)");
        assert_eq!(text(Factor::ONE, Factor::ONE), "");
    }

    #[test]
    fn values() {
        let term = Term { p: Factor::new(-1, 1, 0), n: Factor::new(3, 2, 1) };
        assert_eq!(term.value(Scale { p: 8.0, n: 16.0 }), 64.0 * 4.0 / 8.0);
        assert_eq!(term.times_p().value(Scale { p: 8.0, n: 16.0 }), 64.0 * 4.0);
        assert_eq!(Term::processors(Factor::new(0, 1, 1)).value(Scale::processors(1.0)), 0.0);
    }
}
