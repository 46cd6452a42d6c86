//! Measured costs over scales, with their repetitions: what every law here is fitted to.

use std::fmt;

use crate::error::{Error, Result};

/// Where a cost was measured: a processor count and, where it was varied, a problem size.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Scale {
    /// Processor count, 1 or more.
    pub p: f64,
    /// Problem size in whatever unit the user counts it, 1 or more; 1 where only processors were varied.
    pub n: f64,
}

impl Scale {
    /// `p` processors, one problem.
    pub fn processors(p: f64) -> Scale {
        Scale { p, n: 1.0 }
    }

    fn check(self) -> Result<()> {
        for (name, value) in [("p", self.p), ("N", self.n)] {
            if !(value.is_finite() && value >= 1.0) {
                return Err(Error::Scale { name, value });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.n == 1.0 { write!(f, "p = {}", self.p) } else { write!(f, "N = {}, p = {}", self.n, self.p) }
    }
}

/// The repetitions of one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Where they were measured.
    pub scale: Scale,
    /// Cost in each repetition, in any unit.
    pub values: Vec<f64>,
    /// Variance of a single value that is known beforehand, as from sampling; 0 if none is. The scatter of the
    /// repetitions is never taken to be less.
    pub known_variance: f64,
}

impl Observation {
    /// Repetitions at `p` processors, with nothing known about their scatter.
    pub fn new(p: f64, values: &[f64]) -> Observation {
        Observation { scale: Scale::processors(p), values: values.to_vec(), known_variance: 0.0 }
    }
}

/// One scale's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it was measured.
    pub scale: Scale,
    /// Mean over the repetitions.
    pub mean: f64,
    /// Number of repetitions.
    pub count: usize,
    /// Standard error of the mean; 0 if nothing is known of it.
    pub error: f64,
}

/// Checked observations in order of their scale (by problem size, then by processor count), each scale once.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    points: Vec<Point>,
    freedom: f64,
}

impl Points {
    /// Checks observations and takes their means.
    ///
    /// A few repetitions say little about the scatter at one scale, so the coefficient of variation is pooled:
    /// cv² = Σ (x/mean − 1)² / Σ (m − 1). The error of a mean is √(max(cv²·mean², known variance) / m).
    ///
    /// Values 9 and 11 at 1 processor, 4.5 and 5.5 at 2: cv² = (2·0.01 + 2·0.01) / 2, so ± 1 and ± 0.5 for the means:
    ///
    /// ```
    /// use falloff_models::{Observation, Points};
    /// let points = Points::new(&[Observation::new(2.0, &[4.5, 5.5]), Observation::new(1.0, &[9.0, 11.0])])?;
    /// assert_eq!(points.get(0).mean, 10.0);
    /// assert!((points.get(0).error - 1.0).abs() < 1e-12 && (points.get(1).error - 0.5).abs() < 1e-12);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are no observations, all are zero, a scale is below 1 or given twice or has no repetition, or a value is neither 0 nor
    /// from 1e-100 to 1e100.
    pub fn new(observations: &[Observation]) -> Result<Points> {
        let mut sorted: Vec<&Observation> = observations.iter().collect();
        for observation in &sorted {
            check(observation)?;
        }
        sorted.sort_by(|a, b| a.scale.n.total_cmp(&b.scale.n).then(a.scale.p.total_cmp(&b.scale.p)));
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0].scale == pair[1].scale) {
            return Err(Error::Twice { scale: twice[0].scale.to_string() });
        }
        if sorted.is_empty() {
            return Err(Error::Empty);
        }
        if sorted.iter().all(|o| mean(&o.values) == 0.0) {
            return Err(Error::Zero);
        }
        let (variation, freedom) = pooled_variation(&sorted);
        let points = sorted.iter().map(|observation| {
            let (mean, count) = (mean(&observation.values), observation.values.len());
            let variance = (variation * mean * mean).max(observation.known_variance);
            Point { scale: observation.scale, mean, count, error: (variance / count as f64).sqrt() }
        });
        // A scatter known beforehand needs no repetitions.
        let known = sorted.iter().any(|o| o.known_variance > 0.0);
        let freedom = if freedom == 0.0 && known { f64::INFINITY } else { freedom };
        Ok(Points { points: points.collect(), freedom })
    }

    /// Number of scales.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Never: there is at least one scale.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The point at an index below [`Points::len`].
    pub fn get(&self, index: usize) -> &Point {
        &self.points[index]
    }

    /// All of them, by problem size and processor count.
    pub fn iter(&self) -> std::slice::Iter<'_, Point> {
        self.points.iter()
    }

    /// Degrees of freedom behind the errors of the means: 0 if nothing is known of the scatter.
    pub fn freedom(&self) -> f64 {
        self.freedom
    }

    /// The means.
    pub fn means(&self) -> Vec<f64> {
        self.iter().map(|point| point.mean).collect()
    }

    /// Number of different values of `of` a scale.
    pub(crate) fn distinct(&self, of: impl Fn(Scale) -> f64) -> usize {
        let mut values: Vec<f64> = self.iter().map(|point| of(point.scale)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    }

    /// Largest processor count measured.
    pub fn largest_p(&self) -> f64 {
        self.iter().fold(0.0, |largest, point| point.scale.p.max(largest))
    }

    /// Largest problem size measured.
    pub fn largest_n(&self) -> f64 {
        self.iter().fold(0.0, |largest, point| point.scale.n.max(largest))
    }

    /// The same with all values multiplied by the processor count: work p·T from times T.
    pub fn work(&self) -> Points {
        self.map(|point| point.scale.p)
    }

    /// The same with one more point, which has the scatter that the others have on average.
    pub(crate) fn with(&self, scale: Scale, mean: f64) -> Points {
        let relative = self.iter().map(|point| point.relative_error()).sum::<f64>() / self.len() as f64;
        let count = self.points[self.len() - 1].count;
        let mut points = self.points.clone();
        let at = points.partition_point(|point| (point.scale.n, point.scale.p) < (scale.n, scale.p));
        points.insert(at, Point { scale, mean, count, error: relative * mean });
        Points { points, freedom: self.freedom }
    }

    /// The same with other means at the same scales.
    pub(crate) fn with_means(&self, mut draw: impl FnMut(&Point) -> f64) -> Points {
        let points = self.iter().map(|point| Point { mean: draw(point), ..*point }).collect();
        Points { points, freedom: self.freedom }
    }

    fn map(&self, factor: impl Fn(&Point) -> f64) -> Points {
        let scaled = |point: &Point| {
            let factor = factor(point);
            Point { mean: point.mean * factor, error: point.error * factor, ..*point }
        };
        Points { points: self.iter().map(scaled).collect(), freedom: self.freedom }
    }
}

