//! One law fitted to the data, and how well it says what it has not seen.

use super::hypothesis::Hypothesis;
use crate::interval::{Interval, student};
use crate::linear::Fit;
use crate::points::{Points, Scale};

/// A part of a law that makes less of the value than this at every scale is not seen in the data.
const SEEN: f64 = 0.01;

/// What laws are fitted to.
pub(crate) struct Data<'a> {
    pub points: &'a Points,
    values: Vec<f64>,
    variances: Vec<f64>,
    /// Scatter known from repetitions, as a part of the variances.
    known: f64,
    /// Variance of a mean against its square, typically.
    relative: f64,
}

impl<'a> Data<'a> {
    pub fn new(points: &'a Points) -> Data<'a> {
        let variances = points.variances();
        let count = points.len() as f64;
        let known =
            points.iter().zip(&variances).map(|(point, v)| point.error.powi(2) / v).sum::<f64>() / count;
        let positive = points.iter().zip(&variances).filter(|(point, _)| point.mean > 0.0);
        let mut relative: Vec<f64> = positive.map(|(point, v)| v / point.mean.powi(2)).collect();
        relative.sort_by(f64::total_cmp);
        Data { points, values: points.means(), variances, known, relative: relative[relative.len() / 2] }
    }
}

/// A law with its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub hypothesis: Hypothesis,
    pub fit: Fit,
    /// Symmetric mean absolute percentage error of each point as all others predict it: 0 to 200.
    pub smape: f64,
    /// Variance of a point, as a part of what it was weighted by.
    variance: f64,
    relative: f64,
}

impl Candidate {
    /// Fits the law; `None` if the data cannot tell its coefficients, if one of them is not positive (a part of a cost is no gain; where
    /// it is none, a simpler law says the same), or if one of its parts is nowhere seen.
    pub fn new(hypothesis: &Hypothesis, data: &Data) -> Option<Candidate> {
        let rows: Vec<Vec<f64>> = data.points.iter().map(|point| hypothesis.row(point.scale)).collect();
        let column = |column: usize| rows.iter().map(|row| row[column]).collect();
        let columns: Vec<Vec<f64>> = (0..hypothesis.size()).map(column).collect();
        let fit = Fit::new(&columns, &data.values, &data.variances)?;
        let seen = |column: usize| {
            let part = |row: &Vec<f64>| fit.coefficients[column] * row[column] >= SEEN * fit.value(row);
            fit.coefficients[column] > 0.0 && rows.iter().any(part)
        };
        if fit.freedom < 1.0 || !(0..hypothesis.size()).all(seen) {
            return None;
        }
        let pairs = fit.left_out.iter().zip(&data.values);
        let smape =
            200.0 / data.values.len() as f64 * pairs.map(|(said, is)| relative_gap(*said, *is)).sum::<f64>();
        let variance = (fit.rss / fit.freedom).max(data.known);
        Some(Candidate { hypothesis: hypothesis.clone(), fit, smape, variance, relative: data.relative })
            .filter(|candidate| candidate.smape.is_finite())
    }

    /// Smallest |c|/se of its terms; infinite without any.
    pub fn weakest_term(&self) -> f64 {
        let first = usize::from(self.hypothesis.constant);
        let strength =
            |k: usize| self.fit.coefficients[k] / (self.variance * self.fit.inverse[(k, k)]).sqrt();
        (first..self.hypothesis.size()).map(strength).fold(f64::INFINITY, f64::min)
    }

    /// The law at a scale.
    pub fn value(&self, scale: Scale) -> f64 {
        self.fit.value(&self.hypothesis.row(scale))
    }

    /// Where a mean of as many repetitions would lie in 95 % of cases, were this the law:
    /// y ± t·s·√(v + x(XᵀWX)⁻¹xᵀ), v the variance of such a mean.
    pub fn band(&self, scale: Scale) -> Interval {
        let row = self.hypothesis.row(scale);
        let value = self.fit.value(&row);
        let variance = self.variance * (self.relative * value * value + self.fit.leverage(&row));
        let band = Interval::around(value, student(0.975, self.fit.freedom) * variance.sqrt());
        Interval { low: band.low.max(0.0), ..band }
    }

    /// Each coefficient with its interval, the constant first.
    pub fn coefficients(&self) -> Vec<Interval> {
        let t = student(0.975, self.fit.freedom);
        let error = |k: usize| (self.variance * self.fit.inverse[(k, k)]).sqrt();
        self.fit.coefficients.iter().enumerate().map(|(k, c)| Interval::around(*c, t * error(k))).collect()
    }
}

/// |a − b| / (|a| + |b|); 0 for two zeros.
fn relative_gap(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / (a.abs() + b.abs()) }
}
