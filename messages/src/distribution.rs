//! Random quantities that are not negative: noise, latencies, times a byte.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};
use std::{fmt, str::FromStr};

/// How a quantity is distributed; in the unit of what it stands for. Draws below zero are zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Uniform between the two.
    Uniform(f64, f64),
    /// Normal with mean and standard deviation.
    Normal(f64, f64),
    /// As measured.
    Empirical(Quantiles),
}

/// A distribution's quantiles at evenly spaced probabilities, the least first and the greatest last; between them it is linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles(Vec<f64>);

/// Text that tells of no distribution, or numbers that do not make one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DistributionError {
    /// The words are not known.
    #[error(
        "failed to read the distribution `{0}`: it is a number, `constant:C`, `exponential:MEAN`, `uniform:LOW:HIGH` or \
         `normal:MEAN:DEVIATION`"
    )]
    Words(String),
    /// A number that is negative, not finite, or less than one before it.
    #[error(
        "failed to use the distribution `{0}`: its numbers must be 0 or more, and the high one not below the low one"
    )]
    Range(String),
    /// No value at all.
    #[error("failed to make a distribution of measured values: there are none")]
    Empty,
}

impl Distribution {
    /// Nothing.
    pub const ZERO: Distribution = Distribution::Constant(0.0);

    /// The value below which a draw lies with this probability, which is between 0 and 1: a draw, if the probability is drawn
    /// uniformly.
    ///
    /// ```
    /// use falloff_messages::Distribution;
    /// assert_eq!(Distribution::Uniform(10.0, 30.0).quantile(0.25), 15.0);
    /// assert!((Distribution::Exponential(100.0).quantile(0.5) - 100.0 * 2f64.ln()).abs() < 1e-9);
    /// assert!((Distribution::Normal(100.0, 10.0).quantile(0.975) - 119.6).abs() < 0.01);
    /// ```
    pub fn quantile(&self, probability: f64) -> f64 {
        let value = match self {
            Distribution::Constant(value) => *value,
            Distribution::Exponential(mean) => -mean * (-probability).ln_1p(),
            Distribution::Uniform(low, high) => low + (high - low) * probability,
            Distribution::Normal(mean, deviation) => {
                mean + deviation * Normal::standard().inverse_cdf(probability)
            }
            Distribution::Empirical(quantiles) => quantiles.at(probability),
        };
        value.max(0.0)
    }

    /// The mean. Of a normal distribution whose draws below zero are zero, that is `m Φ(m/s) + s φ(m/s)`.
    ///
    /// ```
    /// use falloff_messages::Distribution;
    /// assert_eq!(Distribution::Uniform(10.0, 30.0).mean(), 20.0);
    /// assert!((Distribution::Normal(0.0, 1.0).mean() - 0.398942).abs() < 1e-6);
    /// ```
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Exponential(mean) => *mean,
            Distribution::Uniform(low, high) => (low + high) / 2.0,
            Distribution::Normal(mean, deviation) if *deviation > 0.0 => {
                let normal = Normal::standard();
                mean * normal.cdf(mean / deviation) + deviation * normal.pdf(mean / deviation)
            }
            Distribution::Normal(mean, _) => *mean,
            Distribution::Empirical(quantiles) => quantiles.mean(),
        }
    }

    /// The distribution of `factor` times the quantity; `factor` is not negative.
    pub fn scaled(&self, factor: f64) -> Distribution {
        match self {
            Distribution::Constant(value) => Distribution::Constant(value * factor),
            Distribution::Exponential(mean) => Distribution::Exponential(mean * factor),
            Distribution::Uniform(low, high) => Distribution::Uniform(low * factor, high * factor),
            Distribution::Normal(mean, deviation) => Distribution::Normal(mean * factor, deviation * factor),
            Distribution::Empirical(Quantiles(values)) => {
                Distribution::Empirical(Quantiles(values.iter().map(|value| value * factor).collect()))
            }
        }
    }

    /// Whether every draw is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Distribution::Constant(value)
            | Distribution::Exponential(value)
            | Distribution::Uniform(_, value) => *value == 0.0,
            Distribution::Normal(mean, deviation) => *mean == 0.0 && *deviation == 0.0,
            Distribution::Empirical(Quantiles(values)) => values.last() == Some(&0.0),
        }
    }

    fn checked(self) -> Result<Distribution, DistributionError> {
        let is_good = match &self {
            Distribution::Constant(value) | Distribution::Exponential(value) => is_cost(*value),
            Distribution::Uniform(low, high) => is_cost(*low) && is_cost(*high) && low <= high,
            Distribution::Normal(mean, deviation) => is_cost(*mean) && is_cost(*deviation),
            Distribution::Empirical(Quantiles(values)) => values.iter().copied().all(is_cost),
        };
        if is_good { Ok(self) } else { Err(DistributionError::Range(self.to_string())) }
    }
}

impl Quantiles {
    /// From the quantiles themselves.
    ///
    /// # Errors
    /// There are none, or they are negative, not finite or do not ascend.
    pub fn new(values: Vec<f64>) -> Result<Quantiles, DistributionError> {
        if values.is_empty() {
            return Err(DistributionError::Empty);
        }
        if !values.iter().copied().all(is_cost) || !values.is_sorted() {
            return Err(DistributionError::Range("table".to_string()));
        }
        Ok(Quantiles(values))
    }

