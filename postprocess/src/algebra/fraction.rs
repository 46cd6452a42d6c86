//! Exact factors.

use std::fmt;
use std::str::FromStr;

use crate::database::gcd;

/// A rational number in lowest terms. Means and scaled databases are exact because their factors are.
///
/// ```
/// use falloff_postprocess::algebra::Fraction;
/// let factor: Fraction = "-2.50".parse().unwrap();
/// assert_eq!(factor, "-5/2".parse().unwrap());
/// assert_eq!(factor.to_string(), "-5/2");
/// assert_eq!(factor.reciprocal().unwrap().to_string(), "-2/5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: i64,
    denominator: u64,
}

impl Fraction {
    /// 1.
    pub const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };
    /// 0.
    pub const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };
    /// -1.
    pub const MINUS_ONE: Fraction = Fraction { numerator: -1, denominator: 1 };

    /// `numerator / denominator`; `None` if that is no number.
    pub fn new(numerator: i64, denominator: u64) -> Option<Fraction> {
        if denominator == 0 {
            return None;
        }
        let common = gcd(numerator.unsigned_abs(), denominator);
        // Only 2^63 does not fit, which divides i64::MIN and no other number of that size.
        let numerator = i64::try_from(common).map_or(-1, |common| numerator / common);
        Some(Fraction { numerator, denominator: denominator / common })
    }

    /// It divided by a whole number; `None` if that is 0 or the result does not fit.
    pub(super) fn over(self, divisor: u64) -> Option<Fraction> {
        let lowest = Fraction::new(self.numerator, divisor)?;
        Some(Fraction { denominator: self.denominator.checked_mul(lowest.denominator)?, ..lowest })
    }

    /// `1 / n`, the weight of one of `n`; 1 if there are none.
    pub fn one_of(n: usize) -> Fraction {
        Fraction { numerator: 1, denominator: (n as u64).max(1) }
    }

    /// 1 divided by it; `None` of 0 and of what does not fit.
    pub fn reciprocal(self) -> Option<Fraction> {
        let denominator = i64::try_from(self.denominator).ok()?;
        Fraction::new(denominator * self.numerator.signum(), self.numerator.unsigned_abs())
    }

    /// What is above the line.
    pub fn numerator(self) -> i64 {
        self.numerator
    }

    /// What is below the line, at least 1.
    pub fn denominator(self) -> u64 {
        self.denominator
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

impl FromStr for Fraction {
    type Err = String;

    /// Parses `2`, `-0.25` or `1/3`.
    fn from_str(text: &str) -> Result<Fraction, String> {
        parse(text.trim()).ok_or_else(|| format!("`{text}` is no factor; use for example 2, 0.25 or 1/3"))
    }
}

fn parse(text: &str) -> Option<Fraction> {
    if let Some((above, below)) = text.split_once('/') {
        return Fraction::new(above.trim().parse().ok()?, below.trim().parse().ok()?);
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    // A sign may stand before the number only.
    if !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let numerator = format!("{whole}{decimals}").parse().ok()?;
    Fraction::new(numerator, 10u64.checked_pow(decimals.len().try_into().ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_read() {
        for (text, shown) in
            [("2", "2"), ("0", "0"), (" 6/4 ", "3/2"), ("-.5", "-1/2"), ("3.", "3"), ("+1.5", "3/2")]
        {
            assert_eq!(text.parse::<Fraction>().unwrap().to_string(), shown, "{text}");
        }
        for text in ["", "-", ".", "1/0", "1/-2", "x", "1.-5", "1.5/2", "1e3", "99999999999999999999", "nan"]
        {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let least = Fraction::new(i64::MIN, u64::MAX).unwrap();
        assert_eq!(least.reciprocal(), None);
        assert_eq!(Fraction::new(i64::MIN, 1 << 63), Some(Fraction::MINUS_ONE));
        assert_eq!(Fraction::ZERO.reciprocal(), None);
        assert_eq!(Fraction::new(i64::MIN, 1).unwrap().reciprocal(), Fraction::new(-1, 1 << 63));
    }
}
