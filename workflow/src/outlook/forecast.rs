//! The law of a time and what it predicts.

use falloff_models::{Basis, EXTRAPOLATION_MAX, Error, Interval, Model, Scale};

use crate::bounds::Series;
use crate::scoring::Scaling;

/// The law of a series of times, with what it says of other counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The law of the seconds a processor, or why there is none.
    pub model: Result<Model, String>,
    /// What it says, one for each target, in their order.
    pub predictions: Vec<Prediction>,
}

/// A time at a count that is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Processor count.
    pub processors: u32,
    /// Seconds a processor with the 95 % band of a measurement there, or why nothing can be said.
    pub seconds: Result<Interval, String>,
}

impl Forecast {
    /// Finds the law among c₀ + c₁/p + c₂·g(p) under strong scaling, among growing ones under weak scaling.
    pub fn new(series: &Series, scaling: Scaling, targets: &[u32]) -> Forecast {
        let basis = match scaling {
            Scaling::Strong => Basis::strong(),
            Scaling::Weak => Basis::weak(),
        };
        let model = Model::new(&series.times, &basis).map_err(|error| match error {
            Error::TooFew { have, need, .. } => format!("{need} counts are needed, there are {have}"),
            other => other.to_string(),
        });
        let predict = |target: &u32| Prediction {
            processors: *target,
            seconds: predicted(&model, Scale::processors(f64::from(*target))),
        };
        let predictions = targets.iter().map(predict).collect();
        Forecast { model, predictions }
    }

    /// The prediction at a count, if it was asked for and can be trusted; seconds a processor.
    pub fn at(&self, processors: u32) -> Option<f64> {
        let of_count = |prediction: &&Prediction| prediction.processors == processors;
        let found = self.predictions.iter().find(of_count)?;
        found.seconds.as_ref().ok().map(|seconds| seconds.value)
    }
}

/// What a law says of a scale if it can be trusted there, or why it says nothing.
pub(super) fn predicted(model: &Result<Model, String>, scale: Scale) -> Result<Interval, String> {
    let model = model.as_ref().map_err(String::clone)?;
    match model.trusted(scale, EXTRAPOLATION_MAX) {
        Ok(prediction) => Ok(prediction.cost),
        Err(refusal) => Err(refusal.to_string()),
    }
}