/// Errors below this part of a mean are not believed: what a model leaves out is rarely smaller.
const ERROR_MIN: f64 = 0.01;
/// And below this part of the largest mean or error, so that nothing weighs infinitely: weights differ by a factor of 10^8 at most,
/// which leaves what the others say of a point to be computed.
const ERROR_MIN_OF_LARGEST: f64 = 1e-4;

impl Points {
    /// Variance of each mean for weighting: its squared error, but at least that of 1 % of the mean.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let largest = self.iter().fold(0.0f64, |largest, point| largest.max(point.mean).max(point.error));
        let least = |point: &Point| (ERROR_MIN * point.mean).max(ERROR_MIN_OF_LARGEST * largest);
        self.iter().map(|point| point.error.max(least(point)).powi(2)).collect()
    }
}

impl Point {
    /// Error against the mean; 0 for a mean of 0.
    pub fn relative_error(&self) -> f64 {
        if self.mean > 0.0 { self.error / self.mean } else { 0.0 }
    }
}

/// Costs whose squares can be computed.
const COSTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

fn check(observation: &Observation) -> Result<()> {
    observation.scale.check()?;
    let scale = || observation.scale.to_string();
    if observation.values.is_empty() {
        return Err(Error::NoValue { scale: scale() });
    }
    let cost = |value: f64| value == 0.0 || COSTS.contains(&value);
    match observation.values.iter().find(|value| !cost(**value)) {
        Some(value) => Err(Error::Value { scale: scale(), value: *value }),
        None if !cost(observation.known_variance.sqrt()) => {
            Err(Error::Value { scale: scale(), value: observation.known_variance })
        }
        None => Ok(()),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Squared coefficient of variation over all repetitions, and its degrees of freedom.
fn pooled_variation(observations: &[&Observation]) -> (f64, f64) {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for observation in observations {
        let mean = mean(&observation.values);
        if mean > 0.0 {
            squares += observation.values.iter().map(|value| (value / mean - 1.0).powi(2)).sum::<f64>();
            freedom += (observation.values.len() - 1) as f64;
        }
    }
    if freedom > 0.0 { (squares / freedom, freedom) } else { (0.0, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        let error = |observations: &[Observation]| Points::new(observations).unwrap_err().to_string();
        let (one, twice) = (Observation::new(4.0, &[1.0]), Observation::new(4.0, &[2.0]));
        assert_eq!(error(&[]), "failed to use the observations: there are none");
        assert_eq!(
            error(&[Observation::new(2.0, &[0.0])]),
            "failed to use the observations: all of them are zero"
        );
        assert_eq!(
            error(&[one, twice]),
            "failed to use the observations: p = 4 is given twice; put its repetitions together"
        );
        assert_eq!(
            error(&[Observation::new(0.5, &[1.0])]),
            "failed to use the observations: p = 0.5 is no number of 1 or more"
        );
        assert_eq!(
            error(&[Observation::new(2.0, &[])]),
            "failed to use the observations at p = 2: there is no repetition"
        );
        let scale = Scale { p: 2.0, n: 64.0 };
        assert_eq!(
            error(&[Observation { scale, values: vec![1.0, -1.0], known_variance: 0.0 }]),
            "failed to use the observations at N = 64, p = 2: -1 is no cost: 0, or from 1e-100 to 1e100"
        );
        assert!(Points::new(&[Observation::new(f64::NAN, &[1.0])]).is_err());
        assert!(Points::new(&[Observation::new(1.0, &[f64::INFINITY])]).is_err());
    }

    #[test]
    fn one_repetition_has_the_known_scatter_only() {
        let known = Observation { known_variance: 0.04, ..Observation::new(1.0, &[5.0]) };
        let points = Points::new(&[known, Observation::new(2.0, &[3.0])]).unwrap();
        assert_eq!((points.get(0).error, points.get(1).error), (0.2, 0.0));
        assert_eq!(points.freedom(), f64::INFINITY);
        assert_eq!(Points::new(&[Observation::new(2.0, &[3.0])]).unwrap().freedom(), 0.0);
    }

    #[test]
    fn work_is_p_times_time() {
        let points = Points::new(&[Observation::new(4.0, &[9.0, 11.0])]).unwrap().work();
        assert_eq!(points.get(0).mean, 40.0);
        assert!((points.get(0).error - 4.0).abs() < 1e-12);
    }
}
