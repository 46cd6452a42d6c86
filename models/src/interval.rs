//! A value and how unsure it is, and the quantiles that such statements rest on.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// A value with an interval that holds the truth in 95 % of cases, all in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end; not above `value`.
    pub low: f64,
    /// Upper end; infinite where nothing bounds it.
    pub high: f64,
}

impl Interval {
    /// A value that is known.
    pub fn exact(value: f64) -> Interval {
        Interval { value, low: value, high: value }
    }

    /// `value ± half_width`.
    pub fn around(value: f64, half_width: f64) -> Interval {
        Interval { value, low: value - half_width, high: value + half_width }
    }

    /// That of `self / other` for positive values: the lowest quotient is that of the low over the high end, and so on.
    ///
    /// ```
    /// use falloff_models::Interval;
    /// let bound = Interval::around(100.0, 4.0).over(Interval::around(10.0, 2.0));
    /// assert_eq!((bound.low, bound.value, bound.high), (8.0, 10.0, 13.0));
    /// ```
    pub fn over(self, other: Interval) -> Interval {
        let quotient = |a: f64, b: f64| if b > 0.0 { a / b } else { f64::INFINITY };
        Interval {
            value: quotient(self.value, other.value),
            low: quotient(self.low.max(0.0), other.high),
            high: quotient(self.high, other.low),
        }
    }

    /// Whether `value` lies in it.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Width against the value's size: 0.2 for ± 10 %.
    pub fn relative_width(&self) -> f64 {
        if self.high == self.low { 0.0 } else { (self.high - self.low) / self.value.abs() }
    }

    /// The smallest interval that holds both, around this one's value.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { value: self.value, low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// From here on Student's t is the normal distribution.
const FREEDOM_MAX: f64 = 1e6;

/// Quantile of Student's t; infinite without any degree of freedom.
pub(crate) fn student(probability: f64, freedom: f64) -> f64 {
    if freedom <= 0.0 {
        return f64::INFINITY;
    }
    StudentsT::new(0.0, 1.0, freedom.min(FREEDOM_MAX)).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
}

/// Quantile of the F distribution; infinite without any degree of freedom.
pub(crate) fn fisher(probability: f64, above: f64, below: f64) -> f64 {
    if below <= 0.0 {
        return f64::INFINITY;
    }
    FisherSnedecor::new(above, below.min(FREEDOM_MAX)).map_or(f64::INFINITY, |f| f.inverse_cdf(probability))
}

/// A draw from the standard normal distribution.
pub(crate) fn normal(random: &mut fastrand::Rng) -> f64 {
    Normal::standard().inverse_cdf(random.f64().clamp(f64::EPSILON, 1.0 - f64::EPSILON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        for (freedom, wanted) in [(1.0, 12.706), (2.0, 4.303), (10.0, 2.228), (f64::INFINITY, 1.960)] {
            assert!((student(0.975, freedom) - wanted).abs() < 1e-3, "{freedom}");
        }
        for (below, wanted) in [(1.0, 161.45), (5.0, 6.608), (20.0, 4.351)] {
            assert!((fisher(0.95, 1.0, below) / wanted - 1.0).abs() < 1e-3, "{below}");
        }
        assert_eq!(student(0.975, 0.0), f64::INFINITY);
        assert_eq!(fisher(0.95, 1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn draws_have_mean_0_and_variance_1() {
        let mut random = fastrand::Rng::with_seed(1);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let square = draws.iter().map(|d| d * d).sum::<f64>() / 20_000.0;
        // Five standard errors: 1/√n and √(2/n).
        assert!(mean.abs() < 0.036 && (square - 1.0).abs() < 0.05, "{mean} {square}");
    }

    #[test]
    fn a_quotient_by_nothing_is_unbounded() {
        let bound = Interval::exact(1.0).over(Interval { value: 0.5, low: 0.0, high: 1.0 });
        assert_eq!(bound, Interval { value: 2.0, low: 1.0, high: f64::INFINITY });
    }
}
