//! A model: the law of a cost, how well it fits, and what it says of other scales.

use std::fmt;

use super::basis::Basis;
use super::candidate::Candidate;
use super::choice::choose;
use super::hypothesis::Hypothesis;
use super::term::Factor;
use crate::error::{Error, Result};
use crate::interval::{Interval, fisher};
use crate::linear::Fit;
use crate::points::{Points, Scale};

/// Different scales below which nothing is modelled.
const SCALES_MIN: usize = 3;
/// Largest score with which a law is one of the data.
const SMAPE_MAX: f64 = 20.0;
/// How far beyond the largest processor count and problem size a model is trusted, unless the caller says otherwise.
pub const EXTRAPOLATION_MAX: f64 = 8.0;
/// Widest band, against the value, that is a prediction.
pub const WIDTH_MAX: f64 = 1.0;

/// The law of a cost over scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    points: Points,
    set: Vec<Candidate>,
}

/// A cost at a scale that was not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Where.
    pub scale: Scale,
    /// The cost, with the band in which a measurement of it should lie in 95 % of cases.
    pub cost: Interval,
}

/// Why a model does not predict.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The scale is too far from what was measured.
    #[error("{factor:.3} times the largest {of} measured; models reach {limit} times")]
    TooFar {
        /// `count` of processors, or `size` of the problem.
        of: &'static str,
        /// It against the largest measured.
        factor: f64,
        /// The limit.
        limit: f64,
    },
    /// No law that is tried follows the data.
    #[error("no law follows the data: left-out points are missed by {smape:.0} %")]
    NoLaw {
        /// Score of the best.
        smape: f64,
    },
    /// The laws that may be it do not agree.
    #[error("the data allow anything from {:.4e} to {:.4e}", band.low, band.high)]
    Unsettled {
        /// What they allow.
        band: Interval,
    },
}

impl Model {
    /// Finds the law of `points` among those of `basis`.
    ///
    /// Every law is fitted by least squares with weights 1/variance and scored by the symmetric mean absolute percentage error of
    /// every scale as all other scales predict it, the constant too. A law with more terms is taken only if its score is at least 30 %
    /// lower and every one of its terms has |c|/se ≥ 4 and makes 1 % of the value somewhere.
    ///
    /// ```
    /// use falloff_models::{Basis, Model, Observation, Points};
    /// let time = |p: f64| 2.0 + 98.0 / p;
    /// let runs: Vec<_> = [1.0, 2.0, 4.0, 8.0, 16.0].map(|p| Observation::new(p, &[time(p)])).into();
    /// let model = Model::new(&Points::new(&runs)?, &Basis::strong())?;
    /// assert_eq!(model.to_string(), "2 + 98·p^-1");
    /// assert!((model.at(64.0).cost.value - 3.53125).abs() < 1e-9);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are fewer than three different processor counts, or problem sizes if the basis has terms of these.
    pub fn new(points: &Points, basis: &Basis) -> Result<Model> {
        let sizes = basis.terms.iter().any(|term| term.n != Factor::ONE);
        let processors = points.distinct(|scale| scale.p);
        let have = if sizes { processors.min(points.distinct(|scale| scale.n)) } else { processors };
        let error = Error::TooFew { action: "find a law", have, need: SCALES_MIN };
        if have < SCALES_MIN {
            return Err(error);
        }
        let set = choose(points, basis).ok_or(error)?;
        Ok(Model { points: points.clone(), set })
    }

    fn best(&self) -> &Candidate {
        &self.set[0]
    }

    /// Whether the law misses the means by more than the scatter of the repetitions explains: an F-test at 1 %.
    fn misses_beyond_chance(&self) -> bool {
        let fit = &self.best().fit;
        fit.rss / fit.freedom > fisher(0.99, fit.freedom, self.points.freedom())
    }

    /// The law.
    pub fn law(&self) -> &Hypothesis {
        &self.best().hypothesis
    }

    /// Its coefficients with their intervals, the constant first.
    pub fn coefficients(&self) -> Vec<Interval> {
        self.best().coefficients()
    }

    /// How far, in percent, the law fitted to all other scales misses a scale on average: 0 to 200.
    pub fn smape(&self) -> f64 {
        self.best().smape
    }

    /// Part of the variance of the means that the law explains, with regard to its number of coefficients; 0 for the constant.
    pub fn adjusted_r2(&self) -> f64 {
        let means = self.points.means();
        let count = means.len() as f64;
        let middle = means.iter().sum::<f64>() / count;
        let total: f64 = means.iter().map(|m| (m - middle).powi(2)).sum();
        let rest: f64 = self.points.iter().map(|p| (p.mean - self.best().value(p.scale)).powi(2)).sum();
        if total == 0.0 || self.law().terms.is_empty() {
            return 0.0;
        }
        1.0 - rest / total * (count - 1.0) / self.best().fit.freedom
    }

    /// Scales minus coefficients.
    pub fn freedom(&self) -> f64 {
        self.best().fit.freedom
    }

    pub(crate) fn fit(&self) -> &Fit {
        &self.best().fit
    }

    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.set
    }

    /// All laws that may be the law, itself the first, as formulas.
    pub fn set(&self) -> Vec<String> {
        self.set.iter().map(|candidate| candidate.hypothesis.write(&candidate.fit.coefficients)).collect()
    }

    /// What it was made of.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// [`Model::predict`] at `p` processors, one problem.
    pub fn at(&self, p: f64) -> Prediction {
        self.predict(Scale::processors(p))
    }

    /// The cost at a scale, however far away: the law's value and the band that holds the bands of all laws that may be it.
    pub fn predict(&self, scale: Scale) -> Prediction {
        let bands = self.set.iter().skip(1).map(|candidate| candidate.band(scale));
        let cost = bands.fold(self.best().band(scale), Interval::hull);
        Prediction { scale, cost }
    }

    /// The prediction if it can be trusted.
    ///
    /// # Errors
    /// The scale is more than `reach` times the largest processor count or problem size measured (see [`EXTRAPOLATION_MAX`]), no law
    /// follows the data, or the band is wider than the value ([`WIDTH_MAX`]).
    pub fn trusted(&self, scale: Scale, reach: f64) -> std::result::Result<Prediction, Refusal> {
        let prediction = self.predict(scale);
        within_reach(&self.points, scale, reach)?;
        if self.smape() > SMAPE_MAX || self.misses_beyond_chance() {
            return Err(Refusal::NoLaw { smape: self.smape() });
        }
        if prediction.cost.relative_width() <= WIDTH_MAX {
            return Ok(prediction);
        }
        Err(Refusal::Unsettled { band: prediction.cost })
    }
}

/// Whether a scale is no more than `reach` times the largest processor count and problem size measured.
///
/// # Errors
/// [`Refusal::TooFar`].
pub fn within_reach(points: &Points, scale: Scale, reach: f64) -> std::result::Result<(), Refusal> {
    let factors = [("count", scale.p / points.largest_p()), ("size", scale.n / points.largest_n())];
    match factors.into_iter().find(|(_, factor)| *factor > reach) {
        Some((of, factor)) => Err(Refusal::TooFar { of, factor, limit: reach }),
        None => Ok(()),
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.best().hypothesis.write(&self.best().fit.coefficients))
    }
}