    /// From measured values in any order, condensed to at most `points` quantiles, of which there must be two at least.
    ///
    /// ```
    /// use falloff_messages::Quantiles;
    /// let table = Quantiles::of(&[5.0, 1.0, 2.0, 4.0, 3.0], 3)?;
    /// assert_eq!(table.values(), [1.0, 3.0, 5.0]);
    /// # Ok::<(), falloff_messages::DistributionError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Quantiles::new`].
    pub fn of(measured: &[f64], points: usize) -> Result<Quantiles, DistributionError> {
        let mut values = measured.to_vec();
        values.sort_by(f64::total_cmp);
        let all = Quantiles::new(values)?;
        let points = points.max(2);
        if all.0.len() <= points {
            return Ok(all);
        }
        Quantiles::new((0..points).map(|point| all.at(point as f64 / (points - 1) as f64)).collect())
    }

    /// The quantiles.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    fn at(&self, probability: f64) -> f64 {
        let place = probability.clamp(0.0, 1.0) * (self.0.len() - 1) as f64;
        let low = place as usize;
        let high = (low + 1).min(self.0.len() - 1);
        self.0[low] + (self.0[high] - self.0[low]) * (place - low as f64)
    }

    fn mean(&self) -> f64 {
        match &self.0[..] {
            [one] => *one,
            values => {
                let steps = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
                steps.sum::<f64>() / (values.len() - 1) as f64
            }
        }
    }
}

fn is_cost(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

impl FromStr for Distribution {
    type Err = DistributionError;

    /// ```
    /// use falloff_messages::Distribution;
    /// assert_eq!("normal:100:10".parse(), Ok(Distribution::Normal(100.0, 10.0)));
    /// assert_eq!("70".parse(), Ok(Distribution::Constant(70.0)));
    /// assert!("uniform:3:1".parse::<Distribution>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Distribution, DistributionError> {
        let unknown = || DistributionError::Words(text.to_string());
        let mut words = text.split(':');
        let first = words.next().unwrap_or_default();
        if let Ok(value) = text.parse() {
            return Distribution::Constant(value).checked();
        }
        let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
        let distribution = match (first, &numbers.map_err(|_| unknown())?[..]) {
            ("constant", &[value]) => Distribution::Constant(value),
            ("exponential", &[mean]) => Distribution::Exponential(mean),
            ("uniform", &[low, high]) => Distribution::Uniform(low, high),
            ("normal", &[mean, deviation]) => Distribution::Normal(mean, deviation),
            _ => return Err(unknown()),
        };
        distribution.checked()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Constant(value) => write!(f, "constant:{value}"),
            Distribution::Exponential(mean) => write!(f, "exponential:{mean}"),
            Distribution::Uniform(low, high) => write!(f, "uniform:{low}:{high}"),
            Distribution::Normal(mean, deviation) => write!(f, "normal:{mean}:{deviation}"),
            Distribution::Empirical(Quantiles(values)) => write!(f, "measured ({} quantiles)", values.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_distribution() -> impl Strategy<Value = Distribution> {
        prop_oneof![
            (0.0..1e6).prop_map(Distribution::Constant),
            (0.0..1e6).prop_map(Distribution::Exponential),
            (0.0..1e6, 0.0..1e6).prop_map(|(low, more)| Distribution::Uniform(low, low + more)),
            (0.0..1e6, 0.0..1e6).prop_map(|(mean, deviation)| Distribution::Normal(mean, deviation)),
        ]
    }

    proptest! {
        #[test]
        fn text_and_back(distribution in any_distribution()) {
            prop_assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }

        #[test]
        fn quantiles_ascend_and_scale(distribution in any_distribution(), a in 0.001..0.999, b in 0.001..0.999, factor in 0.0..9.0) {
            let (low, high) = (f64::min(a, b), f64::max(a, b));
            prop_assert!(0.0 <= distribution.quantile(low));
            prop_assert!(distribution.quantile(low) <= distribution.quantile(high));
            let (scaled, wanted) = (distribution.scaled(factor).quantile(a), factor * distribution.quantile(a));
            prop_assert!((scaled - wanted).abs() <= 1e-9 * (1.0 + wanted));
        }

        #[test]
        fn the_mean_is_that_of_the_quantiles(distribution in any_distribution()) {
            let steps = 100_000;
            let sum: f64 = (0..steps).map(|n| distribution.quantile((f64::from(n) + 0.5) / f64::from(steps))).sum();
            let (mean, wanted) = (sum / f64::from(steps), distribution.mean());
            prop_assert!((mean - wanted).abs() <= 1e-3 * (1.0 + wanted), "{} {}", mean, wanted);
        }
    }

    #[test]
    fn measured_values_come_back() {
        let table = Quantiles::of(&[30.0, 10.0, 20.0], 100).unwrap();
        let measured = Distribution::Empirical(table);
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|p| measured.quantile(p)), [10.0, 15.0, 20.0, 30.0]);
        assert_eq!(measured.mean(), 20.0);
        assert_eq!(Quantiles::of(&[], 3), Err(DistributionError::Empty));
        assert!(Quantiles::new(vec![2.0, 1.0]).is_err());
        assert!(Quantiles::new(vec![f64::NAN]).is_err());
        assert!(
            "normal:1".parse::<Distribution>().unwrap_err().to_string().contains("`normal:MEAN:DEVIATION`")
        );
    }
}
